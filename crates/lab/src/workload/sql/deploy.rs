//! An engine for workload `sql`: the deployment's database, or a copy of it that may be written
//! to, or a MariaDB of the user's; and a copy for each of the plan's steps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::{EngineKind, EngineSource, EngineSpec, PostgresUrl};
use parking_lot::Mutex;

use super::client::SqlError;
use super::remote::{LibraryFile, RemoteSession};
use super::sqlite::{OpenMode, SqliteSession};
use super::target::{SessionPlace, SqlTarget};
use crate::error::RunError;
use host::postgres::PostgresDatabase;
use host::sqlite::SqliteDatabase;
use host::{DataUse, Database, DeployError, Site, durability, mariadb};
use load::resource::ServerSide;
use plan::{ConnectionBy, Levels, SqliteOrigin, Step, StepChanges};
use record::EngineRecord;

/// An engine that is ready for connections.
pub(super) struct Deployed {
    pub record: EngineRecord,
    pub targets: BTreeMap<SessionPlace, SqlTarget>,
    pub side: Option<ServerSide>,
    pub data_paths: Vec<PathBuf>,
    /// To be retired; none for a MariaDB of the user's.
    pub database: Option<Database>,
}

/// Sets `engine` up.
pub(super) fn deploy(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
    data_use: DataUse,
) -> Result<Deployed, RunError> {
    if let EngineSource::MysqlUrl(url) = &engine.source {
        return mysql(engine, url);
    }
    let database = host::deploy(site, engine, levels, data_use)?;
    match engine.source.kind() {
        EngineKind::Sqlite => sqlite(site, engine, database, data_use),
        EngineKind::Postgres => postgres(site, engine, database, data_use),
        EngineKind::Mariadb
        | EngineKind::Mysql
        | EngineKind::Http
        | EngineKind::Dir
        | EngineKind::Tree
        | EngineKind::SqliteDir => Err(unsupported(engine)),
    }
}

fn unsupported(engine: &EngineSpec) -> RunError {
    DeployError::Unsupported { engine: engine.label() }.into()
}

fn postgres(
    site: &Site<'_>,
    engine: &EngineSpec,
    database: Database,
    data_use: DataUse,
) -> Result<Deployed, RunError> {
    let server = PostgresDatabase::of(&database).ok_or_else(|| unsupported(engine))?;
    let read_only = data_use == DataUse::Read;
    let mut record = database.record.clone();
    let targets = match site.plan.steps.is_empty() {
        true => postgres_targets(site, engine, server, read_only)?,
        false => postgres_steps(site, engine, server, &mut record)?,
    };
    let roots = database.hosted.pids();
    Ok(Deployed {
        record,
        targets,
        side: (!database.out_of_sight).then_some(ServerSide { roots }),
        data_paths: database.data_paths.clone(),
        database: Some(database),
    })
}

/// A way to the database for each of the plan's, as far as there are several.
fn postgres_targets(
    site: &Site<'_>,
    engine: &EngineSpec,
    server: &PostgresDatabase,
    read_only: bool,
) -> Result<BTreeMap<SessionPlace, SqlTarget>, RunError> {
    let ways = match ConnectionBy::acts(site.plan.workload, engine) {
        true => site.plan.connections()?,
        false => vec![ConnectionBy::default()],
    };
    let target = |by| {
        let (url, behind_pool) = server.for_clients(by);
        (
            SessionPlace { by, ..SessionPlace::default() },
            SqlTarget::Postgres { url, read_only, behind_pool },
        )
    };
    Ok(ways.into_iter().map(target).collect())
}

fn sqlite(
    site: &Site<'_>,
    engine: &EngineSpec,
    database: Database,
    data_use: DataUse,
) -> Result<Deployed, RunError> {
    let path = SqliteDatabase::of(&database).map(|file| file.path().to_owned());
    let path = path.ok_or_else(|| unsupported(engine))?;
    let yours = matches!(engine.source, EngineSource::SqliteFile(_)) || database.out_of_sight;
    let access = match data_use {
        _ if yours => OpenMode::ReadOnly,
        DataUse::Read => OpenMode::QueryOnly,
        DataUse::Change => OpenMode::Write,
    };
    let settings = |changed: &BTreeMap<String, String>| -> Vec<(String, String)> {
        let own = engine.engine_settings().filter(|(name, _)| !changed.contains_key(*name));
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        own.chain(changed.clone()).collect()
    };
    let origin = site.plan.sqlite_of(engine);
    let target = |path: &Path, settings: Vec<(String, String)>| {
        let path = path.to_owned();
        match origin.clone() {
            None => SqlTarget::Sqlite { path, access, settings, handles: Mutex::default() },
            Some(origin) => SqlTarget::SqliteElsewhere {
                program: site.program.to_owned(),
                file: LibraryFile { origin, path, access, settings },
            },
        }
    };
    let unchanged = settings(&BTreeMap::new());
    let facts = |target: &SqlTarget, path: &Path, settings: &[(String, String)]| match target {
        SqlTarget::SqliteElsewhere { file, .. } => library_facts(site, &engine.label(), file),
        _ => {
            let version = format!("SQLite {}", connect::sqlite::version());
            Ok((version, read_settings(path, access, settings)?))
        }
    };
    let (version, read_back) = facts(&target(&path, unchanged.clone()), &path, &unchanged)?;
    let mut record = EngineRecord {
        version,
        durability: durability(EngineKind::Sqlite, &read_back),
        settings: read_back,
        ..database.record.clone()
    };
    let (mut targets, mut data_paths) = (BTreeMap::new(), vec![path.clone()]);
    if site.plan.steps.is_empty() {
        targets.insert(SessionPlace::default(), target(&path, unchanged));
    }
    let mut previous = path;
    for (step, all) in steps_of(site, EngineKind::Sqlite) {
        if !step.sqlite.statements.is_empty() {
            previous = host::sqlite::changed_copy(site, &previous, &step.sqlite.statements)?;
            data_paths.push(previous.clone());
        }
        let settings = settings(&all.settings);
        let at_step = target(&previous, settings.clone());
        let (_, read_back) = facts(&at_step, &previous, &settings)?;
        record.step_settings.insert(step.name.clone(), read_back);
        targets.insert(SessionPlace::of_step(&step.name), at_step);
    }
    Ok(Deployed {
        record,
        targets,
        // Engine and clients are one process, which is ours.
        side: Some(ServerSide { roots: vec![std::process::id()] }),
        data_paths,
        database: Some(database),
    })
}

/// Version and settings of a library that is opened in a process of its own.
fn library_facts(
    site: &Site<'_>,
    label: &str,
    file: &LibraryFile,
) -> Result<(String, Vec<(String, String)>), RunError> {
    let opened = RemoteSession::open(site.program, file, site.interrupted);
    let failed = |error| {
        let message = match (&error, &file.origin) {
            // A library that brings its process down says nothing itself.
            (SqlError::Lost(_), SqliteOrigin::Library(path)) => {
                format!("{label}: {}: {error}", path.display())
            }
            _ => format!("{label}: {error}"),
        };
        RunError::Statement(message)
    };
    let (_, facts) = opened.map_err(failed)?;
    let mut settings = facts.settings;
    settings.push(("source".to_owned(), facts.source_id));
    settings.push(("compile options".to_owned(), facts.compile_options.join(" ")));
    Ok((format!("SQLite {}", facts.version), settings))
}

fn read_settings(
    path: &Path,
    access: OpenMode,
    settings: &[(String, String)],
) -> Result<Vec<(String, String)>, DeployError> {
    let given = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Ok(SqliteSession::open(path, access, given)?.1)
}

/// The plan's steps with all changes up to each.
fn steps_of<'s>(
    site: &'s Site<'_>,
    kind: EngineKind,
) -> impl Iterator<Item = (&'s Step, StepChanges)> {
    let plan = site.plan;
    plan.steps.iter().map(move |step| (step, plan.changes_at(kind, &step.levels())))
}

/// A database for each step, with statistics of this block.
fn postgres_steps(
    site: &Site<'_>,
    engine: &EngineSpec,
    server: &PostgresDatabase,
    record: &mut EngineRecord,
) -> Result<BTreeMap<SessionPlace, SqlTarget>, RunError> {
    let version = server.server().map_or("", |server| server.exact_version());
    let (mut targets, mut databases) = (BTreeMap::new(), Vec::<PostgresUrl>::new());
    let mut at = server.administration(site);
    for (step, all) in steps_of(site, EngineKind::Postgres) {
        if !step.postgres.statements.is_empty() {
            site.progress.set_message(format!("{}: {}", engine.label(), step.name));
            let statements = &step.postgres.statements;
            let url = site.one_off.time(|| at.changed_copy(version, statements))?;
            at = host::postgres::Administration::new(site, engine, url.clone());
            at.settle(engine)?;
            databases.push(url);
        }
        let settings = all.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let with_settings = |url: &PostgresUrl| url.with_session_settings(settings.clone());
        let url = with_settings(&at.address);
        let named: Vec<String> = all.settings.keys().cloned().collect();
        let reading = host::postgres::Administration::new(site, engine, url.clone());
        record.step_settings.insert(step.name.clone(), reading.settings(&named)?.1);
        for by in site.plan.connections()? {
            let url = with_settings(&server.of_clients(&at.address, by));
            let place = SessionPlace { by, ..SessionPlace::of_step(&step.name) };
            let target = SqlTarget::Postgres { url, read_only: true, behind_pool: None };
            targets.insert(place, target);
        }
    }
    server.administration(site).drop_other_steps(&databases)?;
    Ok(targets)
}

/// A server of the user's that holds the data already; it is only read.
fn mysql(engine: &EngineSpec, url: &str) -> Result<Deployed, RunError> {
    let settings: Vec<(String, String)> =
        engine.engine_settings().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let record = mariadb::read_record(engine, url, engine.engine_settings(), std::iter::empty())?;
    let target = SqlTarget::Mysql { url: url.to_owned(), read_only: true, settings };
    let targets = BTreeMap::from([(SessionPlace::default(), target)]);
    Ok(Deployed { record, targets, side: None, data_paths: Vec::new(), database: None })
}
