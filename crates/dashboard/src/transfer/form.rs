//! The one form of rows on their way: that of PostgreSQL's binary COPY, into which the values of
//! either engine are brought by the schema's definition.

use std::error::Error as StdError;

use rusqlite::types::ValueRef;
use tokio_postgres::types::{FromSql, Type};

use super::Error;
use crate::database::{SqlRow, SqlValue};
use crate::schema::{ColumnDefinition, ColumnType, TableDefinition};

/// The length of a NULL.
const NULL: i32 = -1;

/// Appends a row of `table` to `rows`.
pub(super) fn append_row(
    table: &TableDefinition,
    row: SqlRow<'_>,
    rows: &mut Vec<u8>,
) -> Result<(), Error> {
    let columns = i16::try_from(table.columns.len()).map_err(|_| Error::Form)?;
    rows.extend(columns.to_be_bytes());
    for (place, column) in table.columns.iter().enumerate() {
        match row {
            SqlRow::Sqlite(row) => {
                append_sqlite(column, row.get_ref(place)?, rows).map_err(|problem| {
                    Error::Value {
                        table: table.name.name(),
                        column: column.name.name(),
                        key: key_of(table, row),
                        problem,
                    }
                })?;
            }
            SqlRow::Postgres(row) => {
                append_field(row.try_get::<_, Option<SentBytes<'_>>>(place)?.map(|it| it.0), rows)?;
            }
        }
    }
    Ok(())
}

/// Hands each row of `rows` to `each`, its values in the order of the columns.
pub(super) fn each_row<'a>(
    table: &TableDefinition,
    mut rows: &'a [u8],
    mut each: impl FnMut(&[SqlValue<'a>]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut values = Vec::with_capacity(table.columns.len());
    while !rows.is_empty() {
        let columns = i16::from_be_bytes(take_array(&mut rows)?);
        if usize::try_from(columns).ok() != Some(table.columns.len()) {
            return Err(Error::Form);
        }
        values.clear();
        for column in table.columns {
            values.push(take_value(column, &mut rows)?);
        }
        each(&values)?;
    }
    Ok(())
}

/// A value as the server sent it.
struct SentBytes<'a>(&'a [u8]);

impl<'a> FromSql<'a> for SentBytes<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(column_type: &Type) -> bool {
        [Type::INT4, Type::INT8, Type::VARCHAR, Type::BYTEA].contains(column_type)
    }
}

/// `id 7`, `day 18262, article_id 7, country_id 61`
fn key_of(table: &TableDefinition, row: &rusqlite::Row<'_>) -> String {
    let part = |name: &str| match row.get_ref(name) {
        Ok(ValueRef::Integer(number)) => format!("{name} {number}"),
        Ok(ValueRef::Text(text)) => format!("{name} {:?}", String::from_utf8_lossy(text)),
        _ => format!("no {name}"),
    };
    let parts: Vec<_> = table.primary_key.iter().map(|column| part(column.name())).collect();
    parts.join(", ")
}

/// SQLite keeps any value in any column: what the definition does not allow is a problem.
fn append_sqlite(
    column: &ColumnDefinition,
    value: ValueRef<'_>,
    rows: &mut Vec<u8>,
) -> Result<(), String> {
    let out_of_range = |number: i64| format!("is {number}, which 32 bits cannot hold");
    let field = match (column.column_type, value) {
        (_, ValueRef::Null) if column.nullable => append_field(None, rows),
        (ColumnType::Integer, ValueRef::Integer(number)) => {
            let number = i32::try_from(number).map_err(|_| out_of_range(number))?;
            append_field(Some(&number.to_be_bytes()), rows)
        }
        (ColumnType::BigInteger, ValueRef::Integer(number)) => {
            append_field(Some(&number.to_be_bytes()), rows)
        }
        (ColumnType::Varchar(length), ValueRef::Text(bytes)) => {
            append_field(Some(checked_text(bytes, length)?), rows)
        }
        (ColumnType::Bytes, ValueRef::Blob(bytes)) => append_field(Some(bytes), rows),
        (_, value) => return Err(format!("is {}", kind_of(value))),
    };
    field.map_err(|error| error.to_string())
}

fn checked_text(bytes: &[u8], length: u32) -> Result<&[u8], String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not a text in UTF-8".to_owned())?;
    if text.contains('\0') {
        return Err("holds the character U+0000, which PostgreSQL does not take".to_owned());
    }
    // Bytes are never fewer than characters.
    let length = length as usize;
    if text.len() > length && text.chars().count() > length {
        let found = text.chars().count();
        return Err(format!("is {found} characters long, and only {length} fit"));
    }
    Ok(bytes)
}

fn kind_of(value: ValueRef<'_>) -> &'static str {
    match value {
        ValueRef::Null => "NULL",
        ValueRef::Integer(_) => "an integer",
        ValueRef::Real(_) => "a number with a fraction",
        ValueRef::Text(_) => "a text",
        ValueRef::Blob(_) => "bytes",
    }
}

fn append_field(bytes: Option<&[u8]>, rows: &mut Vec<u8>) -> Result<(), Error> {
    match bytes {
        None => rows.extend(NULL.to_be_bytes()),
        Some(bytes) => {
            let length = i32::try_from(bytes.len()).map_err(|_| Error::Form)?;
            rows.extend(length.to_be_bytes());
            rows.extend(bytes);
        }
    }
    Ok(())
}

fn take_value<'a>(column: &ColumnDefinition, rows: &mut &'a [u8]) -> Result<SqlValue<'a>, Error> {
    let length = i32::from_be_bytes(take_array(rows)?);
    if length == NULL {
        return Ok(SqlValue::Null);
    }
    let (bytes, rest) = usize::try_from(length)
        .ok()
        .and_then(|length| rows.split_at_checked(length))
        .ok_or(Error::Form)?;
    *rows = rest;
    Ok(match column.column_type {
        ColumnType::Integer => {
            i32::from_be_bytes(bytes.try_into().map_err(|_| Error::Form)?).into()
        }
        ColumnType::BigInteger => {
            i64::from_be_bytes(bytes.try_into().map_err(|_| Error::Form)?).into()
        }
        ColumnType::Varchar(_) => std::str::from_utf8(bytes).map_err(|_| Error::Form)?.into(),
        ColumnType::Bytes => SqlValue::Bytes(bytes.into()),
    })
}

fn take_array<const N: usize>(rows: &mut &[u8]) -> Result<[u8; N], Error> {
    let (array, rest) = rows.split_first_chunk::<N>().ok_or(Error::Form)?;
    *rows = rest;
    Ok(*array)
}
