//! Rows of both sides in one form: SQLite's encoded as they would be copied, PostgreSQL's by binary
//! COPY out. Both are passed on tuple by tuple, without the leading field count.

use futures_util::TryStreamExt as _;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use tokio_postgres::Client;

use super::part::OfSource;
use super::pieces::{LARGE_ROW_BYTES, RowPieces};
use crate::display::{ShownValue, list};
use crate::error::BadRow;
use crate::finding::Example;
use crate::source::{SourceFile, SourceTable, quoted};
use crate::target::{MatchedColumn, MatchedTable};
use crate::value::{
    ColumnConversion, ConversionTally, Conversions, PostgresType, TargetField, Unfit, encode,
};
use crate::{Error, Task};

/// The head of a binary COPY: signature, flags, length of the extension.
const HEAD_BYTES: usize = 19;
/// Rows between two checks of progress and interruption.
const ROWS_BETWEEN_LOOKS: u64 = 4096;
/// Unfit rows of the source that are named.
pub const UNFIT_SHOWN: usize = 20;

/// Receiver of the rows of a table.
pub trait RowSink {
    /// Takes a row in binary COPY form.
    fn tuple(&mut self, tuple: &[u8]) -> Result<(), Error>;

    /// Hash state for a large row; `None` if rows are taken whole.
    fn pieces(&self) -> Option<RowPieces> {
        None
    }

    fn take_pieces(&mut self, _: RowPieces) {}
}

/// A receiver of whole rows.
impl<F: FnMut(&[u8]) -> Result<(), Error>> RowSink for F {
    fn tuple(&mut self, tuple: &[u8]) -> Result<(), Error> {
        self(tuple)
    }
}

/// Rows of the source that were read.
#[derive(Default)]
pub struct SourceRows {
    pub rows: u64,
    /// The first rows that do not fit the target's types.
    pub unfit: Vec<BadRow>,
    pub conversions: Vec<ColumnConversion>,
}

/// Reads the source's table or a part of it. Rows that do not fit the target's types are not passed on,
/// so that they count as different. Rejected rows do not take part.
pub fn of_source(
    source: &SourceFile,
    table: &SourceTable,
    matched: &MatchedTable,
    part: OfSource,
    task: Task<'_>,
    taker: &mut impl RowSink,
) -> Result<SourceRows, Error> {
    let rowids = match part {
        OfSource::All => None,
        OfSource::Between(first, last) => Some((first, last)),
        OfSource::None => return Ok(SourceRows::default()),
    };
    let columns: Vec<usize> = matched.columns.iter().map(|column| column.source).collect();
    let mut tuple = Vec::new();
    let (mut unfit, mut tally) = (Vec::new(), ConversionTally::default());
    let rows = matched.each_row(source, table, &columns, rowids, task, |row, _| {
        let large = bytes_of(row, &matched.columns) >= LARGE_ROW_BYTES;
        let mut pieces = large.then(|| taker.pieces()).flatten();
        tuple.clear();
        let write = |field: &TargetField, value: ValueRef<'_>| match &mut pieces {
            Some(pieces) => pieces.add_stored(field, value),
            None => encode(field, value, &mut tuple),
        };
        let bad = encode_row(source, table, matched, row, &columns, &mut tally, write)?;
        match (bad, pieces) {
            (None, None) => taker.tuple(&tuple)?,
            (None, Some(pieces)) => taker.take_pieces(pieces),
            (Some(bad), _) if unfit.len() < UNFIT_SHOWN => unfit.push(bad),
            (Some(_), _) => {}
        }
        Ok(())
    })?;
    let conversions = tally.columns(|place| matched.columns[place].name_and_type());
    Ok(SourceRows { rows, unfit, conversions })
}

/// The bytes of a row's texts and blobs.
#[inline]
fn bytes_of(row: &Row<'_>, columns: &[MatchedColumn]) -> usize {
    let may_be_large = |field: &TargetField| {
        field.postgres_type.takes_texts() || field.postgres_type == PostgresType::Bytea
    };
    let places = columns.iter().enumerate().filter(|(_, column)| may_be_large(&column.field));
    let bytes = places.map(|(place, _)| match row.get_ref(place + 1) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len(),
        _ => 0,
    });
    bytes.sum()
}

#[inline]
fn encode_row(
    source: &SourceFile,
    table: &SourceTable,
    matched: &MatchedTable,
    row: &Row<'_>,
    columns: &[usize],
    tally: &mut ConversionTally,
    mut write: impl FnMut(&TargetField, ValueRef<'_>) -> Result<Conversions, Unfit>,
) -> Result<Option<BadRow>, Error> {
    for (position, column) in matched.columns.iter().enumerate() {
        let value = row.get_ref(position + 1).map_err(|error| source.explain(error))?;
        match write(&column.field, value) {
            Ok(conversions) if conversions.is_none() => {}
            Ok(conversions) => tally.add(position, conversions, || Example {
                row: table.row_name(row, columns),
                value: ShownValue(value).to_string(),
            }),
            Err(unfit) => {
                return Ok(Some(BadRow {
                    table: table.name.clone(),
                    row: table.row_name(row, columns),
                    column: table.columns[column.source].name.clone(),
                    value: ShownValue(value).to_string(),
                    reason: unfit.explain(&column.field.postgres_type.to_string()),
                    fix: "the target cannot hold this row".to_owned(),
                }));
            }
        }
    }
    Ok(None)
}

/// Reads the target's table, or the rows that meet a condition. Large rows are read one by one,
/// since the connection would buffer several in sequence.
pub async fn of_target(
    client: &Client,
    matched: &MatchedTable,
    condition: Option<&str>,
    is_large: bool,
    task: Task<'_>,
    mut each: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<u64, Error> {
    if !is_large {
        return copy_out(client, matched, condition, task, &mut each).await;
    }
    let (relation, bytes) = (&matched.relation, bytes_in_target(&matched.columns));
    let within = condition.unwrap_or("true");
    let sql = format!(
        "SELECT format('tableoid = %s::oid AND ctid = %L::tid', tableoid::oid, ctid) \
         FROM {relation} WHERE ({within}) AND {bytes} >= {LARGE_ROW_BYTES}"
    );
    let failed = Error::postgres(format!("cannot look for large rows of {relation}"));
    // Copied, since a kept row would keep the connection's large buffer.
    let large = client.query(&sql, &[]).await.map_err(failed)?;
    let large: Vec<String> = large.into_iter().map(|row| row.get(0)).collect();
    let others = format!("({within}) AND {bytes} < {LARGE_ROW_BYTES}");
    let mut rows = copy_out(client, matched, Some(&others), task, &mut each).await?;
    for row in &large {
        rows += copy_out(client, matched, Some(row), task, &mut each).await?;
    }
    Ok(rows)
}

/// Expression for the bytes of a row's texts and blobs, most of them not read.
fn bytes_in_target(columns: &[MatchedColumn]) -> String {
    let bytes = columns.iter().filter_map(|column| {
        let name = quoted(&column.name);
        let bytes = match &column.field.postgres_type {
            PostgresType::Bytea => format!("octet_length({name})"),
            PostgresType::Jsonb => format!("pg_column_size({name})"),
            texts if texts.takes_texts() => format!("octet_length({name}::text)"),
            _ => return None,
        };
        Some(format!("coalesce({bytes}, 0)::bigint"))
    });
    let bytes: Vec<String> = bytes.collect();
    if bytes.is_empty() { "0".to_owned() } else { format!("({})", bytes.join(" + ")) }
}

async fn copy_out(
    client: &Client,
    matched: &MatchedTable,
    condition: Option<&str>,
    task: Task<'_>,
    each: &mut impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<u64, Error> {
    let names = list(matched.columns.iter().map(|column| quoted(&column.name)));
    let relation = &matched.relation;
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
            task.advance(ROWS_BETWEEN_LOOKS)?;
        }
    }
    // The end of the stream carries the server's result.
    while stream.try_next().await.map_err(failed())?.is_some() {}
    task.advance(rows % ROWS_BETWEEN_LOOKS)?;
    Ok(rows)
}
