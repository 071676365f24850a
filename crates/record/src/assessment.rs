//! Facts of `crossover try` besides the trials: statements without a measurement, and how steps were
//! searched for.

use serde::{Deserialize, Serialize};

/// Facts of a try that its plan and trials do not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct AssessmentRecord {
    /// The user's file.
    pub source: String,
    pub not_measured: Vec<NotMeasured>,
    /// Releases that were compared, and what sets their builds apart.
    #[serde(default)]
    pub versions: Vec<String>,
    /// Limits of the comparison of the engines at their best.
    #[serde(default)]
    pub limits: Vec<String>,
    /// Further sentences for the reader of the answer: how indexes were found, facts of a log, sizes.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The command that compares PostgreSQL, where SQLite was measured alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_compare: Option<String>,
}

/// A statement that is not measured, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct NotMeasured {
    pub name: String,
    /// File and line, if the user wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub why: String,
}
