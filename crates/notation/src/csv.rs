//! Tables as CSV, for spreadsheets: no cell of it is ever run as a formula.

use std::borrow::Cow;

/// A header and its rows, each line ending with a newline.
pub fn csv_table<Row>(header: &[&str], rows: impl IntoIterator<Item = Row>) -> String
where
    Row: IntoIterator<Item: AsRef<str>>,
{
    // Writing rows of any length to memory cannot fail.
    let mut writer = ::csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    let _ = writer.write_record(header.iter().map(|name| harmless(name).into_owned()));
    for row in rows {
        let _ = writer.write_record(row.into_iter().map(|it| harmless(it.as_ref()).into_owned()));
    }
    String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
}

/// A text for a cell: one that a spreadsheet would run as a formula gets an apostrophe, a number stays.
/// Names in a user's database come from documents of any author.
pub fn harmless(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::csv_table;

    #[test]
    fn cells_break_no_line_and_run_in_no_spreadsheet() {
        let rows = [["=1+1", "a|b, \"c\""], ["-0.5", "<b>"], ["@x", "line\nbreak"]];
        let expected = "one,'=2\n'=1+1,\"a|b, \"\"c\"\"\"\n-0.5,<b>\n'@x,\"line\nbreak\"\n";
        assert_eq!(csv_table(&["one", "=2"], rows), expected);
    }

    #[test]
    fn a_table_without_rows_has_its_header() {
        assert_eq!(csv_table(&["one", "other"], [[""; 2]; 0]), "one,other\n");
    }
}
