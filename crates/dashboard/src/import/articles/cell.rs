//! Cells of an article: required texts that fit their columns, days, UUIDs.

use sha2::{Digest as _, Sha256};

use super::read::ArticleRow;
use crate::import::Error;
use crate::query::{Day, quoted};

/// Makes an error of a column's place and the problem there.
pub(super) type MakeFault<'f> = &'f dyn Fn(usize, String) -> Error;

/// A cell of a column that the file has.
pub(super) fn given(row: &ArticleRow, column: usize) -> Option<&str> {
    row.cells.get(column).and_then(Option::as_deref).map(str::trim)
}

pub(super) fn required<'r>(
    row: &'r ArticleRow,
    column: usize,
    length: usize,
    fault: MakeFault<'_>,
) -> Result<&'r str, Error> {
    match given(row, column) {
        None | Some("") => Err(fault(column, "it is empty".to_owned())),
        Some(text) => fitting(text, length).map_err(|problem| fault(column, problem)),
    }
}

pub(super) fn fitting(text: &str, length: usize) -> Result<&str, String> {
    let characters = text.chars().count();
    if characters > length {
        return Err(format!("it has {characters} characters, {length} fit"));
    }
    if text.contains('\0') {
        return Err("it holds a null character".to_owned());
    }
    Ok(text)
}

/// A day, or the day of a moment such as `2021-01-31T10:00:00Z`.
pub(super) fn published(text: &str) -> Result<i32, String> {
    let (date, rest) = text.split_at_checked(10).unwrap_or((text, ""));
    let problem = || format!("{} is not a day; write it as 2021-01-31", quoted(text));
    if !(rest.is_empty() || rest.starts_with(['T', ' '])) {
        return Err(problem());
    }
    let day: Day = date.parse().map_err(|()| problem())?;
    if !(1970..=2100).contains(&day.year()) {
        return Err(format!("{} is not between 1970 and 2100", quoted(text)));
    }
    Ok(day.number())
}

/// A UUID in lower case.
pub(super) fn checked_uuid(text: &str) -> Option<String> {
    let fits = text.len() == 36
        && text.bytes().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    fits.then(|| text.to_lowercase())
}

/// The UUID of an article that has none: made of its URL, so that importing the file again finds
/// it (RFC 9562, version 8).
pub(super) fn uuid_of(form: &str) -> String {
    let digest = Sha256::digest(form.as_bytes());
    let mut bits = digest.iter().take(16).fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    bits = bits & !(0xf << 76 | 0x3 << 62) | 0x8 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
