//! Files that are neither text nor unpacked by the import, which are named instead of being read.

use std::path::Path;

use super::Error;

/// The first bytes of a packed file, its name, and the way to the text in it.
const PACKED: [(&[u8], &str, &str); 4] = [
    (b"PK\x03\x04", "a ZIP archive (.zip)", "unpack it with `unzip` and import the file in it"),
    (b"PK\x05\x06", "an empty ZIP archive (.zip)", "export it again"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd (.zst)", "unpack it with `unzstd` first"),
    (b"%PDF-", "a PDF document", "export it as CSV"),
];

/// Files that spreadsheets put first into their archives.
const IN_WORKBOOKS: [&[u8]; 4] = [b"[Content_Types].xml", b"_rels/", b"xl/", b"mimetype"];

/// The place of the first file's name in a ZIP archive.
const ZIP_NAME_AT: usize = 30;

/// `true` for a ZIP archive of a spreadsheet.
pub(super) fn is_workbook(start: &[u8]) -> bool {
    let first = start.get(ZIP_NAME_AT..).unwrap_or_default();
    IN_WORKBOOKS.iter().any(|it| first.starts_with(it))
}

/// Refuses a packed file, which begins with these bytes.
pub(super) fn refuse(path: &Path, start: &[u8]) -> Result<(), Error> {
    let Some((sign, what, remedy)) = PACKED.iter().find(|packed| start.starts_with(packed.0))
    else {
        return Ok(());
    };
    let problem = match sign.starts_with(b"PK") && is_workbook(start) {
        true => "it is a spreadsheet's workbook (.xlsx, .ods); save it as CSV (UTF-8)".to_owned(),
        false => format!("it is {what}; {remedy}"),
    };
    Err(Error::file(path, problem))
}
