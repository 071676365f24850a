//! `[oltp]`: what a transaction does, on which tables, and what is made equal between engines.

mod distribution;
mod mix;
mod name;
mod statement;
mod table;

use std::collections::BTreeMap;

use engine::{EngineKind, EngineSpec, Settings};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use distribution::Distribution;
pub use mix::Mix;
pub use name::UnknownName;
pub use statement::{MixStatement, MixStep};
pub use table::{CharacterSet, Collation, Schema, TableOptions};

use crate::{ConnectionBy, Levels};
use crate::{Level, PlanError, Seconds, toml_message};

/// Factors that act on the load of every engine, by their names.
pub const LOAD_FACTORS: [&str; 3] = ["mix", "distribution", "client_character_set"];
/// Factors for which every engine is filled and started again.
pub const START_FACTORS: [&str; 4] = ["tables", "table_size", "character_set", "collation"];

/// Keys that an engine may have for itself, in its brackets: no engine has settings of these names.
pub(crate) const ENGINE_KEYS: [&str; 3] = ["character_set", "client_character_set", "collation"];

/// The tables hold the same rows in every run, so that filled servers can be kept.
const TABLE_SEED: u64 = 1;

/// The transactions of workload `oltp`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Oltp {
    /// The statements of a transaction; a factor of this name, as of each of the next six, stands
    /// above it.
    pub mix: Mix,
    pub distribution: Distribution,
    /// How many tables of the kind that the mix works on.
    pub tables: u32,
    pub table_size: u32,
    pub character_set: CharacterSet,
    /// Of the texts as they travel.
    pub client_character_set: CharacterSet,
    pub collation: Collation,
    /// Load before each trial that is not counted.
    pub warm_up: Seconds,
    /// How clients reach the servers that Crossover starts; the factor of this name stands above it.
    #[serde(alias = "transport")]
    pub connection_by: ConnectionBy,
    /// Which part of an engine's life trials that write are to show; none: whatever comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Checkpoints>,
    /// How the data directories of PostgreSQL are made, the same for every release.
    pub initdb: Initdb,
    /// Settings for every engine of a kind: `[oltp.settings.postgres]`. A release of PostgreSQL
    /// that does not have one goes without, and the report says so; an engine's own in brackets
    /// stand above them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, BTreeMap<String, Setting>>,
}

/// Checkpoints in a trial that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checkpoints {
    /// None ends in it: they are set far apart.
    Between,
    /// At least two end in it: they are set close together.
    Sustained,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Initdb {
    /// Checksums of pages: the default of release 18, and not of those before.
    pub data_checksums: bool,
    /// Locale of texts and messages.
    pub locale: String,
}

/// A value as an engine takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenOltp", into = "String")]
pub struct Setting(pub String);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a setting is a text, a number, true or false")]
enum WrittenOltp {
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

impl From<WrittenOltp> for Setting {
    fn from(written: WrittenOltp) -> Self {
        Self(match written {
            WrittenOltp::Boolean(true) => "on".to_owned(),
            WrittenOltp::Boolean(false) => "off".to_owned(),
            WrittenOltp::Integer(number) => number.to_string(),
            WrittenOltp::Number(number) => number.to_string(),
            WrittenOltp::Text(text) => text,
        })
    }
}

impl From<Setting> for String {
    fn from(setting: Setting) -> Self {
        setting.0
    }
}

impl Default for Initdb {
    fn default() -> Self {
        Self { data_checksums: true, locale: "C".to_owned() }
    }
}

impl Default for Oltp {
    fn default() -> Self {
        Self {
            mix: Mix::ReadOnly,
            distribution: Distribution::default(),
            tables: 1,
            table_size: 1_000_000,
            character_set: CharacterSet::Utf8,
            client_character_set: CharacterSet::Utf8,
            collation: Collation::Bytes,
            warm_up: Seconds(2),
            connection_by: ConnectionBy::Socket,
            checkpoints: None,
            initdb: Initdb::default(),
            settings: BTreeMap::new(),
        }
    }
}

/// An engine with its own settings alone, under the same label.
pub fn without_oltp_keys(engine: &EngineSpec) -> Result<EngineSpec, PlanError> {
    let mut settings = Settings::default();
    let mut set = |key: &str, value: &str| {
        settings.set(key, value).map_err(|message| PlanError::impossible("engines", message))
    };
    for (key, value) in engine.settings.iter().filter(|(key, _)| !ENGINE_KEYS.contains(key)) {
        set(key, value)?;
    }
    set("label", &engine.label())?;
    Ok(EngineSpec { source: engine.source.clone(), settings })
}

impl Oltp {
    /// How texts are stored, sent and ordered, as `levels` say.
    pub(crate) fn take_texts(&mut self, levels: &Levels) -> Result<(), PlanError> {
        level(levels, "character_set", &mut self.character_set)?;
        level(levels, "client_character_set", &mut self.client_character_set)?;
        level(levels, "collation", &mut self.collation)
    }

    /// The options of its tables' texts, in words.
    pub fn texts(&self) -> String {
        format!("stored in {}, ordered by {}", self.character_set.name(), self.collation.name())
    }

    /// The tables of `schema`.
    pub fn table_options(&self, schema: Schema) -> TableOptions {
        TableOptions {
            schema,
            // Only the classic family has several tables.
            tables: if schema == Schema::Sbtest { self.tables } else { 1 },
            table_size: self.table_size,
            seed: TABLE_SEED,
            character_set: self.character_set,
            collation: self.collation,
        }
    }

    /// The common settings of engines of this kind.
    pub fn settings_of(&self, kind: EngineKind) -> Vec<(String, String)> {
        let settings = self.settings.get(kind.name()).into_iter().flatten();
        settings.map(|(name, Setting(value))| (name.clone(), value.clone())).collect()
    }
}

/// Takes the level of a factor, if there is one.
pub(crate) fn level<T: DeserializeOwned>(
    levels: &Levels,
    name: &str,
    value: &mut T,
) -> Result<(), PlanError> {
    let Some(level) = levels.get(name) else { return Ok(()) };
    let written = match level {
        Level::Text(text) => serde_json::Value::from(text.as_str()),
        #[expect(clippy::cast_possible_truncation, reason = "whole numbers of rows and tables")]
        Level::Number(number) if number.fract() == 0.0 => serde_json::Value::from(*number as i64),
        Level::Number(number) => serde_json::Value::from(*number),
    };
    *value = serde_json::from_value(written).map_err(|error| {
        let message = toml_message::of_serde(&error.to_string(), &level.to_string());
        PlanError::impossible(&format!("factors.{name}"), message)
    })?;
    Ok(())
}
