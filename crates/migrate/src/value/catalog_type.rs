//! Types of PostgreSQL's catalog.

use super::postgres_type::{PostgresType, SECOND_DIGITS};

/// In the modifier of an interval: none of its fields is left out.
const ALL_FIELDS: i32 = 0x7fff;

/// A column's type as the catalog has it, below its domain.
pub struct CatalogType<'a> {
    /// Its name; for an array that of its elements.
    pub name: &'a str,
    /// `atttypmod`; for `money` its decimal digits.
    pub modifier: i32,
    /// The labels of an enum.
    pub labels: &'a [String],
    /// As the server shows it.
    pub shown: &'a str,
    /// The number of an array's elements' type.
    pub element_oid: Option<u32>,
}

impl PostgresType {
    /// `None` if Crossover does not write this type.
    pub fn from_catalog(entry: &CatalogType<'_>) -> Option<Self> {
        let &CatalogType { name, modifier, labels, shown, element_oid } = entry;
        if let Some(element_oid) = element_oid {
            let shown = shown.strip_suffix("[]").unwrap_or(shown);
            let element = CatalogType { shown, element_oid: None, ..*entry };
            let element = Box::new(Self::from_catalog(&element)?);
            return Some(Self::Array { element, element_oid });
        }
        // Character types and numeric count four bytes of header in the modifier.
        let length = u32::try_from(modifier - 4).ok().filter(|_| modifier >= 4);
        let digits = u8::try_from(modifier).unwrap_or(SECOND_DIGITS);
        Some(match name {
            _ if !labels.is_empty() => {
                Self::Enum { name: shown.to_owned(), labels: labels.to_vec() }
            }
            "int2" => Self::SmallInt,
            "int4" => Self::Integer,
            "int8" => Self::BigInt,
            "float4" => Self::Real,
            "float8" => Self::DoublePrecision,
            "numeric" => match length {
                None => Self::Numeric(None),
                // 11 bits of scale, signed since PostgreSQL 15; a negative one is not written.
                Some(bits) if bits & 0x400 != 0 => return None,
                Some(bits) => Self::Numeric(Some(((bits >> 16) as u16, (bits & 0x3ff) as u16))),
            },
            "bool" => Self::Boolean,
            "text" => Self::Text,
            "citext" => Self::Citext,
            "varchar" => Self::Varchar(length),
            "bpchar" => length.map_or(Self::Text, Self::Char),
            "uuid" => Self::Uuid,
            "date" => Self::Date,
            "time" => Self::Time(digits),
            "timestamp" => Self::Timestamp(digits),
            "timestamptz" => Self::TimestampTz(digits),
            "bytea" => Self::Bytea,
            "json" => Self::Json,
            "jsonb" => Self::Jsonb,
            "interval" if modifier == -1 => Self::Interval(SECOND_DIGITS),
            // The upper half says which fields it has, the lower one its digits of a second.
            "interval" if modifier >> 16 == ALL_FIELDS => {
                let digits = modifier & 0xffff;
                Self::Interval(
                    u8::try_from(digits).map_or(SECOND_DIGITS, |it| it.min(SECOND_DIGITS)),
                )
            }
            "inet" => Self::Inet,
            "cidr" => Self::Cidr,
            "macaddr" => Self::MacAddr,
            "money" => Self::Money(u8::try_from(modifier).ok()?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_of_the_catalog() {
        let entry = |name, modifier, element_oid| {
            let labels = &[];
            let entry = CatalogType { name, modifier, labels, shown: "", element_oid };
            PostgresType::from_catalog(&entry)
        };
        let of = |name, modifier| entry(name, modifier, None);
        assert_eq!(of("varchar", 260), Some(PostgresType::Varchar(Some(256))));
        assert_eq!(of("varchar", -1), Some(PostgresType::Varchar(None)));
        assert_eq!(of("numeric", (10 << 16 | 2) + 4), Some(PostgresType::Numeric(Some((10, 2)))));
        assert_eq!(of("timestamptz", -1), Some(PostgresType::TimestampTz(6)));
        assert_eq!(of("timestamptz", 0), Some(PostgresType::TimestampTz(0)));
        assert_eq!(of("interval", -1), Some(PostgresType::Interval(6)));
        assert_eq!(of("interval", 0x7fff_0003), Some(PostgresType::Interval(3)));
        assert_eq!(of("interval", 0x0400_ffff), None);
        assert_eq!(of("money", 2), Some(PostgresType::Money(2)));
        assert_eq!(entry("varchar", 260, Some(1043)), "varchar(256)[]".parse().ok());
        assert_eq!(entry("citext", -1, Some(99)).unwrap().to_string(), "citext[]");
        assert_eq!(of("tsvector", -1), None);
    }
}
