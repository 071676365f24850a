//! Values of statements and rows, the same for both engines: integers, texts, bytes, NULL.

use std::borrow::Cow;
use std::error::Error;

use bytes::BytesMut;
use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlValue<'a> {
    Integer(i64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    Null,
}

impl SqlValue<'_> {
    pub(crate) fn into_owned(self) -> SqlValue<'static> {
        match self {
            Self::Integer(number) => SqlValue::Integer(number),
            Self::Text(text) => SqlValue::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => SqlValue::Bytes(Cow::Owned(bytes.into_owned())),
            Self::Null => SqlValue::Null,
        }
    }

    /// The text, or an integer in digits; empty for bytes and NULL.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text.into_owned(),
            Self::Integer(number) => number.to_string(),
            Self::Bytes(_) | Self::Null => String::new(),
        }
    }

    /// Empty for anything but bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(_) | Self::Integer(_) | Self::Null => &[],
        }
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(_) | Self::Bytes(_) | Self::Null => None,
        }
    }
}

impl From<i32> for SqlValue<'_> {
    fn from(number: i32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<i64> for SqlValue<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl<'a> From<&'a str> for SqlValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for SqlValue<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<sea_query::Value> for SqlValue<'_> {
    fn from(value: sea_query::Value) -> Self {
        match value {
            sea_query::Value::Int(Some(number)) => number.into(),
            sea_query::Value::BigInt(Some(number)) => number.into(),
            sea_query::Value::String(Some(text)) => text.into(),
            other => {
                debug_assert!(false, "statements bind integers and texts only, not {other:?}");
                Self::Null
            }
        }
    }
}

impl rusqlite::ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::Null => ValueRef::Null,
        }))
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(
        &self,
        column_type: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Integer(number) if *column_type == Type::INT8 => number.to_sql(column_type, out),
            Self::Integer(number) => i32::try_from(*number)?.to_sql(column_type, out),
            Self::Text(text) => text.as_ref().to_sql(column_type, out),
            Self::Bytes(bytes) => bytes.as_ref().to_sql(column_type, out),
            Self::Null => Ok(IsNull::Yes),
        }
    }

    fn accepts(column_type: &Type) -> bool {
        [Type::INT4, Type::INT8, Type::VARCHAR, Type::TEXT, Type::BYTEA].contains(column_type)
    }

    to_sql_checked!();
}
