//! PostgreSQL types that migration writes, as users write them and as the catalog names them.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PostgresType {
    SmallInt,
    Integer,
    BigInt,
    Real,
    DoublePrecision,
    /// `numeric`, with precision and scale if limited
    Numeric(Option<(u16, u16)>),
    Boolean,
    /// `text` (and types that travel like it)
    Text,
    /// `citext`: text compared without regard to case, of a target that has it
    Citext,
    /// `varchar(n)` in characters; without limit `varchar`
    Varchar(Option<u32>),
    /// `char(n)`, padded with blanks
    Char(u32),
    /// An enumerated type with its labels
    Enum {
        /// Its name, quoted and with its schema where needed.
        name: String,
        labels: Vec<String>,
    },
    Uuid,
    Date,
    /// `time` without time zone, with its digits of a second
    Time(u8),
    /// `timestamp` without time zone, with its digits of a second
    Timestamp(u8),
    /// `timestamptz`, with its digits of a second
    TimestampTz(u8),
    Bytea,
    Json,
    Jsonb,
    /// `interval` with all its fields, with its digits of a second
    Interval(u8),
    Inet,
    Cidr,
    MacAddr,
    /// `money`, with the decimal digits of the server's `lc_monetary`
    Money(u8),
    /// An array of any number of dimensions
    Array {
        element: Box<PostgresType>,
        /// PostgreSQL's number of the elements' type.
        element_oid: u32,
    },
}

/// The most digits of a second that PostgreSQL keeps, and its default.
pub const SECOND_DIGITS: u8 = 6;
/// Decimal digits of `money` under most `lc_monetary`, where no server has been asked.
const MONEY_DIGITS: u8 = 2;

impl PostgresType {
    /// An array of these elements; `None` for a type that each database numbers by itself.
    fn array_of(element: Self) -> Option<Self> {
        let element_oid = element.built_in_oid()?;
        Some(Self::Array { element: Box::new(element), element_oid })
    }

    fn built_in_oid(&self) -> Option<u32> {
        Some(match self {
            Self::Boolean => 16,
            Self::Bytea => 17,
            Self::BigInt => 20,
            Self::SmallInt => 21,
            Self::Integer => 23,
            Self::Text => 25,
            Self::Json => 114,
            Self::Cidr => 650,
            Self::Real => 700,
            Self::DoublePrecision => 701,
            Self::Money(_) => 790,
            Self::MacAddr => 829,
            Self::Inet => 869,
            Self::Char(_) => 1042,
            Self::Varchar(_) => 1043,
            Self::Date => 1082,
            Self::Time(_) => 1083,
            Self::Timestamp(_) => 1114,
            Self::TimestampTz(_) => 1184,
            Self::Interval(_) => 1186,
            Self::Numeric(_) => 1700,
            Self::Uuid => 2950,
            Self::Jsonb => 3802,
            Self::Citext | Self::Enum { .. } | Self::Array { .. } => return None,
        })
    }

    /// The same type in the catalog and in a rule, which does not know the digits of money.
    pub fn is_same(&self, other: &Self) -> bool {
        self == other || matches!((self, other), (Self::Money(_), Self::Money(_)))
    }

    pub fn is_integer(&self) -> bool {
        matches!(self, Self::SmallInt | Self::Integer | Self::BigInt)
    }

    pub fn is_moment(&self) -> bool {
        matches!(self, Self::Date | Self::Timestamp(_) | Self::TimestampTz(_))
    }

    /// Text without further form, compared exactly.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text | Self::Varchar(_))
    }

    /// Any text, or any text of a certain form, is a value.
    pub fn takes_texts(&self) -> bool {
        matches!(self, Self::Citext | Self::Char(_) | Self::Json | Self::Jsonb) || self.is_text()
    }

    /// PostgreSQL accepts a foreign key from a column of `other` to one of this type.
    pub fn refers_to(&self, other: &Self) -> bool {
        self == other
            || (self.is_integer() && other.is_integer())
            || (self.is_text() && other.is_text())
            || matches!((self, other), (Self::Numeric(_), Self::Numeric(_)))
    }
}

impl Display for PostgresType {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let seconds = |formatter: &mut Formatter<'_>, name: &str, digits: u8| {
            if digits == SECOND_DIGITS {
                formatter.write_str(name)
            } else {
                write!(formatter, "{name}({digits})")
            }
        };
        match self {
            Self::SmallInt => formatter.write_str("smallint"),
            Self::Integer => formatter.write_str("integer"),
            Self::BigInt => formatter.write_str("bigint"),
            Self::Real => formatter.write_str("real"),
            Self::DoublePrecision => formatter.write_str("double precision"),
            Self::Numeric(None) => formatter.write_str("numeric"),
            Self::Numeric(Some((digits, scale))) => write!(formatter, "numeric({digits},{scale})"),
            Self::Boolean => formatter.write_str("boolean"),
            Self::Text => formatter.write_str("text"),
            Self::Citext => formatter.write_str("citext"),
            Self::Varchar(None) => formatter.write_str("varchar"),
            Self::Varchar(Some(length)) => write!(formatter, "varchar({length})"),
            Self::Char(length) => write!(formatter, "char({length})"),
            Self::Enum { name, .. } => formatter.write_str(name),
            Self::Uuid => formatter.write_str("uuid"),
            Self::Date => formatter.write_str("date"),
            Self::Time(digits) => seconds(formatter, "time", *digits),
            Self::Timestamp(digits) => seconds(formatter, "timestamp", *digits),
            Self::TimestampTz(digits) => seconds(formatter, "timestamptz", *digits),
            Self::Bytea => formatter.write_str("bytea"),
            Self::Json => formatter.write_str("json"),
            Self::Jsonb => formatter.write_str("jsonb"),
            Self::Interval(digits) => seconds(formatter, "interval", *digits),
            Self::Inet => formatter.write_str("inet"),
            Self::Cidr => formatter.write_str("cidr"),
            Self::MacAddr => formatter.write_str("macaddr"),
            Self::Money(_) => formatter.write_str("money"),
            Self::Array { element, .. } => write!(formatter, "{element}[]"),
        }
    }
}

/// The names that `--map` understands, for messages.
const KNOWN: &str = "smallint, integer, bigint, real, double precision, numeric[(p,s)], boolean, \
    text, citext, varchar[(n)], char(n), uuid, date, time, timestamp, timestamptz, interval, bytea, json, jsonb, \
    inet, cidr, macaddr, money, an array such as integer[]";

impl FromStr for PostgresType {
    type Err = String;

    /// Reads a type as SQL writes it, in any case: `varchar(512)`, `timestamp with time zone`.
    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("unknown type `{}`; use {KNOWN}", text.trim());
        let lower = text.trim().to_ascii_lowercase();
        if let Some(element) = lower.strip_suffix("[]") {
            let element: Self = element.parse()?;
            return Self::array_of(element).ok_or_else(unknown);
        }
        let (name, numbers) = written_parts(&lower).ok_or_else(unknown)?;
        let limit = |position: usize, smallest: u32, largest: u32| match numbers.get(position) {
            None => Ok(None),
            Some(&number) if (smallest..=largest).contains(&number) => Ok(Some(number)),
            Some(number) => Err(format!("{number} in `{text}` is not {smallest} to {largest}")),
        };
        let seconds = || {
            let digits = limit(0, 0, u32::from(SECOND_DIGITS))?;
            Ok::<u8, String>(digits.map_or(SECOND_DIGITS, |digits| digits as u8))
        };
        let parsed = match name.as_str() {
            "smallint" | "int2" => Self::SmallInt,
            "integer" | "int" | "int4" => Self::Integer,
            "bigint" | "int8" => Self::BigInt,
            "real" | "float4" => Self::Real,
            "double precision" | "double" | "float" | "float8" => Self::DoublePrecision,
            "numeric" | "decimal" => {
                let digits = limit(0, 1, 1000)?;
                let scale = limit(1, 0, digits.unwrap_or(0))?.unwrap_or(0);
                Self::Numeric(digits.map(|digits| (digits as u16, scale as u16)))
            }
            "boolean" | "bool" => Self::Boolean,
            "text" => Self::Text,
            "citext" => Self::Citext,
            "varchar" | "character varying" => Self::Varchar(limit(0, 1, 10_485_760)?),
            "char" | "character" => Self::Char(limit(0, 1, 10_485_760)?.unwrap_or(1)),
            "uuid" => Self::Uuid,
            "date" => Self::Date,
            "time" | "time without time zone" => Self::Time(seconds()?),
            "timestamp" | "timestamp without time zone" => Self::Timestamp(seconds()?),
            "timestamptz" | "timestamp with time zone" => Self::TimestampTz(seconds()?),
            "bytea" => Self::Bytea,
            "json" => Self::Json,
            "jsonb" => Self::Jsonb,
            "interval" => Self::Interval(seconds()?),
            "inet" => Self::Inet,
            "cidr" => Self::Cidr,
            "macaddr" => Self::MacAddr,
            "money" => Self::Money(MONEY_DIGITS),
            _ => return Err(unknown()),
        };
        let takes_numbers = parsed.to_string().contains('(')
            || matches!(
                parsed,
                Self::Time(_) | Self::Timestamp(_) | Self::TimestampTz(_) | Self::Interval(_)
            );
        if numbers.is_empty() || takes_numbers { Ok(parsed) } else { Err(unknown()) }
    }
}

/// The same of a type that a user writes, where nothing may be passed over.
fn written_parts(lower: &str) -> Option<(String, Vec<u32>)> {
    let (name, numbers) = declared_parts(lower);
    let brackets = lower.matches(['(', ')']).collect::<String>();
    let written = match brackets.as_str() {
        "" => 0,
        "()" => 1 + lower.matches(',').count(),
        _ => return None,
    };
    let most = if ["numeric", "decimal"].contains(&name.as_str()) { 2 } else { 1 };
    (numbers.len() == written && written <= most).then_some((name, numbers))
}

/// Splits a type as written into its words and the numbers in its brackets:
/// `"timestamp (3) with time zone"` gives `("timestamp with time zone", [3])`.
pub fn declared_parts(lower: &str) -> (String, Vec<u32>) {
    let (before, inside, after) = match lower.split_once('(') {
        None => (lower, "", ""),
        Some((before, rest)) => {
            let (inside, after) = rest.split_once(')').unwrap_or((rest, ""));
            (before, inside, after)
        }
    };
    let words: Vec<&str> = before.split_whitespace().chain(after.split_whitespace()).collect();
    let numbers = inside.split(',').map_while(|number| number.trim().parse().ok()).collect();
    (words.join(" "), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_type_is_read_again() {
        for text in [
            "smallint",
            "integer",
            "bigint",
            "real",
            "double precision",
            "numeric",
            "numeric(10,2)",
            "boolean",
            "text",
            "citext",
            "varchar",
            "varchar(512)",
            "char(3)",
            "uuid",
            "date",
            "time",
            "timestamp(3)",
            "timestamp",
            "timestamptz",
            "bytea",
            "json",
            "jsonb",
            "interval",
            "interval(3)",
            "inet",
            "cidr",
            "macaddr",
            "money",
            "numeric(10,2)[]",
        ] {
            assert_eq!(text.parse::<PostgresType>().unwrap().to_string(), text);
        }
        assert_eq!("Timestamp (3) With Time Zone".parse(), Ok(PostgresType::TimestampTz(3)));
    }

    #[test]
    fn types_that_postgresql_refuses_are_refused() {
        for text in
            ["varchar(0)", "numeric(0)", "numeric(4,5)", "timestamp(7)", "uuid(3)", "citext[]", "x"]
        {
            assert!(text.parse::<PostgresType>().is_err(), "{text}");
        }
    }

    #[test]
    fn malformed_types_are_refused() {
        let malformed = [
            "varchar(x)",
            "varchar()",
            "varchar(-5)",
            "varchar(1.5)",
            "varchar(99999999999999999999)",
            "varchar(32",
            "timestamp 3)",
            "varchar(3,4)",
            "numeric(10,2,5)",
            "numeric(10,-2)",
            "varchar((3))",
            "text,",
        ];
        for text in malformed {
            assert!(text.parse::<PostgresType>().is_err(), "{text}");
        }
    }
}
