//! `[[request]]`: one request of workload `http`, and what is expected of its answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One request of the mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// A short name for tables; the path where there is none.
    #[serde(default)]
    pub name: String,
    /// Path and query, with placeholders.
    pub path: String,
    /// How often it is sent in a round.
    #[serde(default = "one")]
    pub weight: u32,
    /// What is expected of the answer.
    #[serde(default)]
    pub answer: AnswerCheck,
    /// Further headers, with placeholders.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

fn one() -> u32 {
    1
}

/// How an answer is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerCheck {
    /// Status 200 and the same bytes from every engine, every time.
    #[default]
    Exact,
    /// Status 200.
    Status,
}
