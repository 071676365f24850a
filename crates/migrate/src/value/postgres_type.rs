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
    /// `interval` with all its fields and digits of a second
    Interval,
    Inet,
    Cidr,
    MacAddr,
    /// `money`, with the decimal digits of the server's `lc_monetary`
    Money(u8),
    /// An array of any number of dimensions, of elements whose type PostgreSQL itself brings
    Array(Box<PostgresType>),
}

/// The most digits of a second that PostgreSQL keeps, and its default.
pub const SECOND_DIGITS: u8 = 6;
/// Decimal digits of `money` under most `lc_monetary`, where no server has been asked.
const MONEY_DIGITS: u8 = 2;

impl PostgresType {
    /// The type of a catalog entry: the base type's name, `atttypmod`, and the labels of an enum.
    /// `None` if Crossover does not write this type. The name of an array is that of its elements and `[]`,
    /// the modifier of `money` its decimal digits.
    pub fn from_catalog(name: &str, modifier: i32, labels: &[String], shown: &str) -> Option<Self> {
        // Character types and numeric count four bytes of header in the modifier.
        let length = u32::try_from(modifier - 4).ok().filter(|_| modifier >= 4);
        let digits = u8::try_from(modifier).unwrap_or(SECOND_DIGITS);
        if let Some(element) = name.strip_suffix("[]") {
            let element = Self::from_catalog(element, modifier, labels, shown)?;
            return element.array_oid().map(|_| Self::Array(Box::new(element)));
        }
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
            // Others limit the fields or the digits of a second.
            "interval" if modifier == -1 => Self::Interval,
            "inet" => Self::Inet,
            "cidr" => Self::Cidr,
            "macaddr" => Self::MacAddr,
            "money" => Self::Money(u8::try_from(modifier).ok()?),
            _ => return None,
        })
    }

    /// PostgreSQL's number of this type as the element of an array; `None` for a type that a database
    /// numbers by itself, and for those that come back in another form than they were sent.
    pub fn array_oid(&self) -> Option<u32> {
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
            Self::Varchar(_) => 1043,
            Self::Date => 1082,
            Self::Time(_) => 1083,
            Self::Timestamp(_) => 1114,
            Self::TimestampTz(_) => 1184,
            Self::Interval => 1186,
            Self::Numeric(_) => 1700,
            Self::Uuid => 2950,
            Self::Citext | Self::Char(_) | Self::Enum { .. } | Self::Jsonb | Self::Array(_) => {
                return None;
            }
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
            Self::Interval => formatter.write_str("interval"),
            Self::Inet => formatter.write_str("inet"),
            Self::Cidr => formatter.write_str("cidr"),
            Self::MacAddr => formatter.write_str("macaddr"),
            Self::Money(_) => formatter.write_str("money"),
            Self::Array(element) => write!(formatter, "{element}[]"),
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
            element.array_oid().ok_or_else(unknown)?;
            return Ok(Self::Array(Box::new(element)));
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
            "interval" => Self::Interval,
            "inet" => Self::Inet,
            "cidr" => Self::Cidr,
            "macaddr" => Self::MacAddr,
            "money" => Self::Money(MONEY_DIGITS),
            _ => return Err(unknown()),
        };
        let takes_numbers = parsed.to_string().contains('(')
            || matches!(parsed, Self::Time(_) | Self::Timestamp(_) | Self::TimestampTz(_));
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
            ["varchar(0)", "numeric(0)", "numeric(4,5)", "timestamp(7)", "uuid(3)", "jsonb[]", "x"]
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

    #[test]
    fn modifiers_of_the_catalog() {
        let of = |name, modifier| PostgresType::from_catalog(name, modifier, &[], "");
        assert_eq!(of("varchar", 260), Some(PostgresType::Varchar(Some(256))));
        assert_eq!(of("varchar", -1), Some(PostgresType::Varchar(None)));
        assert_eq!(of("numeric", (10 << 16 | 2) + 4), Some(PostgresType::Numeric(Some((10, 2)))));
        assert_eq!(of("timestamptz", -1), Some(PostgresType::TimestampTz(6)));
        assert_eq!(of("timestamptz", 0), Some(PostgresType::TimestampTz(0)));
        assert_eq!(of("interval", -1), Some(PostgresType::Interval));
        assert_eq!(of("interval", 0x7fff_0003), None);
        assert_eq!(of("money", 2), Some(PostgresType::Money(2)));
        let limited = Box::new(PostgresType::Varchar(Some(256)));
        assert_eq!(of("varchar[]", 260), Some(PostgresType::Array(limited)));
        assert_eq!(of("citext[]", -1), None);
        assert_eq!(of("tsvector", -1), None);
    }
}
