//! `data`: where the rows come from that every engine holds.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the data comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Data {
    /// The engines hold it already.
    Present,
    /// A SQLite file, copied into every engine. Its path may hold placeholders.
    File(PathBuf),
    /// A command that makes the SQLite file `{path}`; run once for each set of levels in its words
    /// and kept.
    Command(Vec<String>),
}

/// The two ways in which `data` is written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "data is the path of a SQLite file, \"present\", or { command = [\"program\", \
                 \"{path}\"] }"
)]
enum Written {
    Text(String),
    Table(Table),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    command: Vec<String>,
}

impl Data {
    pub(super) fn present() -> Self {
        Self::Present
    }

    /// Every text in which a placeholder may stand.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let words: Vec<&str> = match self {
            Self::Present => Vec::new(),
            Self::File(path) => path.to_str().into_iter().collect(),
            Self::Command(words) => words.iter().map(String::as_str).collect(),
        };
        words.into_iter()
    }
}

impl From<Written> for Data {
    fn from(written: Written) -> Self {
        match written {
            Written::Text(text) if text == "present" => Self::Present,
            Written::Text(text) => Self::File(text.into()),
            Written::Table(Table { command }) => Self::Command(command),
        }
    }
}

impl From<Data> for Written {
    fn from(data: Data) -> Self {
        match data {
            Data::Present => Self::Text("present".to_owned()),
            Data::File(path) => Self::Text(path.display().to_string()),
            Data::Command(command) => Self::Table(Table { command }),
        }
    }
}
