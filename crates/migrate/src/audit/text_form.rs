//! Spelling of a column's values: values of one spelling that differ in SQLite also differ in
//! PostgreSQL.

use rusqlite::types::ValueRef;

use crate::value::{PostgresType, Profile, StorageClass, TargetField};

/// `true` if the counts allow values of several spellings in a column.
pub fn may_vary(field: &TargetField, profile: &Profile) -> bool {
    let Profile { integers, reals, texts, .. } = *profile;
    match &field.postgres_type {
        PostgresType::SmallInt
        | PostgresType::Integer
        | PostgresType::BigInt
        | PostgresType::Boolean
        | PostgresType::Bytea => texts > 0,
        PostgresType::Text | PostgresType::Varchar(_) | PostgresType::Char(_) => {
            texts > 0 && integers + reals > 0
        }
        PostgresType::Numeric(_) => texts > 0 || (integers > 0 && reals > 0),
        PostgresType::DoublePrecision | PostgresType::Enum { .. } => false,
        _ => true,
    }
}

/// Spelling of the first value of a column.
pub struct ValueSpelling {
    class: StorageClass,
    text: Vec<u8>,
}

impl ValueSpelling {
    pub fn of(value: ValueRef<'_>) -> Self {
        let text = if let ValueRef::Text(text) = value { text.to_vec() } else { Vec::new() };
        Self { class: StorageClass::of(value), text }
    }

    /// `true` if `value`, which fits the type, has this spelling.
    pub fn is_spelling_of(&self, postgres_type: &PostgresType, value: ValueRef<'_>) -> bool {
        if self.class != StorageClass::of(value) {
            return false;
        }
        match (postgres_type, value) {
            (
                PostgresType::Real
                | PostgresType::Citext
                | PostgresType::Json
                | PostgresType::Jsonb
                | PostgresType::Interval(_)
                | PostgresType::Inet
                | PostgresType::Cidr
                | PostgresType::MacAddr
                | PostgresType::Money(_)
                | PostgresType::Array { .. },
                _,
            )
            | (PostgresType::Boolean | PostgresType::Numeric(_), ValueRef::Text(_)) => false,
            (PostgresType::Uuid, ValueRef::Text(text)) => self.has_digits_of(text),
            (postgres_type, ValueRef::Text(text)) if is_of_time(postgres_type) => {
                self.has_shape_of(text)
            }
            // Rounded where they are read as moments.
            (postgres_type, ValueRef::Real(_)) => !is_of_time(postgres_type),
            _ => true,
        }
    }

    /// Hexadecimal digits of one case, with the same hyphens.
    fn has_digits_of(&self, text: &[u8]) -> bool {
        let other_case = match self.text.iter().any(u8::is_ascii_uppercase) {
            true => u8::is_ascii_lowercase,
            false => u8::is_ascii_uppercase,
        };
        text.len() == self.text.len() && !text.iter().any(other_case)
    }

    /// Digits in the same places and all other characters equal, the zone with its digits.
    fn has_shape_of(&self, text: &[u8]) -> bool {
        let begins_zone = |byte: &u8| matches!(byte, b'Z' | b'z' | b'+' | b'-' | b' ');
        let after_date = self.text.iter().skip(11).position(begins_zone);
        let zone = after_date.map_or(self.text.len(), |at| at + 11);
        let same = |(at, (one, other)): (usize, (&u8, &u8))| {
            one == other || (at < zone && one.is_ascii_digit() && other.is_ascii_digit())
        };
        text.len() == self.text.len() && self.text.iter().zip(text).enumerate().all(same)
    }
}

fn is_of_time(postgres_type: &PostgresType) -> bool {
    postgres_type.is_moment() || matches!(postgres_type, PostgresType::Time(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_spelling_differ_only_if_different() {
        let same = |postgres_type: &str, one: &str, other: &str| {
            let spelling = ValueSpelling::of(ValueRef::Text(one.as_bytes()));
            spelling
                .is_spelling_of(&postgres_type.parse().unwrap(), ValueRef::Text(other.as_bytes()))
        };
        for (postgres_type, one, other, expected) in [
            ("uuid", "00000000000000000000000000000001", "0000000000000000000000000000000a", true),
            ("uuid", "0000000000000000000000000000000A", "0000000000000000000000000000000a", false),
            ("timestamp", "2021-03-04T05:06:07", "2022-03-04T05:06:09", true),
            ("timestamp", "2021-03-04T05:06:07", "2021-03-04 05:06:07", false),
            ("timestamp", "2021-03-04 05:06", "2021-03-04 05:06:00", false),
            ("timestamptz", "2021-03-04 05:06+01:00", "2021-03-05 07:06+01:00", true),
            ("timestamptz", "2021-03-04 05:06+01:00", "2021-03-04 06:06+02:00", false),
            ("date", "2021-03-04", "2021-03-05", true),
            ("numeric", "1.5", "1.50", false),
            ("text", "1.5", "1.50", true),
        ] {
            assert_eq!(same(postgres_type, one, other), expected, "{one} {other}");
        }
        let number = ValueSpelling::of(ValueRef::Integer(1));
        assert!(number.is_spelling_of(&PostgresType::Text, ValueRef::Integer(2)));
        assert!(!number.is_spelling_of(&PostgresType::Text, ValueRef::Text(b"1")));
    }
}
