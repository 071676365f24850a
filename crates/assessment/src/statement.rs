//! A statement that is measured on both engines: derived from the schema, written by the user, or of
//! an application's log.

use std::collections::BTreeMap;

use engine::EngineKind;
use plan::Given;
use record::NotMeasured;
use serde::Serialize;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MeasuredStatement {
    /// Its name in tables and in the plan.
    pub name: String,
    /// The text, without the closing semicolon.
    pub text: String,
    /// The text for PostgreSQL where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postgres_text: Option<String>,
    /// Values of `:name` come from these queries, which give one column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<StatementParameter>,
    /// Or they are these sets, as the log has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<BTreeMap<String, Given>>,
    /// How often the log has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
    /// File and line of a user's statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The tables that it reads.
    pub tables: Vec<String>,
}

/// A parameter and the query that gives its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatementParameter {
    /// The name without its colon.
    pub name: String,
    /// A query of one column.
    pub query: String,
}

impl MeasuredStatement {
    pub fn text_for(&self, kind: EngineKind) -> &str {
        match &self.postgres_text {
            Some(text) if !kind.properties().is_embedded => text,
            _ => &self.text,
        }
    }

    /// That it is left out, and why.
    pub fn left_out(&self, why: impl Into<String>) -> NotMeasured {
        NotMeasured { name: self.name.clone(), place: self.place.clone(), why: why.into() }
    }
}
