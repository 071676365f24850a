//! Tables read row by row in the order of their keys, counted and digested on the way.

use std::mem;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::form::append_row;
use super::{Error, go_on};
use crate::database::{CommandTransaction, SqlDialect};
use crate::rollup::CommandWork;
use crate::schema::{ColumnType, TableDefinition, column_names};

/// Bytes of rows that are handed on together.
const BATCH: usize = 256 << 10;

/// A table as one side holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableContent {
    pub table: &'static str,
    pub rows: u64,
    /// SHA-256 of all rows in the order of the primary key; equal digests mean equal rows.
    pub digest: String,
}

/// Hands the rows of a table to `each`, many at a time.
pub(super) fn read_table(
    transaction: &CommandTransaction<'_>,
    table: &TableDefinition,
    work: CommandWork<'_>,
    mut each: impl FnMut(Vec<u8>) -> Result<(), Error>,
) -> Result<TableContent, Error> {
    let (mut digest, mut batch, mut batched, mut rows) = (Sha256::new(), Vec::new(), 0, 0);
    let mut hand_on = |batch: Vec<u8>, rows: u64| {
        go_on(work)?;
        digest.update(&batch);
        work.progress.inc(rows);
        each(batch)
    };
    transaction.rows(&select(transaction.dialect(), table), &[], |row| {
        append_row(table, row, &mut batch)?;
        batched += 1;
        if batch.len() >= BATCH {
            rows += batched;
            hand_on(mem::take(&mut batch), mem::take(&mut batched))?;
        }
        Ok::<_, Error>(())
    })?;
    rows += batched;
    hand_on(batch, batched)?;
    let digest = hex::encode(digest.finalize());
    Ok(TableContent { table: table.name.name(), rows, digest })
}

/// Both engines give the rows in the same order: SQLite compares texts by their bytes, PostgreSQL
/// with the collation C.
fn select(dialect: SqlDialect, table: &TableDefinition) -> String {
    let columns = column_names(table.name).join(", ");
    let is_text = |key| {
        let mut columns = table.columns.iter();
        columns.any(|it| it.name == key && matches!(it.column_type, ColumnType::Varchar(_)))
    };
    let order = table.primary_key.iter().map(|&key| match dialect {
        SqlDialect::Postgres if is_text(key) => format!("{} COLLATE \"C\"", key.name()),
        _ => key.name().to_owned(),
    });
    let order = order.collect::<Vec<_>>().join(", ");
    format!("SELECT {columns} FROM {} ORDER BY {order}", table.name.name())
}
