//! Values of small statements: texts, whole numbers and bytes, in and out of both engines.

use std::error::Error;

use bytes::BytesMut;
use rusqlite::types::{FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// A value as both engines know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Number(i64),
    Bytes(Vec<u8>),
    Null,
}

impl Value {
    /// The text, or a number written as one; nothing for what is neither.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
            Self::Bytes(_) | Self::Null => String::new(),
        }
    }

    /// The bytes; none for what is something else.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(_) | Self::Number(_) | Self::Null => &[],
        }
    }

    /// The number, if it is one.
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::Bytes(_) | Self::Null => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Text(text) => rusqlite::ToSql::to_sql(text),
            Self::Number(number) => rusqlite::ToSql::to_sql(number),
            Self::Bytes(bytes) => rusqlite::ToSql::to_sql(bytes),
            Self::Null => rusqlite::ToSql::to_sql(&rusqlite::types::Null),
        }
    }
}

impl rusqlite::types::FromSql for Value {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Null => Ok(Self::Null),
            ValueRef::Integer(number) => Ok(Self::Number(number)),
            ValueRef::Blob(bytes) => Ok(Self::Bytes(bytes.to_owned())),
            ValueRef::Text(_) => Ok(Self::Text(value.as_str()?.to_owned())),
            ValueRef::Real(_) => Err(FromSqlError::InvalidType),
        }
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Text(text) => ToSql::to_sql(text, kind, out),
            Self::Number(number) if *kind == Type::INT4 => {
                ToSql::to_sql(&i32::try_from(*number)?, kind, out)
            }
            Self::Number(number) => ToSql::to_sql(number, kind, out),
            Self::Bytes(bytes) => ToSql::to_sql(bytes, kind, out),
            Self::Null => Ok(IsNull::Yes),
        }
    }

    fn accepts(kind: &Type) -> bool {
        is_known(kind)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        match *kind {
            Type::INT4 => Ok(Self::Number(<i32 as FromSql>::from_sql(kind, raw)?.into())),
            Type::INT8 => Ok(Self::Number(<i64 as FromSql>::from_sql(kind, raw)?)),
            Type::BYTEA => Ok(Self::Bytes(raw.to_owned())),
            _ => Ok(Self::Text(<String as FromSql>::from_sql(kind, raw)?)),
        }
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        is_known(kind)
    }
}

fn is_known(kind: &Type) -> bool {
    matches!(*kind, Type::INT4 | Type::INT8 | Type::TEXT | Type::VARCHAR | Type::BYTEA)
}
