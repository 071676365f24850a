//! Deployment: an engine checked before anything is measured, and set up for its turn in a block.

use engine::{DatabaseUrl, EngineKind, EngineSource, EngineSpec};
use plan::{Levels, PlanError};
use server::{Locations, PostgresServer, StartOptions};

use crate::database::Database;
use crate::error::DeployError;
use crate::options::HostOptions;
use crate::site::Site;
use crate::template::DataUse;
use crate::{postgres, sqlite};

/// Refuses an engine that cannot be had or set as asked for, before anything is measured: a
/// release is fetched, settings are tried on an empty database or by the server's own check.
pub fn check(engine: &EngineSpec, options: &HostOptions<'_>) -> Result<(), DeployError> {
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
        EngineSource::Sqlite => sqlite::try_settings(engine, &options.locations.data)?,
        EngineSource::SqliteFile(path) => sqlite::check_yours(engine, path)?,
        EngineSource::PostgresUrl(url) => {
            let url = url.with_session_settings(engine.engine_settings());
            options.runtime.block_on(engine::postgres::connect(&url))?;
            postgres::refuse_without_effect(engine, options, None)?;
        }
        EngineSource::Mariadb
        | EngineSource::MariadbFolder(_)
        | EngineSource::MysqlUrl(_)
        | EngineSource::HttpUrl(_)
        | EngineSource::Dir
        | EngineSource::DirFolder(_)
        | EngineSource::Tree
        | EngineSource::TreeFolder(_)
        | EngineSource::SqliteDir => {
            return Err(DeployError::Unsupported { engine: engine.label() });
        }
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

/// Refuses settings that a copy of a SQLite file does not take, before one is made.
pub fn try_copy_settings(engine: &EngineSpec, locations: &Locations) -> Result<(), DeployError> {
    check_copy(engine)?;
    sqlite::try_settings(engine, &locations.data)
}

/// Statistics are ours to make or to leave out only where the data is ours.
fn check_analyze(engine: &EngineSpec) -> Result<(), DeployError> {
    let Some(value) = engine.own("analyze") else { return Ok(()) };
    let (values, in_words): (&[&str], _) = match engine.source.kind() {
        EngineKind::Sqlite => (&["on", "off", "keep"], "on, off or keep"),
        _ => (&["on", "off"], "on or off"),
    };
    if !values.contains(&value) {
        let message = format!("{}: analyze is {in_words}, not `{value}`", engine.label());
        return Err(PlanError::impossible("engines", message).into());
    }
    if engine.source.is_yours() {
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
    pub fn database(
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
            EngineSource::Mariadb
            | EngineSource::MariadbFolder(_)
            | EngineSource::MysqlUrl(_)
            | EngineSource::HttpUrl(_)
            | EngineSource::Dir
            | EngineSource::DirFolder(_)
            | EngineSource::Tree
            | EngineSource::TreeFolder(_)
            | EngineSource::SqliteDir => {
                return Err(DeployError::Unsupported { engine: label });
            }
        };
        database.note_facts(self.runtime);
        Ok(database)
    }

    /// Makes the copy of a database that may be changed again, with statistics of its own and
    /// nothing left to write.
    pub fn renew(&self, engine: &EngineSpec, database: &mut Database) -> Result<(), DeployError> {
        self.renew_copy(database)?;
        match &database.url {
            DatabaseUrl::Sqlite(path) => sqlite::settle(engine, path),
            DatabaseUrl::Postgres(url) => self.settle_postgres(engine, url),
        }
    }
}
