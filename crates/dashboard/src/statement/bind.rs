//! One wrapper that hands sea-query's values to rusqlite and to tokio-postgres: the binders made
//! for sea-query pin older clients.

use std::error::Error;

use bytes::BytesMut;
use rusqlite::types::ToSqlOutput;
use sea_query::Value;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// A value on its way into a statement: integers and text, all that our statements bind.
#[derive(Debug)]
pub struct Bound<'a>(pub &'a Value);

const UNKNOWN: &str = "the dashboard's statements bind integers and text only";

impl rusqlite::ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self.0 {
            Value::Int(value) => rusqlite::ToSql::to_sql(value),
            Value::BigInt(value) => rusqlite::ToSql::to_sql(value),
            Value::String(value) => rusqlite::ToSql::to_sql(value),
            _ => Err(rusqlite::Error::ToSqlConversionFailure(UNKNOWN.into())),
        }
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(
        &self,
        column_type: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self.0 {
            Value::Int(value) => value.to_sql_checked(column_type, out),
            Value::BigInt(value) => value.to_sql_checked(column_type, out),
            Value::String(value) => value.to_sql_checked(column_type, out),
            _ => Err(UNKNOWN.into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        // The value inside checks its own type.
        true
    }

    to_sql_checked!();
}
