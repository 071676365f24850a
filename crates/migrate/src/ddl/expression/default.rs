//! Default of a column as PostgreSQL writes it, if it surely means the same; otherwise an
//! expression that comes close.

use rusqlite::types::Value;

use super::now::{now, without_blanks};
use super::operand::literal_text;
use crate::source::SourceColumn;
use crate::value::{PostgresType, TargetField, encode, moment};

/// The default of a column: its constant if the type takes it, or the current moment in UTC.
/// `None` for anything else.
pub fn default_expression(column: &SourceColumn, field: &TargetField) -> Option<String> {
    match &column.default_value {
        Some(value) => constant(value, field),
        None => {
            let now = now(column.default.as_deref()?).filter(|now| !now.is_local)?;
            now.expression(&field.postgres_type)
        }
    }
}

/// An expression that comes close, for review: the time of the server's zone, random numbers that
/// are not secrets.
pub fn default_proposal(column: &SourceColumn, field: &TargetField) -> Option<String> {
    let default = column.default.as_deref().filter(|_| column.default_value.is_none())?;
    if let Some(now) = now(default) {
        return now.expression(&field.postgres_type);
    }
    // Before release 13 there is no gen_random_uuid().
    let random = "md5(random()::text || clock_timestamp()::text || random()::text)";
    let is_text = field.postgres_type.is_text();
    match (without_blanks(default).as_str(), &field.postgres_type) {
        ("random()", PostgresType::BigInt) => {
            Some(format!("('x' || substr({random}, 1, 16))::bit(64)::bigint"))
        }
        ("lower(hex(randomblob(16)))", _) if is_text => Some(random.to_owned()),
        ("hex(randomblob(16))", _) if is_text => Some(format!("upper({random})")),
        ("randomblob(16)", PostgresType::Bytea) => Some(format!("decode({random}, 'hex')")),
        ("uuid()", PostgresType::Uuid) => Some(format!("{random}::uuid")),
        ("uuid()", _) if is_text => Some(format!("{random}::uuid::text")),
        _ => None,
    }
}

fn constant(value: &Value, field: &TargetField) -> Option<String> {
    // PostgreSQL takes every value that the encoder takes; numbers read as moments are not literals.
    encode(field, value.into(), &mut Vec::new()).ok()?;
    let wanted = &field.postgres_type;
    let written = match (wanted, value) {
        // Their texts are not PostgreSQL's.
        (PostgresType::Interval(_) | PostgresType::Array { .. }, _) => return None,
        (PostgresType::Boolean, Value::Integer(number)) => (*number == 1).to_string(),
        (PostgresType::Boolean, Value::Real(number)) => (*number == 1.0).to_string(),
        (_, Value::Integer(number)) => number.to_string(),
        (wanted, Value::Real(number)) if wanted.is_integer() => (*number as i64).to_string(),
        (PostgresType::Numeric(_), Value::Real(number)) => format!("{number:e}"),
        (PostgresType::DoublePrecision | PostgresType::Real, Value::Real(number))
            if number.is_infinite() =>
        {
            if *number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        (_, Value::Real(number)) => format!("{number:?}"),
        (PostgresType::Bytea, Value::Text(text)) => format!("\\x{}", hex::encode(text.as_bytes())),
        (PostgresType::TimestampTz(_), Value::Text(text))
            if !moment::parse(text.as_bytes())?.zoned =>
        {
            format!("{text} UTC")
        }
        (_, Value::Text(text)) => text.clone(),
        (PostgresType::Uuid, Value::Blob(bytes)) => hex::encode(bytes),
        (_, Value::Blob(bytes)) => format!("\\x{}", hex::encode(bytes)),
        (_, Value::Null) => return Some("NULL".to_owned()),
    };
    let is_of_time = wanted.is_moment() || matches!(wanted, PostgresType::Time(_));
    if is_of_time && !matches!(value, Value::Text(_)) {
        return None;
    }
    literal_text(&written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::schema;

    #[test]
    fn defaults_are_carried_over_when_they_mean_the_same() {
        for (declared, default, postgres_type, expected) in [
            ("INT", "0", "bigint", Some("'0'")),
            ("INT", "1.0", "bigint", Some("'1'")),
            ("INT", "''", "bigint", None),
            ("NUMERIC", "-1.50", "numeric", Some("'-1.5e0'")),
            ("NUMERIC", "'n/a'", "numeric", None),
            ("BOOLEAN", "1", "boolean", Some("'true'")),
            ("BOOLEAN", "TRUE", "boolean", Some("'true'")),
            ("BOOLEAN", "'t'", "boolean", Some("'t'")),
            ("BOOLEAN", "'yes'", "boolean", None),
            ("TEXT", "'it''s'", "text", Some("'it''s'")),
            ("TEXT", "\"\"", "text", Some("''")),
            ("TEXT", "'\\'", "text", Some("E'\\\\'")),
            ("TEXT", "1", "text", Some("'1'")),
            ("INT", "'x'", "bigint", None),
            ("DATE", "'2021-02-30'", "date", None),
            ("DATETIME", "'2021-02-03 04:05'", "timestamptz", Some("'2021-02-03 04:05 UTC'")),
            ("DATETIME", "1614834367", "timestamptz", None),
            ("BLOB", "x'00ff'", "bytea", Some("E'\\\\x00ff'")),
            ("BLOB", "'a'", "bytea", Some("E'\\\\x61'")),
            ("REAL", "9e999", "double precision", Some("'Infinity'")),
            ("TEXT", "('a' || 'b')", "text", Some("'ab'")),
            ("INT", "(abs(-1))", "bigint", Some("'1'")),
            ("TEXT", "(lower(hex(randomblob(16))))", "text", None),
            ("DATETIME", "(datetime('now', 'localtime'))", "timestamp", None),
            ("DATETIME", "CURRENT_TIMESTAMP", "timestamp", Some("(now() AT TIME ZONE 'UTC')")),
        ] {
            let connection = rusqlite::Connection::open_in_memory().unwrap();
            let script = format!("CREATE TABLE t(c {declared} DEFAULT {default})");
            connection.execute_batch(&script).unwrap();
            let schema = schema(&connection).unwrap();
            let column = &schema.tables[0].columns[0];
            let postgres_type = postgres_type.parse().unwrap();
            let field =
                TargetField { postgres_type, reading: None, not_null: false, may_convert: false };
            let written = default_expression(column, &field);
            assert_eq!(written.as_deref(), expected, "{declared} {default}");
        }
    }
}
