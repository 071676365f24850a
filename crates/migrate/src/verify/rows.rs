//! The rows of both sides in one form: SQLite's encoded as they would be copied, PostgreSQL's by
//! binary COPY out. Both are handed over tuple by tuple, without the leading field count.

use futures_util::TryStreamExt as _;
use rusqlite::Row;
use tokio_postgres::Client;

use super::part::OfSource;
use crate::copy::{BadRow, Matched, encode};
use crate::inspect::{Shown, Source, Table, quoted};
use crate::{Error, Watch};

/// The head of a binary COPY: signature, flags, length of the extension.
const HEAD_BYTES: usize = 19;
/// Rows between two looks at progress and interruption.
const ROWS_BETWEEN_LOOKS: u64 = 4096;
/// Rows of the source that cannot be encoded are named, but not all of them.
pub const UNFIT_SHOWN: usize = 20;

/// Reads the source's table or a part of it; rows that do not fit the target's types are returned (the first few)
/// and handed over as nothing, so that they count as different. Rejected rows do not take part.
pub fn of_source(
    source: &Source,
    table: &Table,
    matched: &Matched,
    part: OfSource,
    watch: Watch<'_>,
    mut each: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(u64, Vec<BadRow>), Error> {
    let rowids = match part {
        OfSource::All => None,
        OfSource::Between(first, last) => Some((first, last)),
        OfSource::None => return Ok((0, Vec::new())),
    };
    let columns: Vec<usize> = matched.columns.iter().map(|column| column.source).collect();
    let mut tuple = Vec::new();
    let mut unfit = Vec::new();
    let rejected = &matched.rejected;
    let (mut place, mut passed_over) = (0, 0);
    let rows = source.with(|connection| {
        source.each_row(connection, table, &columns, rowids, watch, |row| {
            place += 1;
            if !rejected.is_empty() && rejected.contains(&table.address(row, place)) {
                passed_over += 1;
                return Ok(());
            }
            tuple.clear();
            match encode_row(source, table, matched, row, &columns, &mut tuple)? {
                None => each(&tuple),
                Some(bad) => {
                    if unfit.len() < UNFIT_SHOWN {
                        unfit.push(bad);
                    }
                    Ok(())
                }
            }
        })
    })?;
    Ok((rows - passed_over, unfit))
}

#[inline]
fn encode_row(
    source: &Source,
    table: &Table,
    matched: &Matched,
    row: &Row<'_>,
    columns: &[usize],
    tuple: &mut Vec<u8>,
) -> Result<Option<BadRow>, Error> {
    for (position, column) in matched.columns.iter().enumerate() {
        let value = row.get_ref(position + 1).map_err(|error| source.explain(error))?;
        if let Err(misfit) = encode(&column.field, value, tuple) {
            return Ok(Some(BadRow {
                table: table.name.clone(),
                row: table.row_name(row, columns),
                column: table.columns[column.source].name.clone(),
                value: Shown(value).to_string(),
                reason: misfit.explain(&column.field.postgres_type.to_string()),
                fix: "the target cannot hold this row".to_owned(),
            }));
        }
    }
    Ok(None)
}

/// Reads the target's table, or the rows for which a condition holds.
pub async fn of_target(
    client: &Client,
    matched: &Matched,
    condition: Option<&str>,
    watch: Watch<'_>,
    mut each: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<u64, Error> {
    let names: Vec<String> = matched.columns.iter().map(|column| quoted(&column.name)).collect();
    let (names, relation) = (names.join(", "), &matched.relation);
    // A query, not a table: it also reads partitions and computed columns.
    let condition = condition.map_or_else(String::new, |condition| format!(" WHERE {condition}"));
    let sql = format!("COPY (SELECT {names} FROM {relation}{condition}) TO STDOUT (FORMAT binary)");
    let failed = || Error::postgres(format!("cannot read {relation}"));
    let stream = client.copy_out(&sql).await.map_err(failed())?;
    let mut stream = std::pin::pin!(stream);
    let mut rows = 0_u64;
    let mut head = true;
    while let Some(chunk) = stream.try_next().await.map_err(failed())? {
        // PostgreSQL sends each tuple in a message of its own, the first with the head.
        let mut message = &chunk[..];
        if head {
            message = message.get(HEAD_BYTES..).unwrap_or_default();
            head = false;
        }
        let Some((count, tuple)) = message.split_first_chunk::<2>() else { continue };
        if i16::from_be_bytes(*count) < 0 {
            break;
        }
        each(tuple)?;
        rows += 1;
        if rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
            watch.advance(ROWS_BETWEEN_LOOKS)?;
        }
    }
    // The end of the stream carries the server's verdict.
    while stream.try_next().await.map_err(failed())?.is_some() {}
    watch.advance(rows % ROWS_BETWEEN_LOOKS)?;
    Ok(rows)
}
