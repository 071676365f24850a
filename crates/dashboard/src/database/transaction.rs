//! One transaction on either engine, with the few calls that commands need which change the
//! database or prove it: the same SQL text for both, numbers and texts bound.

use std::pin::pin;

use bytes::BytesMut;
use futures_util::TryStreamExt as _;
use rusqlite::params_from_iter;
use rusqlite::types::{FromSqlError, ToSqlOutput, ValueRef};
use tokio::runtime::Handle;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::{Dialect, Error};

/// A transaction under way; whoever began it ends it. Not for asynchronous code: it blocks.
pub(crate) enum Transaction<'a> {
    Sqlite(&'a rusqlite::Connection),
    Postgres(&'a tokio_postgres::Transaction<'a>, &'a Handle),
}

/// A value on its way into a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Integer(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Null,
}

impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Self::Integer(number.into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl Transaction<'_> {
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(..) => Dialect::Postgres,
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
    pub fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, Error> {
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
        values: &[Value<'_>],
        mut each: impl FnMut(Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Sqlite(connection) => {
                let mut prepared = connection.prepare_cached(sql).map_err(Error::from)?;
                let mut rows = prepared.query(params_from_iter(values)).map_err(Error::from)?;
                while let Some(row) = rows.next().map_err(Error::from)? {
                    each(Row::Sqlite(row))?;
                }
                Ok(())
            }
            Self::Postgres(transaction, runtime) => runtime.block_on(async {
                let rows = transaction.query_raw(sql, values).await.map_err(Error::from)?;
                let mut rows = pin!(rows);
                while let Some(row) = rows.try_next().await.map_err(Error::from)? {
                    each(Row::Postgres(&row))?;
                }
                Ok(())
            }),
        }
    }

    /// The first column of the first row, an integer; none where there is no row, or NULL.
    pub fn integer(&self, sql: &str, values: &[Value<'_>]) -> Result<Option<i64>, Error> {
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
        rows: impl Iterator<Item = [Value<'v>; N]>,
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

/// A row that an engine gave.
#[derive(Clone, Copy)]
pub(crate) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> Row<'a> {
    /// An integer of either width.
    pub fn integer(self, place: usize) -> Result<i64, Error> {
        match self {
            Self::Sqlite(row) => Ok(row.get(place)?),
            Self::Postgres(row) if is_wide(row, place) => Ok(row.try_get(place)?),
            Self::Postgres(row) => Ok(row.try_get::<_, i32>(place)?.into()),
        }
    }

    pub fn optional_integer(self, place: usize) -> Result<Option<i64>, Error> {
        match self {
            Self::Sqlite(row) => Ok(row.get(place)?),
            Self::Postgres(row) if is_wide(row, place) => Ok(row.try_get(place)?),
            Self::Postgres(row) => Ok(row.try_get::<_, Option<i32>>(place)?.map(i64::from)),
        }
    }

    /// An integer that the schema keeps to 32 bits.
    pub fn small(self, place: usize) -> Result<i32, Error> {
        match self {
            Self::Sqlite(row) => Ok(row.get(place)?),
            Self::Postgres(row) => Ok(row.try_get(place)?),
        }
    }

    pub fn text(self, place: usize) -> Result<&'a str, Error> {
        match self {
            Self::Sqlite(row) => sqlite_value(row, place, |value| value.as_str()),
            Self::Postgres(row) => Ok(row.try_get(place)?),
        }
    }

    pub fn bytes(self, place: usize) -> Result<&'a [u8], Error> {
        match self {
            Self::Sqlite(row) => sqlite_value(row, place, |value| value.as_blob()),
            Self::Postgres(row) => Ok(row.try_get(place)?),
        }
    }
}

fn is_wide(row: &tokio_postgres::Row, place: usize) -> bool {
    row.columns().get(place).is_some_and(|column| *column.type_() == Type::INT8)
}

/// Borrowed from SQLite's own memory.
fn sqlite_value<'a, T: ?Sized>(
    row: &'a rusqlite::Row<'a>,
    place: usize,
    read: impl FnOnce(ValueRef<'a>) -> Result<&'a T, FromSqlError>,
) -> Result<&'a T, Error> {
    let value = row.get_ref(place)?;
    let data_type = value.data_type();
    read(value).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(place, data_type, error.into()).into()
    })
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::Null => ValueRef::Null,
        }))
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        column_type: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Integer(number) if *column_type == Type::INT8 => number.to_sql(column_type, out),
            Self::Integer(number) => i32::try_from(*number)?.to_sql(column_type, out),
            Self::Text(text) => text.to_sql(column_type, out),
            Self::Bytes(bytes) => bytes.to_sql(column_type, out),
            Self::Null => Ok(IsNull::Yes),
        }
    }

    fn accepts(column_type: &Type) -> bool {
        [Type::INT4, Type::INT8, Type::VARCHAR, Type::TEXT, Type::BYTEA].contains(column_type)
    }

    to_sql_checked!();
}
