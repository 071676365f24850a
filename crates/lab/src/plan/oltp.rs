//! `[oltp]`: what a transaction does, on which tables, and what is made equal between engines.

use std::collections::{BTreeMap, BTreeSet};

use ::oltp::{CharacterSet, Collation, Distribution, Mix, Schema, TableOptions};
use engine::{EngineSource, EngineSpec};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{
    Application, ConnectionUse, Data, Level, LoadModel, Plan, PlanError, Scale, Seconds, Trial,
};
use crate::schedule::Levels;

/// Factors that act on the load of every engine, by their names.
pub(crate) const LOAD_FACTORS: [&str; 3] = ["mix", "distribution", "client_character_set"];
/// Factors for which every engine is filled and started anew.
pub(crate) const START_FACTORS: [&str; 4] = ["tables", "table_size", "character_set", "collation"];

/// The kinds of engine that can have common settings.
const KINDS: [&str; 3] = ["postgres", "sqlite", "mariadb"];

/// Sustained trials last at least so long: at a checkpoint every 30 s, the shortest interval that
/// PostgreSQL takes, two of them end in it.
const SUSTAINED_SECONDS_MIN: u64 = 90;

/// The tables hold the same rows in every run, so that filled servers can be kept.
const TABLE_SEED: u64 = 1;

/// What workload `oltp` does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Oltp {
    /// What a transaction does; a factor of this name, as of each of the next six, stands above it.
    pub mix: Mix,
    /// Which keys it chooses.
    pub distribution: Distribution,
    /// How many tables of the kind that the mix works on.
    pub tables: u32,
    /// Rows of each.
    pub table_size: u32,
    /// Of the stored texts.
    pub character_set: CharacterSet,
    /// Of the texts as they travel.
    pub client_character_set: CharacterSet,
    /// How texts are ordered.
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
    /// A Unix socket.
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

/// The choices of initdb.
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

impl Oltp {
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
        parts.push(match self.transport {
            Transport::Socket => "Unix socket".to_owned(),
            Transport::Tcp => "TCP".to_owned(),
        });
        parts.push(format!("{} of warm-up before each trial", self.warm_up));
        match self.checkpoints {
            Some(Checkpoints::Between) => parts.push("writes between checkpoints".to_owned()),
            Some(Checkpoints::Sustained) => parts.push("writes over checkpoints".to_owned()),
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
    ///
    /// # Errors
    /// A level that its key does not take.
    pub(crate) fn oltp_at(&self, levels: &Levels) -> Result<Oltp, PlanError> {
        let mut oltp = self.oltp.clone().unwrap_or_default();
        level(levels, "mix", &mut oltp.mix)?;
        level(levels, "distribution", &mut oltp.distribution)?;
        level(levels, "tables", &mut oltp.tables)?;
        level(levels, "table_size", &mut oltp.table_size)?;
        level(levels, "character_set", &mut oltp.character_set)?;
        level(levels, "client_character_set", &mut oltp.client_character_set)?;
        level(levels, "collation", &mut oltp.collation)?;
        for (name, number) in [("tables", oltp.tables), ("table_size", oltp.table_size)] {
            if number == 0 {
                return Err(PlanError::impossible(&format!("oltp.{name}"), "is 0"));
            }
        }
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

    /// Checks what the types cannot say; the number of clients becomes the x axis.
    pub(super) fn resolve_oltp(&mut self) -> Result<(), PlanError> {
        let oltp = self.oltp.get_or_insert_default();
        if let Some(kind) = oltp.settings.keys().find(|kind| !KINDS.contains(&kind.as_str())) {
            let suggestion = engine::nearest(kind, KINDS);
            let message = format!("there is no kind of engine `{kind}`{suggestion}");
            return Err(PlanError::impossible("oltp.settings", message));
        }
        let nothing_swept = self.factors.values().all(|factor| factor.swept.is_none());
        if let Some(clients) = self.factors.get_mut("clients")
            && nothing_swept
            && clients.levels.len() > 1
        {
            clients.swept = Some(Scale::Log);
        }
        self.refuse_foreign_keys()?;
        for name in LOAD_FACTORS.iter().chain(&START_FACTORS) {
            for level in self.factors.get(*name).into_iter().flat_map(|factor| &factor.levels) {
                self.oltp_at(&Levels::from([((*name).to_owned(), level.clone())]))?;
            }
        }
        self.oltp_at(&Levels::new())?;
        self.engines.iter().try_for_each(|engine| self.check_oltp_engine(engine))
    }

    /// Keys of the other workloads, and kinds of load that there are not.
    fn refuse_foreign_keys(&self) -> Result<(), PlanError> {
        let closed = self.load.model == LoadModel::Closed
            && self.load.think_time.is_none()
            && !self.factors.contains_key("think_time");
        let sustained =
            self.oltp.as_ref().and_then(|oltp| oltp.checkpoints) == Some(Checkpoints::Sustained);
        let time = match self.trial {
            Trial::Steady { time } => Some(time.0),
            Trial::Passes { .. } => None,
        };
        let wrong = [
            (
                !closed,
                "load",
                "clients of workload oltp never pause: closed load without think time",
            ),
            (
                self.load.connection != ConnectionUse::PerClient,
                "load.connection",
                "clients of workload oltp keep their connection: write \"per_client\"",
            ),
            (
                time.is_none(),
                "trial.mode",
                "write mode = \"steady\": transactions are counted in time",
            ),
            (
                self.data != Data::Present,
                "data",
                "workload oltp fills its own tables; leave it out",
            ),
            (
                self.application != Application::default(),
                "application",
                "workload oltp speaks to engines itself; leave it out",
            ),
            (
                !self.statements.is_empty() || self.invariant.is_some(),
                "statement",
                "workload oltp has statements of its own: oltp.mix names them",
            ),
            (!self.requests.is_empty(), "request", "belongs to workload = \"http\""),
            (
                sustained && time.is_some_and(|time| time < SUSTAINED_SECONDS_MIN),
                "oltp.checkpoints",
                "sustained needs trials of at least 90s, in which two checkpoints end",
            ),
        ];
        match wrong.into_iter().find(|(wrong, ..)| *wrong) {
            Some((_, key, message)) => Err(PlanError::impossible(key, message)),
            None => Ok(()),
        }
    }

    /// Engines that the workload cannot be done on as asked for.
    fn check_oltp_engine(&self, engine: &EngineSpec) -> Result<(), PlanError> {
        let refuse = |message: String| Err(PlanError::impossible("engines", message));
        let kind = engine.source.kind();
        if matches!(engine.source, EngineSource::SqliteFile(_)) {
            return refuse(format!("{engine} is yours, and rows are written; name sqlite"));
        }
        if !["sqlite", "postgres", "mariadb", "mysql"].contains(&kind) {
            return refuse(format!(
                "{engine} cannot be measured by workload oltp; there are sqlite, postgres, mariadb \
                 and URLs of PostgreSQL, MariaDB and MySQL"
            ));
        }
        let Some(oltp) = &self.oltp else { return Ok(()) };
        if oltp.transport == Transport::Tcp && kind == "mariadb" {
            return refuse(format!("{engine} is reached by a Unix socket only; give its URL"));
        }
        let mut sets = vec![oltp.character_set];
        let factor = self.factors.get("character_set").into_iter();
        for level in factor.flat_map(|factor| &factor.levels) {
            let levels = Levels::from([("character_set".to_owned(), level.clone())]);
            sets.push(self.oltp_at(&levels)?.character_set);
        }
        for set in sets {
            let wrong = match set {
                CharacterSet::Utf16 => kind != "sqlite",
                CharacterSet::Latin2 => kind == "sqlite",
                CharacterSet::Utf8 => false,
            };
            if wrong {
                let set = format!("{set:?}").to_lowercase();
                return refuse(format!(
                    "{engine} does not store {set}; utf16 is SQLite's, latin2 that of the others"
                ));
            }
        }
        Ok(())
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
    *value = serde_json::from_value(written)
        .map_err(|error| PlanError::impossible(&format!("factors.{name}"), error.to_string()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
title = "Is the newer release faster?"
workload = "oltp"
engines = ["postgres:14", "postgres:18", "sqlite"]

[oltp]
table_size = 1000
warm_up = "1s"

[oltp.settings.postgres]
shared_buffers = "64MB"
max_connections = 100
update_process_title = false

[factors]
clients = [1, 4]
mix = ["read_only", "read_write"]
"#;

    fn refusal(from: &str, to: &str) -> String {
        assert!(PLAN.contains(from), "{from}");
        crate::plan::read(&PLAN.replacen(from, to, 1), "plan.toml").unwrap_err().to_string()
    }

    #[test]
    fn a_plan_reads_back_as_itself_and_its_clients_are_the_axis() {
        let plan = crate::plan::read(PLAN, "plan.toml").unwrap();
        let again = crate::plan::read(&plan.to_toml().unwrap(), "plan.toml").unwrap();
        assert_eq!(again, plan);
        assert_eq!(plan.swept().unwrap().0, "clients");
        assert_eq!(plan.most_clients(), 4);
        assert_eq!(plan.mixes().unwrap(), BTreeSet::from([Mix::ReadOnly, Mix::ReadWrite]));
        let settings = plan.oltp.as_ref().unwrap().settings_of("postgres");
        let off = ("update_process_title".to_owned(), "off".to_owned());
        assert!(settings.contains(&off), "{settings:?}");
        assert_eq!(with_commas(1_000_000), "1,000,000");
    }

    #[test]
    fn what_the_workload_cannot_do_is_refused_by_its_key() {
        let mix = refusal("\"read_write\"", "\"read_right\"");
        assert!(mix.contains("factors.mix") && mix.contains("read_write"), "{mix}");
        let file = refusal("\"sqlite\"", "\"sqlite:mine.db\"");
        assert!(file.contains("is yours"), "{file}");
        let kind = refusal("oltp.settings.postgres", "oltp.settings.postgre");
        assert!(kind.contains("did you mean `postgres`"), "{kind}");
        let short = refusal("[oltp]", "[oltp]\ncheckpoints = \"sustained\"");
        assert!(short.contains("at least 90s"), "{short}");
        let set = refusal("[oltp]", "[oltp]\ncharacter_set = \"latin2\"");
        assert!(set.contains("sqlite does not store latin2"), "{set}");
        let open = refusal("[factors]", "[load]\nthink_time = \"1s\"\n[factors]");
        assert!(open.contains("never pause"), "{open}");
        let other = PLAN.replacen("\"oltp\"", "\"sql\"", 1);
        let other = crate::plan::read(&other, "plan.toml").unwrap_err().to_string();
        assert!(other.contains("plan, oltp:"), "{other}");
    }
}
