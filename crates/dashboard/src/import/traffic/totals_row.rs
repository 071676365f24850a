//! A file's own totals, which prove its rows, refuse them, or show that some are missing.

use std::path::Path;

use super::COLUMNS;
use super::gather::Gather;
use crate::import::Error;
use crate::import::table::CsvTable;

/// The first cell of a totals row.
const TOTALS: [&str; 3] = ["grand total", "total", "totals"];

/// Compares a file's own total of page views with the sum of its rows. Less is what exports do that
/// leave rows out.
///
/// # Errors
/// More: rows repeat page views, whatever they differ in.
pub(super) fn compare_total(
    path: &Path,
    total: Option<u64>,
    found: u64,
    gather: &mut Gather<'_>,
) -> Result<(), Error> {
    match total {
        Some(total) if found > total => Err(Error::file(
            path,
            format!(
                "its rows add up to {found} page views, its own total says {total}: rows repeat \
                 page views; export it again without what repeats them, or remove the total if it \
                 is wrong"
            ),
        )),
        Some(total) if found < total => {
            gather.note_short_file(&format!(
                "its totals row says {total} page views, its rows have {found}: the export left \
                 rows out"
            ));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The sum over a file as the file itself has it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TotalsRow {
    /// Page views of all rows.
    Total(u64),
    /// The cell of page views, which no number was found in.
    Unreadable(String),
}

/// The row, if it is one of totals: day, URL and country are empty, or a cell says so.
pub(super) fn totals_row(
    table: &CsvTable,
    columns: &[Option<usize>; COLUMNS.len()],
) -> Result<Option<TotalsRow>, Error> {
    let [date, url, host, country, pageviews, ..] = columns;
    let says_so = (table.header.len().saturating_sub(1)..table.cells())
        .chain([date, url, country].into_iter().filter_map(|column| *column))
        .any(|place| {
            let cell = table.bytes(place).trim_ascii();
            TOTALS.iter().any(|total| cell.eq_ignore_ascii_case(total.as_bytes()))
        });
    let is_empty = |column: &Option<usize>| {
        column.is_none_or(|column| table.bytes(column).trim_ascii().is_empty())
    };
    if !says_so && ![date, url, host, country].into_iter().all(is_empty) {
        return Ok(None);
    }
    let shown = pageviews.map(|column| table.text(column)).transpose()?;
    let shown = shown.unwrap_or_default();
    match whole_number(shown) {
        Some(total) => Ok(Some(TotalsRow::Total(total))),
        None if says_so => Ok(Some(TotalsRow::Unreadable(shown.to_owned()))),
        // Neither a total nor a row: let it be named.
        None => Ok(None),
    }
}

/// A count as exports and spreadsheets write it: `3730`, `3,730`, `3.730`, `3730.0`.
fn whole_number(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_suffix(".0").or_else(|| text.strip_suffix(".00")).unwrap_or(text);
    let separator = text.chars().find(|c| !c.is_ascii_digit());
    let Some(separator) = separator.filter(|c| ",.' \u{a0}\u{202f}".contains(*c)) else {
        return text.parse().ok();
    };
    let mut groups = text.split(separator);
    let first = groups.next().filter(|first| (1..=3).contains(&first.len()))?;
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        digits.push_str(group);
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_with_separators_of_thousands() {
        for text in ["3730", " 3,730 ", "3.730", "3'730", "3 730", "3\u{202f}730", "3730.0"] {
            assert_eq!(whole_number(text), Some(3_730), "{text}");
        }
        assert_eq!(whole_number("1,234,567"), Some(1_234_567));
        for text in ["", "many", "3,73", "3,730.5", "3,73,000", ",730", "-5", "1,234.567"] {
            assert_eq!(whole_number(text), None, "{text}");
        }
    }
}
