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

/// Whether the row is one of totals, and its page views: day, URL and country are empty, or a cell
/// says so.
pub(super) fn totals_row(
    table: &CsvTable,
    columns: &[Option<usize>; COLUMNS.len()],
) -> Result<Option<Option<u64>>, Error> {
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
    match shown.and_then(|text| text.trim().parse().ok()) {
        Some(total) => Ok(Some(Some(total))),
        None if says_so => Ok(Some(None)),
        // Neither a total nor a row: let it be named.
        None => Ok(None),
    }
}
