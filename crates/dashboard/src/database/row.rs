//! Rows of results: their values read by place, borrowed from the client's memory.

use rusqlite::types::{FromSqlError, ValueRef};
use tokio_postgres::types::Type;

use super::{Error, SqlValue};

/// A row that an engine gave.
#[derive(Clone, Copy)]
pub(crate) enum SqlRow<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> SqlRow<'a> {
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

    /// A copy of any value that [`SqlValue`] knows.
    fn value(self, place: usize) -> Result<SqlValue<'static>, Error> {
        let row = match self {
            Self::Sqlite(row) => {
                let value = row.get_ref(place)?;
                return match value {
                    ValueRef::Null => Ok(SqlValue::Null),
                    ValueRef::Integer(number) => Ok(number.into()),
                    ValueRef::Blob(bytes) => Ok(SqlValue::Bytes(bytes.to_owned().into())),
                    ValueRef::Text(_) => Ok(self.text(place)?.to_owned().into()),
                    ValueRef::Real(_) => Err(wrong_type(place, value, FromSqlError::InvalidType)),
                };
            }
            Self::Postgres(row) => row,
        };
        let column_type = row.columns().get(place).map(tokio_postgres::Column::type_);
        let value = match column_type {
            Some(&(Type::INT4 | Type::INT8)) => self.optional_integer(place)?.map(SqlValue::from),
            Some(&Type::BYTEA) => {
                row.try_get::<_, Option<Vec<u8>>>(place)?.map(|it| SqlValue::Bytes(it.into()))
            }
            _ => row.try_get::<_, Option<String>>(place)?.map(SqlValue::from),
        };
        Ok(value.unwrap_or(SqlValue::Null))
    }

    /// Copies of all its values.
    pub fn values(self) -> Result<Vec<SqlValue<'static>>, Error> {
        let columns = match self {
            Self::Sqlite(row) => row.as_ref().column_count(),
            Self::Postgres(row) => row.len(),
        };
        (0..columns).map(|place| self.value(place)).collect()
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
    read(value).map_err(|error| wrong_type(place, value, error))
}

fn wrong_type(place: usize, value: ValueRef<'_>, error: FromSqlError) -> Error {
    rusqlite::Error::FromSqlConversionFailure(place, value.data_type(), error.into()).into()
}
