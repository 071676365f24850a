//! Facts of `crossover try` besides the trials: statements without a measurement, and how steps were
//! searched for.

use serde::{Deserialize, Serialize};

/// Facts of a try that its plan and trials do not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct AssessmentRecord {
    /// The user's file.
    pub source: String,
    pub not_measured: Vec<NotMeasured>,
    /// Sentences on versions and on the search for indexes, for the reader of the answer.
    #[serde(default)]
    pub notes: Vec<String>,
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
