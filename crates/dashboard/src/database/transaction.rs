//! Transactions of commands, on either engine: the same SQL text for both, with bound values. Not
//! for asynchronous code: they block.

use std::pin::pin;

use futures_util::TryStreamExt as _;
use rusqlite::params_from_iter;
use tokio::runtime::Handle;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::{Error, Snapshot as _, SqlDialect, SqlRow, SqlValue, SqliteSnapshot, ready};

/// A transaction under way, ended by its owner. It blocks, so it is not for asynchronous code.
pub(crate) enum CommandTransaction<'a> {
    Sqlite(&'a rusqlite::Connection),
    Postgres(&'a tokio_postgres::Transaction<'a>, &'a Handle),
}

impl CommandTransaction<'_> {
    pub fn dialect(&self) -> SqlDialect {
        match self {
            Self::Sqlite(_) => SqlDialect::Sqlite,
            Self::Postgres(..) => SqlDialect::Postgres,
        }
    }

    /// Runs statements without values and rows.
    pub fn batch(&self, sql: &str) -> Result<(), Error> {
        match self {
            Self::Sqlite(connection) => connection.execute_batch(sql)?,
            Self::Postgres(transaction, runtime) => {
                runtime.block_on(transaction.batch_execute(sql))?;
            }
        }
        Ok(())
    }

    /// Runs a statement without rows; how many it changed.
    pub fn execute(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<u64, Error> {
        match self {
            Self::Sqlite(connection) => {
                let changed = connection.prepare_cached(sql)?.execute(params_from_iter(values))?;
                Ok(changed as u64)
            }
            Self::Postgres(transaction, runtime) => runtime.block_on(async {
                let values: Vec<&(dyn ToSql + Sync)> =
                    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
                Ok(transaction.execute(sql, &values).await?)
            }),
        }
    }

    /// Hands each row to `each`, until it fails.
    pub fn rows<E: From<Error>>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut each: impl FnMut(SqlRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Sqlite(connection) => {
                ready(SqliteSnapshot::new(connection).rows(sql, values, each))
            }
            Self::Postgres(transaction, runtime) => runtime.block_on(async {
                let rows = transaction.query_raw(sql, values).await.map_err(Error::from)?;
                let mut rows = pin!(rows);
                while let Some(row) = rows.try_next().await.map_err(Error::from)? {
                    each(SqlRow::Postgres(&row))?;
                }
                Ok(())
            }),
        }
    }

    /// The first column of the first row, an integer; none where there is no row, or NULL.
    pub fn integer(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<Option<i64>, Error> {
        let mut found = None;
        self.rows(sql, values, |row| {
            found = found.or(row.optional_integer(0)?);
            Ok::<_, Error>(())
        })?;
        Ok(found)
    }

    /// Inserts rows, each with a value for each column, as quickly as the engine can.
    pub fn insert<'v, const N: usize>(
        &self,
        table: &str,
        columns: [(&str, Type); N],
        rows: impl Iterator<Item = [SqlValue<'v>; N]>,
    ) -> Result<(), Error> {
        let names = columns.each_ref().map(|(name, _)| *name).join(", ");
        match self {
            Self::Sqlite(connection) => {
                let marks = vec!["?"; N].join(", ");
                let sql = format!("INSERT INTO {table} ({names}) VALUES ({marks})");
                let mut insert = connection.prepare_cached(&sql)?;
                for row in rows {
                    insert.execute(params_from_iter(row))?;
                }
                Ok(())
            }
            Self::Postgres(transaction, runtime) => runtime.block_on(async {
                let copy = format!("COPY {table} ({names}) FROM STDIN (FORMAT binary)");
                let types = columns.map(|(_, column_type)| column_type);
                let sink = transaction.copy_in(&copy).await?;
                let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
                for row in rows {
                    writer.as_mut().write_raw(row).await?;
                }
                writer.finish().await?;
                Ok(())
            }),
        }
    }
}
