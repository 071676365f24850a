//! A factor and its levels: what is varied in an experiment.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// One value of a factor.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Level {
    /// A number, on which a sweep can be bisected.
    Number(f64),
    Text(String),
}

/// One level of each factor.
pub type Levels = BTreeMap<String, Level>;

impl Level {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;

        impl Visitor<'_> for Value {
            type Value = Level;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number or a text in quotes")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Level, E> {
                Ok(Level::Number(number as f64))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Level, E> {
                Ok(Level::Number(number as f64))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Level, E> {
                Ok(Level::Number(number))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Level, E> {
                Ok(Level::Text(text.to_owned()))
            }
        }

        deserializer.deserialize_any(Value)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

impl Ord for Level {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Level {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Level {}

/// The scale of a swept factor's axis, on which it is bisected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    Linear,
    Log,
}

/// The levels of one factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "WrittenFactor")]
pub struct Factor {
    /// The levels, in the order of the plan.
    pub levels: Vec<Level>,
    /// Names of the levels, in the same order; empty where the values are the names.
    pub labels: Vec<String>,
    /// Whether it is the x axis, and on which scale.
    pub swept: Option<Scale>,
    /// Whether levels are added inside a bracket to narrow a crossing.
    pub bisect: bool,
    /// Varied by itself: each of its further levels is measured with every other such factor at
    /// its first level, not in all combinations.
    pub alone: bool,
}

impl Factor {
    /// Levels without labels, not swept.
    pub fn new(levels: Vec<Level>) -> Self {
        Self { levels, labels: Vec::new(), swept: None, bisect: false, alone: false }
    }

    /// The name of the level `value`.
    pub fn label(&self, value: &Level) -> Option<&str> {
        let index = self.levels.iter().position(|level| level == value)?;
        self.labels.get(index).map(String::as_str)
    }
}

/// The two ways a factor is written.
#[derive(Clone, Serialize)]
#[serde(untagged)]
enum WrittenFactor {
    List(Vec<Level>),
    Table(FactorTable),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FactorTable {
    levels: Vec<Level>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    labels: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    swept: Option<Scale>,
    #[serde(default, skip_serializing_if = "is_false")]
    bisect: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    alone: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ways;

        impl<'de> Visitor<'de> for Ways {
            type Value = Factor;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(
                    "a list of levels, or { levels = [...], swept = \"log\" or \"linear\", bisect = \
                     true, alone = true, labels = [...] }",
                )
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Factor, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Factor::new)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Factor, A::Error> {
                let table = FactorTable::deserialize(MapAccessDeserializer::new(map))?;
                let FactorTable { levels, labels, swept, bisect, alone } = table;
                Ok(Factor { levels, labels, swept, bisect, alone })
            }
        }

        deserializer.deserialize_any(Ways)
    }
}

impl From<Factor> for WrittenFactor {
    fn from(factor: Factor) -> Self {
        let Factor { levels, labels, swept, bisect, alone } = factor;
        if labels.is_empty() && swept.is_none() && !bisect && !alone {
            Self::List(levels)
        } else {
            Self::Table(FactorTable { levels, labels, swept, bisect, alone })
        }
    }
}
