//! Popularity of the keys of a table: sysbench's `--rand-type`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::name::{UnknownName, by_name};

/// How popular the keys of a table are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Distribution {
    /// Every key as any other.
    Uniform,
    /// Three quarters of the draws fall on keys in the middle, a few less than one per cent of
    /// them, the rest bell-shaped around the middle (each the mean of twelve draws).
    #[default]
    Special,
    /// The key of rank r in proportion to r^-0.8; key 1 is the most popular.
    Zipfian,
    /// 80% of the draws fall on the first 20% of the keys, 80% of those on the first 20% of
    /// these, and so on.
    Pareto,
}

impl Distribution {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in plans and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Distribution {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        by_name("distribution", text)
    }
}
