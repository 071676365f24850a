//! A database set up for an engine's turn in a block: filled, analysed, its server started, alone.
//! Workloads put what they measure on top: an application, or clients of their own.

mod address;
mod copy;
mod counters;
mod error;
mod postgres;
mod sqlite;
mod write_back;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::{DatabaseUrl, EngineSource, EngineSpec};
use indicatif::ProgressBar;
use server::{Locations, PostgresServer, StartOptions};

use crate::observe::temporary_files::TemporaryFiles;
use crate::plan::{Placeholders, Plan, PlanError, expand};
use crate::process::{ApplicationOptions, run_to_end};
use crate::record::EngineRecord;
use crate::resource::MemoryGroup;
use crate::run::{Dataset, Datasets, OneOff, RunOptions};
use crate::schedule::Levels;

pub(crate) use address::{Address, is_tcp, needs_tcp};
pub(crate) use copy::{DataUse, TRIAL, copy_statement, drop_statements};
pub use error::DeployError;
pub(crate) use postgres::{DATABASE, read_settings};
pub(crate) use sqlite::try_settings;

/// What every deployment of a run shares.
pub struct Site<'a> {
    pub plan: &'a Plan,
    /// The files that engines are filled from.
    pub datasets: &'a Datasets,
    /// A folder for the run's copies of SQLite files.
    pub scratch: &'a Path,
    /// Where the application's output goes.
    pub logs: &'a Path,
    /// A key that clients and application share for this run; never recorded.
    pub secret: &'a str,
    pub program: &'a Path,
    pub locations: &'a Locations,
    pub runtime: &'a tokio::runtime::Handle,
    /// Shown while servers are fetched and filled.
    pub progress: &'a ProgressBar,
    /// The user asked to stop.
    pub interrupted: &'a AtomicBool,
    /// What later deployments do not do again.
    pub(crate) one_off: &'a OneOff,
    /// Where the server side's memory is limited. Whoever deploys is inside this group.
    pub memory: Option<&'a MemoryGroup>,
}

/// A database with its data, settled and ready for connections.
pub struct Database {
    pub record: EngineRecord,
    pub url: DatabaseUrl,
    /// Folders or files with the data; none where they are out of sight.
    pub data_paths: Vec<PathBuf>,
    /// A server of the user's: its processes are not ours to count or to stop.
    pub out_of_sight: bool,
    server: Option<PostgresServer>,
    /// Of a server that we started, unless the plan sets what it logs.
    temporary_files: Option<TemporaryFiles>,
    /// What this is a copy of; none where it is the filled database itself.
    template: Option<copy::Template>,
}

impl Database {
    /// The first process of a server that we started.
    pub fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(PostgresServer::pid)
    }

    pub(crate) fn address(&self) -> Address {
        let listening = self.server.as_ref().zip(match &self.url {
            DatabaseUrl::Postgres(url) => url.database(),
            DatabaseUrl::Sqlite(_) => None,
        });
        match listening {
            Some((server, name)) => Address { url: self.url.clone(), tcp: server.tcp_url(name) },
            None => Address::of(self.url.clone()),
        }
    }

    /// The exact release of a server that we started.
    pub(crate) fn exact_version(&self) -> Option<&str> {
        self.server.as_ref().map(PostgresServer::exact_version)
    }

    /// Whether the server still runs, if one was started for it. An application that lives on
    /// without its database only answers with errors.
    pub fn check_alive(&mut self) -> Result<(), DeployError> {
        let Some(server) = &mut self.server else { return Ok(()) };
        if server.is_running() {
            return Ok(());
        }
        Err(DeployError::Ended {
            engine: self.record.name.clone(),
            last_words: server.last_words(),
        })
    }

    /// Stops the server, if one was started for it.
    pub fn retire(self, runtime: &tokio::runtime::Handle) -> Result<(), DeployError> {
        if let Some(server) = self.server {
            runtime.block_on(server.stop())?;
        }
        Ok(())
    }
}

/// Refuses an engine that cannot be had or set as asked for, before anything is measured: a
/// release is fetched, settings are tried on an empty database or by the server's own check.
pub fn check(engine: &EngineSpec, options: &RunOptions<'_>) -> Result<(), DeployError> {
    check_analyze(engine)?;
    match &engine.source {
        EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => {
            let start = StartOptions::for_engine(engine)?;
            let check = PostgresServer::check(
                options.locations,
                &start,
                options.progress,
                options.interrupted,
            );
            options.runtime.block_on(check)?;
            postgres::refuse_without_effect(engine, options, Some(start))?;
        }
        EngineSource::Sqlite => try_settings(engine, &options.locations.data)?,
        EngineSource::SqliteFile(path) => sqlite::check_yours(engine, path)?,
        EngineSource::PostgresUrl(url) => {
            let url = url.with_session_settings(engine.engine_settings());
            options.runtime.block_on(engine::postgres::connect(&url))?;
            postgres::refuse_without_effect(engine, options, None)?;
        }
        _ => return Err(DeployError::Unsupported { engine: engine.label() }),
    }
    Ok(())
}

/// Refuses what no copy of data takes, since it has tables already: before one is made.
pub fn check_copy(engine: &EngineSpec) -> Result<(), DeployError> {
    match engine.source {
        EngineSource::Sqlite => sqlite::check_copy(engine),
        _ => Ok(()),
    }
}

/// Statistics are ours to make or to leave out only where the data is ours.
fn check_analyze(engine: &EngineSpec) -> Result<(), DeployError> {
    let Some(value) = engine.own("analyze") else { return Ok(()) };
    if !["on", "off"].contains(&value) {
        let message = format!("{}: analyze is on or off, not `{value}`", engine.label());
        return Err(PlanError::impossible("engines", message).into());
    }
    if matches!(engine.source, EngineSource::SqliteFile(_) | EngineSource::PostgresUrl(_)) {
        return Err(DeployError::NoEffect {
            engine: engine.label(),
            setting: "analyze".to_owned(),
            why: "a database of yours is never written to",
        });
    }
    Ok(())
}

impl Site<'_> {
    /// Sets the database of `engine` up, at `levels` of the deployment's factors.
    pub(crate) fn database(
        &self,
        engine: &EngineSpec,
        levels: &Levels,
        data_use: DataUse,
    ) -> Result<Database, DeployError> {
        let label = engine.label();
        self.progress.set_message(format!("starting {label}"));
        let mut database = match &engine.source {
            EngineSource::Sqlite => self.sqlite_copy(engine, levels, data_use)?,
            EngineSource::SqliteFile(path) => self.sqlite_file(engine, path)?,
            EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => {
                self.managed_postgres(engine, levels, data_use)?
            }
            EngineSource::PostgresUrl(url) => self.foreign_postgres(engine, url)?,
            _ => return Err(DeployError::Unsupported { engine: label }),
        };
        database.note_facts(self.runtime);
        Ok(database)
    }

    /// Makes the copy of a database that may be changed anew, with statistics of its own and
    /// nothing left to write.
    pub(crate) fn renew(
        &self,
        engine: &EngineSpec,
        database: &mut Database,
    ) -> Result<(), DeployError> {
        self.renew_copy(database)?;
        match &database.url {
            DatabaseUrl::Sqlite(path) => sqlite::settle(engine, path),
            DatabaseUrl::Postgres(url) => self.settle_postgres(engine, url),
        }
    }

    /// The SQLite file with the data at `levels`.
    pub(crate) fn dataset(&self, levels: &Levels) -> Option<&Dataset> {
        self.datasets.at(self.plan, levels)
    }

    /// Names what a server is filled with at `levels`.
    fn filling(&self, engine: &EngineSpec, levels: &Levels) -> Result<String, DeployError> {
        // Workload blob keeps all its databases in one data directory.
        let nothing = if self.plan.blob.is_some() { "blobs" } else { "" };
        let data = self.dataset(levels).map_or(nothing, |data| data.digest.as_str());
        let values = self.plan.placeholders(levels)?;
        Ok(filling(data, engine, &self.plan.application.prepare, &values))
    }

    /// Runs the plan's commands that fill the database at `address`.
    fn prepare(
        &self,
        engine: &EngineSpec,
        levels: &Levels,
        address: &Address,
    ) -> Result<(), DeployError> {
        self.progress.set_message(format!("filling {}", engine.label()));
        let values = self.placeholders(engine, levels, Some(address), "")?;
        for words in &self.plan.application.prepare {
            let command = self.command(words, engine, levels, "prepare", &values)?;
            run_to_end(&command, self.interrupted)?;
        }
        Ok(())
    }

    /// A command of the plan, its placeholders filled in.
    pub(crate) fn command(
        &self,
        words: &[String],
        engine: &EngineSpec,
        levels: &Levels,
        purpose: &str,
        values: &Placeholders,
    ) -> Result<ApplicationOptions, DeployError> {
        let mut expanded = Vec::new();
        for word in words {
            if word == "{settings}" {
                // A managed server has its settings from its start, a foreign one from its URL.
                if engine.source.kind() == "sqlite" {
                    for (key, value) in engine.engine_settings() {
                        expanded.extend(["--set".to_owned(), format!("{key}={value}")]);
                    }
                }
            } else {
                expanded.push(expand(word, "application", values)?);
            }
        }
        let mut environment = Vec::new();
        for (name, value) in &self.plan.application.environment {
            environment.push((name.clone(), expand(value, "application.environment", values)?));
        }
        Ok(ApplicationOptions {
            name: format!("{purpose}-{}", file_name(&engine.label())),
            command: expanded,
            environment,
            directory: self.plan.application.directory.clone(),
            log_directory: self.logs.to_owned(),
            cpus: self.plan.server_cpus_at(levels)?,
        })
    }

    /// Every placeholder of a command or an environment.
    pub(crate) fn placeholders(
        &self,
        engine: &EngineSpec,
        levels: &Levels,
        address: Option<&Address>,
        listen: &str,
    ) -> Result<Placeholders, DeployError> {
        let mut values = self.plan.placeholders(levels)?;
        values.entry("design".to_owned()).or_insert_with(|| "daily".to_owned());
        if let Some(design) = engine.own("design") {
            values.insert("design".to_owned(), design.to_owned());
        }
        values.extend(address.map(Address::placeholders).unwrap_or_default());
        if let Some(data) = self.dataset(levels) {
            values.insert("data".to_owned(), data.path.display().to_string());
        }
        let (host, port) = listen.rsplit_once(':').unwrap_or_default();
        for (name, value) in [
            ("crossover", self.program.display().to_string()),
            ("engine", engine.label()),
            ("listen", listen.to_owned()),
            ("host", host.to_owned()),
            ("port", port.to_owned()),
            ("secret", self.secret.to_owned()),
        ] {
            values.insert(name.to_owned(), value);
        }
        Ok(values)
    }
}

/// Names what a server is filled with: the data, and the commands that fill it.
pub(crate) fn filling(
    data_digest: &str,
    engine: &EngineSpec,
    commands: &[Vec<String>],
    values: &Placeholders,
) -> String {
    let design = engine.own("design").unwrap_or_default();
    // Programs before the first template let applications write to what they kept.
    let text = format!("template {data_digest} {design} {commands:?} {:?}", used(commands, values));
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()))
}

/// Those of `values` that stand in `commands`.
fn used(commands: &[Vec<String>], values: &Placeholders) -> Placeholders {
    let stands = |name: &str| {
        let placeholder = format!("{{{name}}}");
        commands.iter().flatten().any(|word| word.contains(&placeholder))
    };
    values.iter().filter(|(name, _)| stands(name)).map(|(n, v)| (n.clone(), v.clone())).collect()
}

/// A label as a file name.
fn file_name(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    label.chars().map(plain).collect()
}
