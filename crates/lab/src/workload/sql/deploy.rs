//! An engine for workload `sql`: the deployment's database, or a copy of it that may be written
//! to, or a MariaDB of the user's.

use std::path::PathBuf;

use engine::{EngineKind, EngineSource, EngineSpec};
use parking_lot::Mutex;

use super::sqlite::{OpenMode, SqliteSession};
use super::target::SqlTarget;
use crate::error::RunError;
use host::postgres::PostgresDatabase;
use host::sqlite::SqliteDatabase;
use host::{DataUse, Database, DeployError, Site, durability, mariadb};
use load::resource::ServerSide;
use plan::Levels;
use record::EngineRecord;

/// An engine that is ready for connections.
pub(super) struct Deployed {
    pub record: EngineRecord,
    pub target: SqlTarget,
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
    let yours = matches!(engine.source, EngineSource::SqliteFile(_)) || database.out_of_sight;
    if let Some(path) = SqliteDatabase::of(&database).map(|file| file.path().to_owned()) {
        let access = match data_use {
            _ if yours => OpenMode::ReadOnly,
            DataUse::Read => OpenMode::QueryOnly,
            DataUse::Change => OpenMode::Write,
        };
        return sqlite(engine, database, path, access);
    }
    let Some(url) = PostgresDatabase::of(&database).map(|server| server.url.clone()) else {
        return Err(DeployError::Unsupported { engine: engine.label() }.into());
    };
    let roots = database.hosted.pid().into_iter().collect();
    Ok(Deployed {
        record: database.record.clone(),
        target: SqlTarget::Postgres { url, read_only: data_use == DataUse::Read },
        side: (!database.out_of_sight).then_some(ServerSide { roots }),
        data_paths: database.data_paths.clone(),
        database: Some(database),
    })
}

fn sqlite(
    engine: &EngineSpec,
    database: Database,
    path: PathBuf,
    access: OpenMode,
) -> Result<Deployed, RunError> {
    let settings: Vec<(String, String)> =
        engine.engine_settings().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let given = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let (_, read_back) = SqliteSession::open(&path, access, given).map_err(DeployError::from)?;
    let record = EngineRecord {
        version: format!("SQLite {}", engine::sqlite::version()),
        durability: durability(EngineKind::Sqlite, &read_back),
        settings: read_back,
        ..database.record.clone()
    };
    Ok(Deployed {
        record,
        target: SqlTarget::Sqlite {
            path: path.clone(),
            access,
            settings,
            handles: Mutex::default(),
        },
        // Engine and clients are one process, which is ours.
        side: Some(ServerSide { roots: vec![std::process::id()] }),
        data_paths: vec![path],
        database: Some(database),
    })
}

/// A server of the user's that holds the data already; it is only read.
fn mysql(engine: &EngineSpec, url: &str) -> Result<Deployed, RunError> {
    let settings: Vec<(String, String)> =
        engine.engine_settings().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let record = mariadb::read_record(engine, url, engine.engine_settings(), std::iter::empty())?;
    let target = SqlTarget::Mysql { url: url.to_owned(), read_only: true, settings };
    Ok(Deployed { record, target, side: None, data_paths: Vec::new(), database: None })
}
