//! Deployment: an engine checked before anything is measured, and set up for its turn in a block.

use std::path::Path;

use engine::{EngineSource, EngineSpec, PostgresUrl};
use plan::{Levels, PlanError};
use server::Locations;

use crate::database::{DataUse, Database};
use crate::error::DeployError;
use crate::options::HostOptions;
use crate::postgres;
use crate::site::Site;
use crate::sqlite;

/// Where the database of an application or of statements comes from.
enum DatabaseSource<'e> {
    SqliteCopy,
    SqliteFile(&'e Path),
    ManagedPostgres,
    ForeignPostgres(&'e PostgresUrl),
}

fn source(engine: &EngineSpec) -> Result<DatabaseSource<'_>, DeployError> {
    match &engine.source {
        EngineSource::Sqlite => Ok(DatabaseSource::SqliteCopy),
        EngineSource::SqliteFile(path) => Ok(DatabaseSource::SqliteFile(path)),
        EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => {
            Ok(DatabaseSource::ManagedPostgres)
        }
        EngineSource::PostgresUrl(url) => Ok(DatabaseSource::ForeignPostgres(url)),
        EngineSource::Mariadb
        | EngineSource::MariadbRelease(_)
        | EngineSource::MariadbFolder(_)
        | EngineSource::MysqlUrl(_)
        | EngineSource::HttpUrl(_)
        | EngineSource::Dir
        | EngineSource::DirFolder(_)
        | EngineSource::Tree
        | EngineSource::TreeFolder(_)
        | EngineSource::SqliteDir => Err(DeployError::Unsupported { engine: engine.label() }),
    }
}

/// Refuses an engine that cannot be had or set as asked for, before anything is measured: a
/// release is fetched, settings are tried on an empty database or by the server's own check.
pub fn check(engine: &EngineSpec, options: &HostOptions<'_>) -> Result<(), DeployError> {
    check_analyze(engine)?;
    match source(engine)? {
        DatabaseSource::SqliteCopy => sqlite::try_settings(engine, &options.locations.data),
        DatabaseSource::SqliteFile(path) => sqlite::check_yours(engine, path),
        DatabaseSource::ManagedPostgres => postgres::check_managed(engine, options),
        DatabaseSource::ForeignPostgres(url) => postgres::check_yours(engine, url, options),
    }
}

/// Refuses what no copy of data takes, since it has tables already: before one is made.
pub fn check_copy(engine: &EngineSpec) -> Result<(), DeployError> {
    match source(engine)? {
        DatabaseSource::SqliteCopy => sqlite::check_copy(engine),
        DatabaseSource::SqliteFile(_)
        | DatabaseSource::ManagedPostgres
        | DatabaseSource::ForeignPostgres(_) => Ok(()),
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
    let (values, in_words): (&[&str], _) = match source(engine)? {
        DatabaseSource::SqliteCopy | DatabaseSource::SqliteFile(_) => {
            (&["on", "off", "keep"], "on, off or keep")
        }
        DatabaseSource::ManagedPostgres | DatabaseSource::ForeignPostgres(_) => {
            (&["on", "off"], "on or off")
        }
    };
    if !values.contains(&value) {
        let message = format!("{}: analyze is {in_words}, not `{value}`", engine.label());
        return Err(PlanError::impossible("engines", message).into());
    }
    if engine.source.is_yours() {
        return Err(DeployError::NoEffect {
            engine: engine.label(),
            setting: "analyze".to_owned(),
            why: "your own database is never written to",
        });
    }
    Ok(())
}

/// Sets the database of `engine` up, at `levels` of the deployment's factors.
pub fn deploy(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
    data_use: DataUse,
) -> Result<Database, DeployError> {
    site.progress.set_message(format!("starting {}", engine.label()));
    let mut database = match source(engine)? {
        DatabaseSource::SqliteCopy => sqlite::deploy_copy(site, engine, levels, data_use)?,
        DatabaseSource::SqliteFile(path) => sqlite::deploy_yours(engine, path)?,
        DatabaseSource::ManagedPostgres => {
            postgres::deploy_managed(site, engine, levels, data_use)?
        }
        DatabaseSource::ForeignPostgres(url) => postgres::deploy_yours(site, engine, url)?,
    };
    database.note_facts(site.runtime);
    Ok(database)
}
