//! One transaction on either engine, with the few calls that making and proving totals needs.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::BytesMut;
use futures_util::TryStreamExt as _;
use rusqlite::params_from_iter;
use tokio::runtime::Handle;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::Error;
use super::definition::METRICS;
use super::fold::{Key, key_length};
use super::statements;
use crate::schema::{self, Dialect, Table};

/// SQLite looks so often, counted in its own instructions, whether the user wants to stop.
const INSTRUCTIONS_BETWEEN_LOOKS: i32 = 100_000;

/// A transaction. Dropped, it is rolled back.
pub(super) enum Connection<'a> {
    Sqlite(rusqlite::Transaction<'a>),
    Postgres(tokio_postgres::Transaction<'a>, &'a Handle),
}

impl Connection<'_> {
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(..) => Dialect::Postgres,
        }
    }

    /// Whether the tables of totals are there.
    pub fn has_totals(&self) -> Result<bool, Error> {
        Ok(match self {
            Self::Sqlite(transaction) => schema::has_totals_sqlite(transaction)?,
            Self::Postgres(transaction, runtime) => {
                runtime.block_on(schema::has_totals_postgres(transaction))?
            }
        })
    }

    /// Runs a statement without rows.
    pub fn execute(&self, sql: &str) -> Result<(), Error> {
        match self {
            Self::Sqlite(transaction) => transaction.execute_batch(sql)?,
            Self::Postgres(transaction, runtime) => {
                runtime.block_on(transaction.batch_execute(sql))?;
            }
        }
        Ok(())
    }

    /// Hands each row to `each`, its columns as integers; NULL is left out of them.
    pub fn rows(
        &self,
        sql: &str,
        parameters: &[i32],
        mut each: impl FnMut(&[i64]),
    ) -> Result<(), Error> {
        let mut values = Vec::new();
        match self {
            Self::Sqlite(transaction) => {
                let mut prepared = transaction.prepare_cached(sql)?;
                let columns = prepared.column_count();
                let mut rows = prepared.query(params_from_iter(parameters))?;
                while let Some(row) = rows.next()? {
                    values.clear();
                    for column in 0..columns {
                        values.extend(row.get::<_, Option<i64>>(column)?);
                    }
                    each(&values);
                }
                Ok(())
            }
            Self::Postgres(transaction, runtime) => runtime.block_on(async {
                let prepared = transaction.prepare(sql).await?;
                let mut rows = pin!(transaction.query_raw(&prepared, parameters).await?);
                while let Some(row) = rows.try_next().await? {
                    values.clear();
                    for (place, column) in row.columns().iter().enumerate() {
                        let value = if *column.type_() == Type::INT8 {
                            row.try_get::<_, Option<i64>>(place)?
                        } else {
                            row.try_get::<_, Option<i32>>(place)?.map(i64::from)
                        };
                        values.extend(value);
                    }
                    each(&values);
                }
                Ok(())
            }),
        }
    }

    /// Inserts rows of totals.
    pub fn insert(&self, table: Table, rows: &[(Key, [i64; 3])]) -> Result<(), Error> {
        let length = key_length(table);
        match self {
            Self::Sqlite(transaction) => {
                let mut insert = transaction.prepare_cached(&statements::insert(table, length))?;
                for (key, sums) in rows {
                    let key = key.iter().take(length).copied().map(i64::from);
                    insert.execute(params_from_iter(key.chain(sums.iter().copied())))?;
                }
                Ok(())
            }
            Self::Postgres(transaction, runtime) => runtime.block_on(async {
                let copy = format!("COPY {} FROM STDIN (FORMAT binary)", table.name());
                let sink = transaction.copy_in(&copy).await?;
                let mut types = vec![Type::INT4; length];
                types.extend(METRICS.map(|_| Type::INT8));
                let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
                for (key, sums) in rows {
                    let key = key.iter().take(length).copied().map(i64::from);
                    let values: Vec<_> = key.chain(sums.iter().copied()).map(Integer).collect();
                    writer.as_mut().write_raw(&values).await?;
                }
                writer.finish().await?;
                Ok(())
            }),
        }
    }

    pub fn commit(self) -> Result<(), Error> {
        match self {
            Self::Sqlite(transaction) => transaction.commit()?,
            Self::Postgres(transaction, runtime) => runtime.block_on(transaction.commit())?,
        }
        Ok(())
    }
}

/// Lets a long SQLite statement be interrupted.
pub(super) fn interruptible(
    connection: &mut rusqlite::Connection,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Error> {
    let interrupted = interrupted.clone();
    let look = move || interrupted.load(Ordering::Relaxed);
    connection.progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, Some(look))?;
    Ok(())
}

/// An integer for a column of either width.
#[derive(Debug)]
struct Integer(i64);

impl ToSql for Integer {
    fn to_sql(
        &self,
        column_type: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        if *column_type == Type::INT8 {
            self.0.to_sql(column_type, out)
        } else {
            i32::try_from(self.0)?.to_sql(column_type, out)
        }
    }

    fn accepts(column_type: &Type) -> bool {
        [Type::INT4, Type::INT8].contains(column_type)
    }

    to_sql_checked!();
}
