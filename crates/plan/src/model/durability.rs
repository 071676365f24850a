//! Durability of a committed transaction, as a plan asks for it and an engine is judged to have it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Events that a committed transaction survives.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    schemars::JsonSchema,
    Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Not even the end of the program: it lives in memory only.
    None,
    /// The end of the program, not that of the operating system.
    SurvivesProgramCrash,
    SurvivesPowerLoss,
    /// It could not be read back.
    #[default]
    Unknown,
}

impl fmt::Display for Durability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "none",
            Self::SurvivesProgramCrash => "survives a crash of the program",
            Self::SurvivesPowerLoss => "survives a power cut",
            Self::Unknown => "unknown",
        })
    }
}
