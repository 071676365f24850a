//! Stated conversions of values that a column holds only in another form, counted by column.

use std::collections::BTreeMap;

use notation::{plural, thousands};
use serde::{Deserialize, Serialize};

use crate::finding::{Example, Finding};

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ConversionKind {
    /// Digits of a second are rounded to those of the type.
    SecondRounded,
    /// A moment with a zone becomes one of UTC without it.
    OffsetConverted,
    /// A number is rounded to the scale of the type.
    NumberRounded,
    /// A REAL is read by the 15 digits that SQLite shows of it.
    RealAsShown,
    /// Of a key that an object has more than once jsonb keeps the last.
    RepeatedKeys,
}

impl ConversionKind {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The conversions of one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conversions(u8);

impl Conversions {
    pub const NONE: Self = Self(0);

    pub fn of(kind: ConversionKind) -> Self {
        Self(1 << kind as u8)
    }

    /// The kind if `happens`.
    pub fn when(happens: bool, kind: ConversionKind) -> Self {
        if happens { Self::of(kind) } else { Self::NONE }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    pub fn kinds(self) -> impl Iterator<Item = ConversionKind> {
        let all: &[ConversionKind] = strum::VariantArray::VARIANTS;
        all.iter().copied().filter(move |kind| self.0 & Self::of(*kind).0 != 0)
    }
}

/// The values of a column that go through one conversion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnConversion {
    pub column: String,
    pub kind: ConversionKind,
    pub count: u64,
    /// The first of them.
    pub example: Example,
    /// The column's type in the target.
    pub postgres_type: String,
}

impl ColumnConversion {
    pub fn message(&self) -> String {
        let Self { count, postgres_type, .. } = self;
        let values = |what: &str| format!("{} {what}{}", thousands(*count), plural(*count));
        match self.kind {
            ConversionKind::SecondRounded => format!(
                "{} with more digits of a second than {postgres_type} keeps: rounded",
                values("value")
            ),
            ConversionKind::OffsetConverted => format!(
                "{} with a zone, which {postgres_type} does not keep: converted to UTC",
                values("text")
            ),
            ConversionKind::NumberRounded => {
                format!("{} with more digits than {postgres_type} keeps: rounded", values("number"))
            }
            ConversionKind::RealAsShown => {
                format!("{} read by the 15 digits that SQLite shows", values("real"))
            }
            ConversionKind::RepeatedKeys => format!(
                "{} a key more than once: jsonb keeps the last",
                values("document") + if *count == 1 { " has" } else { " have" }
            ),
        }
    }

    pub fn finding(&self, table: &str) -> Finding {
        Finding::warning(self.kind.name(), table, self.message(), "")
            .on_column(&self.column)
            .counted(self.count, vec![self.example.clone()])
    }

    /// The same conversion of other rows.
    fn is_of(&self, other: &Self) -> bool {
        (&self.column, self.kind) == (&other.column, other.kind)
    }
}

/// Adds the conversions of other rows of the same table.
pub fn add_conversions(all: &mut Vec<ColumnConversion>, others: Vec<ColumnConversion>) {
    for other in others {
        match all.iter_mut().find(|each| each.is_of(&other)) {
            Some(known) => known.count += other.count,
            None => all.push(other),
        }
    }
}

/// Counts by the place of a column.
#[derive(Default)]
pub struct ConversionTally(BTreeMap<(usize, ConversionKind), (u64, Example)>);

impl ConversionTally {
    /// Counts the conversions of a value; `example` is only asked for the first.
    pub fn add(&mut self, column: usize, conversions: Conversions, example: impl Fn() -> Example) {
        for kind in conversions.kinds() {
            self.0.entry((column, kind)).or_insert_with(|| (0, example())).0 += 1;
        }
    }

    /// The counts with the names and types of the columns.
    pub fn columns(self, name: impl Fn(usize) -> (String, String)) -> Vec<ColumnConversion> {
        let named =
            |((place, kind), (count, example)): ((usize, ConversionKind), (u64, Example))| {
                let (column, postgres_type) = name(place);
                ColumnConversion { column, kind, count, example, postgres_type }
            };
        self.0.into_iter().map(named).collect()
    }
}
