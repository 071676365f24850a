//! Errors of a plan: the place of a mistake, what is wrong, and the way out.

use std::path::PathBuf;

use crate::place;

/// A fault of a plan, its place, and its remedy.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file cannot be read.
    #[error("cannot read the plan {path}: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// The text is not a plan: syntax, an unknown key, a wrong type.
    #[error("{place}: {message}")]
    Malformed { place: String, message: String },
    /// The text can be read but not carried out.
    #[error("{}: {message}", place::without_indices(key))]
    Impossible {
        /// The key that is at fault, with its places in lists: `factors.days.levels.1`.
        key: String,
        /// The fault and the remedy.
        message: String,
    },
}

impl PlanError {
    pub fn impossible(key: &str, message: impl Into<String>) -> Self {
        Self::Impossible { key: key.to_owned(), message: message.into() }
    }

    /// The same with file, line and column, where the plan's text is at hand.
    #[must_use]
    pub fn located(&self, text: &str, name: &str) -> Option<Self> {
        match self {
            Self::Impossible { key, .. } => Some(Self::Malformed {
                place: place::of_key(text, name, key),
                message: self.to_string(),
            }),
            _ => None,
        }
    }

    /// A mistake of one of the engines, which is known by its place in the list.
    #[must_use]
    pub fn of_engine(self, index: usize) -> Self {
        match self {
            Self::Impossible { key, message } if key == "engines" => {
                Self::Impossible { key: format!("engines.{index}"), message }
            }
            other => other,
        }
    }
}
