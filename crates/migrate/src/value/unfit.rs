//! Reasons why a stored value does not fit a PostgreSQL column, one variant each.

use rusqlite::types::ValueRef;
use serde::Serialize;

/// SQLite's storage classes (<https://sqlite.org/datatype3.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum StorageClass {
    Null,
    /// A signed integer of up to 64 bits
    Integer,
    /// A 64-bit float
    Real,
    /// Text, meant to be UTF-8
    Text,
    Blob,
}

impl StorageClass {
    pub fn of(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(_) => Self::Integer,
            ValueRef::Real(_) => Self::Real,
            ValueRef::Text(_) => Self::Text,
            ValueRef::Blob(_) => Self::Blob,
        }
    }

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The first fault of a text that is not a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JsonFault {
    /// The escape of NUL, which jsonb cannot store.
    NulEscape,
    /// Half of a surrogate pair, which jsonb cannot store.
    LoneSurrogate,
    /// NaN or Infinity, as Python writes them.
    NotANumber,
    /// Not JSON from this byte on, counted from 1; 0 in a summary of several values.
    Syntax { byte: usize },
}

/// Reason why a value does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Unfit {
    /// NULL in a column that is NOT NULL.
    Null,
    /// A storage class that the type has no form for.
    StorageClass(StorageClass),
    /// A number with a fraction in a column of integers.
    Fraction,
    OutOfRange,
    TooLong {
        /// Characters found; 0 in a summary of several values.
        characters: usize,
        limit: u32,
    },
    /// Digits or blanks that the type would drop.
    Rounded,
    InvalidUtf8,
    /// Text with a NUL character, which PostgreSQL cannot store.
    NulCharacter,
    /// Infinity where the type has none.
    NotFinite,
    /// A value that cannot be read as the type, for example an impossible date.
    Unreadable(StorageClass),
    /// Larger than PostgreSQL's 1 GB for one value.
    TooLarge,
    Json(JsonFault),
    /// A network with bits to the right of its mask.
    HostBits,
    /// An array of arrays that differ in length or depth.
    Ragged,
}

impl Unfit {
    /// The reason without the particulars of one value: findings are counted by it.
    pub fn kind(self) -> Self {
        match self {
            Self::TooLong { limit, .. } => Self::TooLong { characters: 0, limit },
            Self::Json(JsonFault::Syntax { .. }) => Self::Json(JsonFault::Syntax { byte: 0 }),
            other => other,
        }
    }

    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The place of the fault, behind a value; empty where it is the whole value.
    pub fn place(self) -> String {
        match self {
            Self::Json(JsonFault::Syntax { byte: byte @ 1.. }) => format!(" at byte {byte}"),
            _ => String::new(),
        }
    }

    /// The reason for one value of a column of the type named.
    pub fn explain(self, type_name: &str) -> String {
        match self {
            Self::Null => "NULL in a column that is NOT NULL".to_owned(),
            Self::StorageClass(class) => {
                format!("a {} value does not fit {type_name}", class.name())
            }
            Self::Fraction => format!("a number with a fraction does not fit {type_name}"),
            Self::OutOfRange => format!("beyond the range of {type_name}"),
            Self::TooLong { characters, .. } => {
                format!("{characters} characters do not fit {type_name}")
            }
            Self::Rounded => format!("{type_name} would not keep it whole"),
            Self::InvalidUtf8 => "the text is not valid UTF-8".to_owned(),
            Self::NulCharacter => {
                "the text holds a NUL character, which PostgreSQL cannot store".to_owned()
            }
            Self::NotFinite => format!("infinity does not fit {type_name}"),
            Self::Unreadable(_) => format!("it cannot be read as {type_name}"),
            Self::TooLarge => "PostgreSQL stores at most 1 GB in one value".to_owned(),
            Self::Json(fault) => format!("a text {}", fault.clause(true).trim_end_matches(',')),
            Self::HostBits => "it has bits to the right of its mask".to_owned(),
            Self::Ragged => "its inner arrays differ in length or depth".to_owned(),
        }
    }
}

impl JsonFault {
    /// Behind `text` or `texts`.
    pub fn clause(self, is_one: bool) -> String {
        let verb = if is_one { "is" } else { "are" };
        match self {
            Self::NulEscape => r"with the escape \u0000, which jsonb cannot store,".to_owned(),
            Self::LoneSurrogate => {
                "with half of a surrogate pair, which jsonb cannot store,".to_owned()
            }
            Self::NotANumber => "with NaN or Infinity, which JSON does not have,".to_owned(),
            Self::Syntax { byte: 0 } => format!("that {verb} not JSON"),
            Self::Syntax { byte } => format!("that {verb} not JSON from byte {byte} on"),
        }
    }
}
