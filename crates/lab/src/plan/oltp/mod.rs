//! `[oltp]`: what a transaction does, on which tables, and what is made equal between engines.

mod check;

use std::collections::{BTreeMap, BTreeSet};

use ::oltp::{CharacterSet, Collation, Distribution, Mix, Schema, TableOptions};
use engine::{EngineSource, EngineSpec, Settings};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Level, Plan, PlanError, Seconds, words};
use crate::schedule::Levels;

/// Factors that act on the load of every engine, by their names.
pub(crate) const LOAD_FACTORS: [&str; 3] = ["mix", "distribution", "client_character_set"];
/// Factors for which every engine is filled and started anew.
pub(crate) const START_FACTORS: [&str; 4] = ["tables", "table_size", "character_set", "collation"];

/// Keys that an engine may have for itself, in its brackets: no engine has settings of these names.
const ENGINE_KEYS: [&str; 3] = ["character_set", "client_character_set", "collation"];

/// The tables hold the same rows in every run, so that filled servers can be kept.
const TABLE_SEED: u64 = 1;

/// What workload `oltp` does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Oltp {
    /// What a transaction does; a factor of this name, as of each of the next six, stands above it.
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
    /// How clients reach the servers that Crossover starts.
    pub transport: Transport,
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

/// How clients reach a server on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    #[default]
    Socket,
    /// TCP on 127.0.0.1: PostgreSQL.
    Tcp,
}

/// What a trial that writes shows of checkpoints.
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
#[serde(from = "Written", into = "String")]
pub struct Setting(pub String);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a setting is a text, a number, true or false")]
enum Written {
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

impl From<Written> for Setting {
    fn from(written: Written) -> Self {
        Self(match written {
            Written::Boolean(true) => "on".to_owned(),
            Written::Boolean(false) => "off".to_owned(),
            Written::Integer(number) => number.to_string(),
            Written::Number(number) => number.to_string(),
            Written::Text(text) => text,
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
            transport: Transport::Socket,
            checkpoints: None,
            initdb: Initdb::default(),
            settings: BTreeMap::new(),
        }
    }
}

/// An engine with its own settings alone, under the same label.
pub(crate) fn without_our_keys(engine: &EngineSpec) -> Result<EngineSpec, PlanError> {
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
    fn take_texts(&mut self, levels: &Levels) -> Result<(), PlanError> {
        level(levels, "character_set", &mut self.character_set)?;
        level(levels, "client_character_set", &mut self.client_character_set)?;
        level(levels, "collation", &mut self.collation)
    }

    /// What of it belongs to the tables, in words.
    pub(crate) fn texts(&self) -> String {
        format!("stored in {}, ordered by {}", self.character_set.name(), self.collation.name())
    }

    /// The tables of `schema`.
    pub(crate) fn table_options(&self, schema: Schema) -> TableOptions {
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
    pub(crate) fn settings_of(&self, kind: &str) -> Vec<(String, String)> {
        let kind = if kind == "mysql" { "mariadb" } else { kind };
        let settings = self.settings.get(kind).into_iter().flatten();
        settings.map(|(name, Setting(value))| (name.clone(), value.clone())).collect()
    }

    /// What the report's first line says of it.
    pub(crate) fn describe(&self, plan: &Plan) -> String {
        let varied = |name: &str| plan.factors.contains_key(name);
        let writes = plan.mixes().is_ok_and(|mixes| mixes.iter().any(|mix| mix.writes()));
        let is_started = |engine: &EngineSpec| {
            use EngineSource::{Mariadb, MariadbFolder, Postgres, PostgresFolder};
            matches!(engine.source, Postgres(_) | PostgresFolder(_) | Mariadb | MariadbFolder(_))
        };
        let mut parts = Vec::new();
        if !varied("mix") {
            parts.push(format!("workload {}", self.mix));
        }
        let tables = match (varied("tables"), self.tables) {
            (true, _) => "tables".to_owned(),
            (false, 1) => "1 table".to_owned(),
            (false, tables) => format!("{tables} tables"),
        };
        parts.push(match varied("table_size") {
            true => tables,
            false => format!("{tables} of {} rows", with_commas(self.table_size)),
        });
        if !varied("distribution") {
            parts.push(format!("keys {}", self.distribution));
        }
        parts.push("prepared statements".to_owned());
        if plan.engines.iter().any(is_started) {
            parts.push(match self.transport {
                Transport::Socket => "servers of Crossover's by Unix socket".to_owned(),
                Transport::Tcp => "servers of Crossover's by TCP on this machine".to_owned(),
            });
        }
        parts.push(format!("{} of warm-up before each trial", self.warm_up));
        // What has come of it is said of each treatment, as the engines count.
        match self.checkpoints.filter(|_| writes) {
            Some(Checkpoints::Between) => {
                parts.push("no checkpoint is to end in a trial that writes".to_owned());
            }
            Some(Checkpoints::Sustained) => {
                parts.push("two checkpoints or more are to end in a trial that writes".to_owned());
            }
            None => {}
        }
        parts.join("; ")
    }
}

/// `1,000,000`.
fn with_commas(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl Plan {
    /// `[oltp]` at `levels`.
    pub(crate) fn oltp_at(&self, levels: &Levels) -> Result<Oltp, PlanError> {
        let mut oltp = self.oltp.clone().unwrap_or_default();
        level(levels, "mix", &mut oltp.mix)?;
        level(levels, "distribution", &mut oltp.distribution)?;
        level(levels, "tables", &mut oltp.tables)?;
        level(levels, "table_size", &mut oltp.table_size)?;
        oltp.take_texts(levels)?;
        for (name, number) in [("tables", oltp.tables), ("table_size", oltp.table_size)] {
            if number == 0 {
                return Err(PlanError::impossible(&format!("oltp.{name}"), "is 0"));
            }
        }
        Ok(oltp)
    }

    /// The same for one engine, whose brackets stand above it.
    pub(crate) fn oltp_of(&self, engine: &EngineSpec, levels: &Levels) -> Result<Oltp, PlanError> {
        let mut oltp = self.oltp_at(levels)?;
        let own = engine.settings.iter().filter(|(key, _)| ENGINE_KEYS.contains(key));
        let own = own.map(|(key, value)| (key.to_owned(), Level::Text(value.to_owned())));
        oltp.take_texts(&own.collect()).map_err(|error| match error {
            PlanError::Impossible { message, .. } => {
                PlanError::impossible("engines", format!("{}: {message}", engine.label()))
            }
            other => other,
        })?;
        Ok(oltp)
    }

    /// Every mix that is measured.
    pub(crate) fn mixes(&self) -> Result<BTreeSet<Mix>, PlanError> {
        let of = |level: &Level| {
            let levels = Levels::from([("mix".to_owned(), level.clone())]);
            Ok(self.oltp_at(&levels)?.mix)
        };
        match self.factors.get("mix") {
            Some(factor) => factor.levels.iter().map(of).collect(),
            None => Ok(BTreeSet::from([self.oltp_at(&Levels::new())?.mix])),
        }
    }

    /// The most clients that any trial has.
    pub(crate) fn most_clients(&self) -> u16 {
        let levels = self.factors.get("clients").map(|factor| factor.levels.as_slice());
        let clients = levels
            .unwrap_or_default()
            .iter()
            .map(|level| super::clients(&Levels::from([("clients".to_owned(), level.clone())])));
        clients.max().unwrap_or(1)
    }
}

/// Takes the level of a factor, if there is one.
fn level<T: DeserializeOwned>(levels: &Levels, name: &str, value: &mut T) -> Result<(), PlanError> {
    let Some(level) = levels.get(name) else { return Ok(()) };
    let written = match level {
        Level::Text(text) => serde_json::Value::from(text.as_str()),
        #[expect(clippy::cast_possible_truncation, reason = "whole numbers of rows and tables")]
        Level::Number(number) if number.fract() == 0.0 => serde_json::Value::from(*number as i64),
        Level::Number(number) => serde_json::Value::from(*number),
    };
    *value = serde_json::from_value(written).map_err(|error| {
        let message = words::of_serde(&error.to_string(), &level.to_string());
        PlanError::impossible(&format!("factors.{name}"), message)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
