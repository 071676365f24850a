//! `data`: where the rows come from that every engine holds.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the data comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Data {
    /// The engines hold it already.
    Present,
    /// A SQLite file, copied into every engine.
    File(PathBuf),
}

impl Data {
    pub(super) fn present() -> Self {
        Self::Present
    }
}

impl From<String> for Data {
    fn from(text: String) -> Self {
        if text == "present" { Self::Present } else { Self::File(text.into()) }
    }
}

impl From<Data> for String {
    fn from(data: Data) -> Self {
        match data {
            Data::Present => "present".to_owned(),
            Data::File(path) => path.display().to_string(),
        }
    }
}
