//! State of a table after a trial that wrote to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A table that a trial wrote to, at the trial's end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct WrittenTable {
    pub rows: u64,
    /// The sum of its rows' hashes, values brought to one form; none where only rows are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The same of each column by itself, which says in which of them two engines differ.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// Columns that are not in the digest: those that the plan ignores, and numbers that the engine
    /// itself gives to new rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}
