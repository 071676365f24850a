//! Parts of a table: ranges of rowids that are read separately.

use rusqlite::Connection;

use super::quoted;
use super::schema::SourceTable;

/// Large enough that a part's own transaction costs nothing against its rows.
pub const PART_BYTES: u64 = 64 << 20;

/// However large a table is, its parts stay a list that is read at once.
pub const MOST_PARTS: u64 = 4096;

/// Equal ranges that together hold every possible rowid: no row lies between two parts.
pub fn ranges((least, most): (i64, i64), count: u64) -> Vec<(i64, i64)> {
    let width = (i128::from(most) - i128::from(least) + 1) / i128::from(count);
    let start = |place: u64| (i128::from(least) + width * i128::from(place)) as i64;
    (0..count)
        .map(|place| {
            let first = if place == 0 { i64::MIN } else { start(place) };
            let last = if place + 1 == count { i64::MAX } else { start(place + 1) - 1 };
            (first, last)
        })
        .collect()
}

/// The first and the last rowid; `None` without rows or rowids.
pub fn rowid_span(
    connection: &Connection,
    table: &SourceTable,
) -> rusqlite::Result<Option<(i64, i64)>> {
    let Some(rowid) = table.rowid_expression() else { return Ok(None) };
    let name = quoted(&table.name);
    let sql = format!(
        "SELECT (SELECT min({rowid}) FROM main.{name}), (SELECT max({rowid}) FROM main.{name})"
    );
    let span: (Option<i64>, Option<i64>) =
        connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(span.0.zip(span.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_touch_each_other_and_hold_every_rowid() {
        for (span, count) in
            [((1, 6_500_000), 13), ((i64::MIN, i64::MAX), 4096), ((5, 6), 2), ((1, 2), 5)]
        {
            let ranges = ranges(span, count);
            assert_eq!(ranges.len() as u64, count);
            assert_eq!((ranges[0].0, ranges[ranges.len() - 1].1), (i64::MIN, i64::MAX));
            for pair in ranges.windows(2) {
                assert_eq!(pair[0].1.checked_add(1), Some(pair[1].0), "{span:?}");
            }
        }
    }
}
