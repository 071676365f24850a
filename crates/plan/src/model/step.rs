//! `[[step]]`: changes to a copy of the data, each on top of all earlier ones. The factor `step` has
//! their names as levels, so what each change brings is measured in every block.

use std::collections::BTreeMap;

use engine::EngineKind;
use serde::{Deserialize, Serialize};

use crate::{Level, Levels};

/// The factor whose levels are the names of the plan's steps.
pub const STEP: &str = "step";

/// A change to the copy of each engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// A level of the factor `step`.
    pub name: String,
    #[serde(default, skip_serializing_if = "StepChanges::is_empty")]
    pub sqlite: StepChanges,
    #[serde(default, skip_serializing_if = "StepChanges::is_empty")]
    pub postgres: StepChanges,
}

/// Changes of a step to engines of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepChanges {
    /// Executed once on the copy, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<String>,
    /// Set on every connection.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl StepChanges {
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.settings.is_empty()
    }

    /// These changes and then `later` ones.
    pub(crate) fn followed_by(mut self, later: &Self) -> Self {
        self.statements.extend(later.statements.iter().cloned());
        self.settings.extend(later.settings.clone());
        self
    }
}

impl Step {
    /// The level of the factor `step` that it is.
    pub fn levels(&self) -> Levels {
        Levels::from([(STEP.to_owned(), Level::Text(self.name.clone()))])
    }

    pub fn changes(&self, kind: EngineKind) -> Option<&StepChanges> {
        match kind {
            EngineKind::Sqlite => Some(&self.sqlite),
            EngineKind::Postgres => Some(&self.postgres),
            EngineKind::Mariadb
            | EngineKind::Mysql
            | EngineKind::Http
            | EngineKind::Dir
            | EngineKind::Tree
            | EngineKind::SqliteDir => None,
        }
    }
}
