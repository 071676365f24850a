//! An engine for workload `sql`: the deployment's database, or a copy of it that may be written
//! to, or a MariaDB of the user's; and a copy for each of the plan's steps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::{EngineKind, EngineSource, EngineSpec, PostgresUrl};
use parking_lot::Mutex;

use super::remote::LibraryFile;
use super::sqlite::{OpenMode, SqliteSession};
use super::target::{SessionPlace, SqlTarget};
use crate::error::RunError;
use crate::workload::library::NamedLibrary;
use host::postgres::{ClientAddress, PostgresDatabase};
use host::sqlite::SqliteDatabase;
use host::{DataUse, Database, DeployError, Distance, Site, durability, mariadb};
use load::resource::ServerSide;
use plan::{ConnectionBy, Levels, Step, StepChanges};
use record::EngineRecord;

/// An engine that is ready for connections.
pub(super) struct Deployed {
    pub record: EngineRecord,
    pub targets: BTreeMap<SessionPlace, SqlTarget>,
    pub side: Option<ServerSide>,
    /// Between the clients and the server.
    pub distance: Distance,
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
        return mysql(site, engine, levels, url);
    }
    let database = host::deploy(site, engine, levels, data_use)?;
    match engine.source.kind() {
        EngineKind::Sqlite => sqlite(site, engine, database, data_use),
        EngineKind::Postgres => postgres(site, engine, levels, database, data_use),
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
    levels: &Levels,
    database: Database,
    data_use: DataUse,
) -> Result<Deployed, RunError> {
    let server = PostgresDatabase::of(&database).ok_or_else(|| unsupported(engine))?;
    let read_only = data_use == DataUse::Read;
    let mut record = database.record.clone();
    let ways = match ConnectionBy::acts(site.plan.workload, engine) {
        true => site.plan.connections()?,
        false => vec![ConnectionBy::default()],
    };
    let near = |url: &PostgresUrl, by| server.for_clients(url, by);
    // With a delay there is one way, which the plan sees to.
    let way = ways.first().copied().unwrap_or_default();
    let distance = Distance::to_postgres(site, &near(&server.url, way).url, levels)?;
    let urls = match site.plan.steps.is_empty() {
        true => BTreeMap::from([(String::new(), server.url.clone())]),
        false => postgres_steps(site, engine, server, &mut record)?,
    };
    let mut targets = BTreeMap::new();
    for (step, url) in urls {
        for by in &ways {
            let ClientAddress { url, behind_pool } = near(&url, *by);
            let url = distance.postgres(&url)?;
            let place = SessionPlace { step: step.clone(), by: *by };
            targets.insert(place, SqlTarget::Postgres { url, read_only, behind_pool });
        }
    }
    let roots = database.hosted.pids();
    Ok(Deployed {
        record,
        targets,
        side: (!database.out_of_sight).then_some(ServerSide { roots }),
        distance,
        data_paths: database.data_paths.clone(),
        database: Some(database),
    })
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
    let library = NamedLibrary::of(site.plan, engine, &site.options())?;
    let target = |path: &Path, settings: Vec<(String, String)>| {
        let path = path.to_owned();
        match &library {
            None => SqlTarget::Sqlite { path, access, settings, handles: Mutex::default() },
            Some(library) => SqlTarget::SqliteElsewhere {
                program: site.program.to_owned(),
                file: LibraryFile { library: library.held.clone(), path, access, settings },
            },
        }
    };
    let unchanged = settings(&BTreeMap::new());
    let facts = |target: &SqlTarget, path: &Path, settings: &[(String, String)]| match target {
        SqlTarget::SqliteElsewhere { file, .. } if let Some(library) = &library => {
            library.opened(site, &engine.label(), file)
        }
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
        distance: Distance::default(),
        data_paths,
        database: Some(database),
    })
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
) -> Result<BTreeMap<String, PostgresUrl>, RunError> {
    let version = server.server().map_or("", |server| server.exact_version());
    let (mut urls, mut databases) = (BTreeMap::new(), Vec::<PostgresUrl>::new());
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
        let url = at.address.with_session_settings(settings);
        let named: Vec<String> = all.settings.keys().cloned().collect();
        let reading = host::postgres::Administration::new(site, engine, url.clone());
        record.step_settings.insert(step.name.clone(), reading.settings(&named)?.1);
        urls.insert(step.name.clone(), url);
    }
    server.administration(site).drop_other_steps(&databases)?;
    Ok(urls)
}

/// A server of the user's that holds the data already; it is only read.
fn mysql(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
    url: &str,
) -> Result<Deployed, RunError> {
    let settings: Vec<(String, String)> =
        engine.engine_settings().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let record = mariadb::read_record(engine, url, engine.engine_settings(), std::iter::empty())?;
    let distance = Distance::to_mysql(site, url, levels)?;
    let target = SqlTarget::Mysql { url: distance.mysql(url)?, read_only: true, settings };
    let targets = BTreeMap::from([(SessionPlace::default(), target)]);
    Ok(Deployed { record, targets, side: None, distance, data_paths: Vec::new(), database: None })
}
