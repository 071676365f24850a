//! Intention of a declared type. SQLite itself reads only its affinity, so `VARCHAR(256)` limits
//! nothing and `UUID` is a number; the words still show what the author meant.

use super::choice::IntegerRule;
use crate::source::{Affinity, SourceColumn};
use crate::value::{PostgresType, declared_parts};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredType {
    /// This type; a value that does not fit is a fault.
    Hard(PostgresType),
    /// This type, whose values have a form that SQLite never asks for.
    Formed(PostgresType),
    Unknown,
}

pub fn declared(column: &SourceColumn, integers: IntegerRule) -> DeclaredType {
    use DeclaredType::{Formed, Hard};
    let lower = column.declared_type.to_ascii_lowercase();
    let unsigned = lower.contains("unsigned");
    let (words, numbers) = declared_parts(&lower.replace("unsigned", " "));
    let number = |position: usize| numbers.get(position).copied();
    match words.as_str() {
        "smallint" | "int2" | "tinyint" if unsigned => Hard(PostgresType::Integer),
        "smallint" | "int2" | "tinyint" => Hard(PostgresType::SmallInt),
        "mediumint" | "int4" if !unsigned => Hard(PostgresType::Integer),
        "bool" | "boolean" => Hard(PostgresType::Boolean),
        "varchar" | "character varying" | "varying character" | "nvarchar" | "varchar2"
        | "nvarchar2" | "char" | "character" | "nchar" | "native character" => {
            match number(0).filter(|length| (1..=10_485_760).contains(length)) {
                Some(length) => Hard(PostgresType::Varchar(Some(length))),
                None => Hard(PostgresType::Text),
            }
        }
        "string" => Hard(PostgresType::Text),
        "binary" | "varbinary" | "bytea" | "image" => Hard(PostgresType::Bytea),
        "numeric" | "decimal" | "dec" | "number" | "money" => {
            let digits = number(0).and_then(|digits| u16::try_from(digits).ok());
            let scale = number(1).and_then(|scale| u16::try_from(scale).ok()).unwrap_or(0);
            let limits = digits
                .filter(|digits| (1..=1000).contains(digits) && scale <= *digits)
                .map(|digits| (digits, scale));
            Hard(PostgresType::Numeric(limits))
        }
        "date" => Formed(PostgresType::Date),
        "time" => Formed(PostgresType::Time(6)),
        "datetime"
        | "smalldatetime"
        | "datetime2"
        | "timestamp"
        | "timestamp without time zone" => Formed(PostgresType::Timestamp(6)),
        "timestamptz" | "timestamp with time zone" | "datetimeoffset" => {
            Formed(PostgresType::TimestampTz(6))
        }
        "json" | "jsonb" => Formed(PostgresType::Jsonb),
        "uuid" | "guid" | "uniqueidentifier" => Formed(PostgresType::Uuid),
        "int" | "integer" if integers == IntegerRule::Declared && !unsigned => {
            Hard(PostgresType::Integer)
        }
        _ => by_affinity(column.affinity, integers, &words),
    }
}

fn by_affinity(affinity: Affinity, integers: IntegerRule, words: &str) -> DeclaredType {
    match affinity {
        Affinity::Integer if integers == IntegerRule::Int4 => {
            DeclaredType::Hard(PostgresType::Integer)
        }
        Affinity::Integer => DeclaredType::Hard(PostgresType::BigInt),
        Affinity::Text => DeclaredType::Hard(PostgresType::Text),
        Affinity::Real => DeclaredType::Hard(PostgresType::DoublePrecision),
        Affinity::Blob if words.contains("blob") => DeclaredType::Hard(PostgresType::Bytea),
        Affinity::Blob | Affinity::Numeric => DeclaredType::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_by_intention() {
        let by = |text: &str, integers: IntegerRule| {
            let column = SourceColumn {
                name: "c".into(),
                target_name: "c".into(),
                declared_type: text.into(),
                affinity: Affinity::of(text, false),
                not_null: false,
                default: None,
                default_value: None,
                generated: false,
                stored: false,
                expression: None,
                collation: None,
            };
            declared(&column, integers)
        };
        let of = |text: &str| by(text, IntegerRule::Int8);
        let hard = |text: &str| DeclaredType::Hard(text.parse().unwrap());
        let soft = |text: &str| DeclaredType::Formed(text.parse().unwrap());
        for (text, expected) in [
            ("INTEGER", hard("bigint")),
            ("INT(11)", hard("bigint")),
            ("SMALLINT UNSIGNED", hard("integer")),
            ("VARCHAR(256)", hard("varchar(256)")),
            ("VARYING CHARACTER (20)", hard("varchar(20)")),
            ("varchar", hard("text")),
            ("LONGTEXT", hard("text")),
            ("STRING", hard("text")),
            ("FLOAT", hard("double precision")),
            ("DECIMAL(10, 2)", hard("numeric(10,2)")),
            ("NUMERIC", hard("numeric")),
            ("BLOB", hard("bytea")),
            ("VARBINARY(16)", hard("bytea")),
            ("BOOLEAN", hard("boolean")),
            ("DATETIME", soft("timestamp")),
            ("Date", soft("date")),
            ("JSON", soft("jsonb")),
            ("UUID", soft("uuid")),
            ("", DeclaredType::Unknown),
            ("GEOMETRY", DeclaredType::Unknown),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        for (text, by_declaration, all) in [
            ("INTEGER", "integer", "integer"),
            ("int(11)", "integer", "integer"),
            ("MEDIUMINT", "integer", "integer"),
            ("INT UNSIGNED", "bigint", "integer"),
            ("BIGINT", "bigint", "integer"),
            ("INT8", "bigint", "integer"),
            ("SMALLINT", "smallint", "smallint"),
        ] {
            assert_eq!(by(text, IntegerRule::Declared), hard(by_declaration), "{text}");
            assert_eq!(by(text, IntegerRule::Int4), hard(all), "{text}");
        }
    }
}
