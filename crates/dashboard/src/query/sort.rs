//! The order of the rows: one column, ascending, or descending with a `-` before its name.

use std::fmt;

use serde::{Serialize, Serializer};

/// A column and a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    pub by: SortBy,
    /// Whether the greatest comes first.
    pub descending: bool,
}

/// The columns that rows can be ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SortBy {
    Pageviews,
    Sessions,
    EngagementSeconds,
    Key,
    Label,
}

impl SortBy {
    const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    fn name(self) -> &'static str {
        self.into()
    }
}

impl Sort {
    /// Reads `key`, `-pageviews` and so on.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (name, descending) = match text.strip_prefix('-') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let found = SortBy::ALL.iter().copied().find(|by| by.name() == name);
        found.map(|by| Self { by, descending }).ok_or_else(|| {
            let names: Vec<&str> = SortBy::ALL.iter().map(|by| by.name()).collect();
            format!(
                "{}, with a leading - for the greatest first{}",
                names.join(", "),
                engine::nearest(name, names)
            )
        })
    }
}

impl Default for Sort {
    fn default() -> Self {
        Self { by: SortBy::Pageviews, descending: true }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.descending { "-" } else { "" };
        write!(formatter, "{sign}{}", self.by.name())
    }
}

impl Serialize for Sort {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
