//! `data`: where the rows come from that every engine holds.

use std::fmt;
use std::path::PathBuf;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Where the data comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "WrittenData")]
pub enum Data {
    /// The engines hold it already.
    Present,
    /// A SQLite file, copied into every engine. Its path may hold placeholders.
    File(PathBuf),
    /// A command that makes the SQLite file `{path}`; run once for each set of levels in its words
    /// and kept. The statements are carried out on the file before it is.
    Command { words: Vec<String>, statements: Vec<String> },
}

/// The two ways in which `data` is written.
#[derive(Clone, Serialize)]
#[serde(untagged)]
enum WrittenData {
    Text(String),
    Table(DataTable),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DataTable {
    command: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    statements: Vec<String>,
}

impl Data {
    pub(crate) fn present() -> Self {
        Self::Present
    }

    /// Every text in which a placeholder may stand, with its key.
    pub fn texts(&self) -> impl Iterator<Item = (String, &str)> {
        let texts: Vec<(String, &str)> = match self {
            Self::Present => Vec::new(),
            Self::File(path) => {
                path.to_str().map(|path| ("data".to_owned(), path)).into_iter().collect()
            }
            Self::Command { words, statements } => {
                let keyed = [("command", words), ("statements", statements)];
                let keyed = keyed.into_iter().flat_map(|(key, texts)| {
                    let texts = texts.iter().enumerate();
                    texts.map(move |(place, text)| (format!("data.{key}.{place}"), text.as_str()))
                });
                keyed.collect()
            }
        };
        texts.into_iter()
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ways;

        impl<'de> Visitor<'de> for Ways {
            type Value = Data;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(
                    "the path of a SQLite file, \"present\", or { command = [\"program\", \"{path}\"] }",
                )
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Data, E> {
                Ok(match text {
                    "present" => Data::Present,
                    path => Data::File(engine::sqlite_path(path.as_ref())),
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Data, A::Error> {
                let DataTable { command: words, statements } =
                    DataTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Data::Command { words, statements })
            }
        }

        deserializer.deserialize_any(Ways)
    }
}

impl From<Data> for WrittenData {
    fn from(data: Data) -> Self {
        match data {
            Data::Present => Self::Text("present".to_owned()),
            Data::File(path) => Self::Text(path.display().to_string()),
            Data::Command { words: command, statements } => {
                Self::Table(DataTable { command, statements })
            }
        }
    }
}
