//! An engine for workload `sql`: the deployment's database, or a copy of it that may be written
//! to, or a MariaDB of the user's.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use engine::{DatabaseUrl, EngineSource, EngineSpec, PostgresUrl};

use super::client::{Session as _, SqlError};
use super::sqlite::SqliteSession;
use super::target::Target;
use crate::deployment::{Database, DeployError, Site};
use crate::observe::{durability, durability_settings};
use crate::record::EngineRecord;
use crate::resource::ServerSide;
use crate::run::RunError;
use crate::schedule::Levels;

/// Connecting and asking for settings takes no longer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The database of a trial that may change it; a copy of the one that was filled.
const COPY: &str = "crossover_trial";

/// What SQLite's results depend on most, shown beside the settings of the plan.
const SHOWN_SQLITE: [&str; 6] =
    ["journal_mode", "synchronous", "cache_size", "mmap_size", "page_size", "busy_timeout"];

/// And MariaDB's.
const SHOWN_MYSQL: [&str; 5] = [
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_doublewrite",
    "innodb_flush_method",
    "max_connections",
];

/// An engine that is ready for connections.
pub(super) struct Deployed {
    pub record: EngineRecord,
    pub target: Target,
    pub side: Option<ServerSide>,
    pub data_paths: Vec<PathBuf>,
    /// To be retired; none for a MariaDB of the user's.
    pub database: Option<Database>,
}

/// Refuses a MariaDB that cannot be reached or set as asked for.
pub(super) fn check_mysql(engine: &EngineSpec, url: &str) -> Result<(), RunError> {
    let mut connection = engine::mysql::connect(url, TIMEOUT).map_err(DeployError::from)?;
    engine::mysql::session_settings(&mut connection, engine.engine_settings())
        .map_err(DeployError::from)?;
    Ok(())
}

/// Sets `engine` up. Where statements change data (`changing`) they do so on a copy that is made
/// anew for each turn.
pub(super) fn deploy(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
    changing: bool,
) -> Result<Deployed, RunError> {
    if let EngineSource::MysqlUrl(url) = &engine.source {
        return mysql(engine, url);
    }
    let database = site.database(engine, levels)?;
    let yours = matches!(engine.source, EngineSource::SqliteFile(_)) || database.out_of_sight;
    match database.url.clone() {
        DatabaseUrl::Sqlite(path) => sqlite(site, engine, database, path, changing, yours),
        DatabaseUrl::Postgres(url) => {
            let url = if changing { copy_postgres(site, &url)? } else { url };
            let roots = database.pid().into_iter().collect();
            Ok(Deployed {
                record: database.record.clone(),
                target: Target::Postgres { url, read_only: !changing },
                side: (!database.out_of_sight).then_some(ServerSide { roots }),
                data_paths: database.data_paths.clone(),
                database: Some(database),
            })
        }
    }
}

fn sqlite(
    site: &Site<'_>,
    engine: &EngineSpec,
    database: Database,
    filled: PathBuf,
    changing: bool,
    read_only: bool,
) -> Result<Deployed, RunError> {
    let path = if changing { copy_sqlite(site, &filled)? } else { filled };
    let settings: Vec<(String, String)> =
        engine.engine_settings().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let given = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let (mut session, mut read_back) =
        SqliteSession::open(&path, read_only, given).map_err(DeployError::from)?;
    for name in SHOWN_SQLITE.iter().filter(|name| !settings.iter().any(|(set, _)| set == *name)) {
        let table = session.query(&format!("PRAGMA {name}")).map_err(broken)?;
        if let Some(value) = table.rows.first().and_then(|row| row.first()) {
            read_back.push(((*name).to_owned(), value.to_string().trim_matches('"').to_owned()));
        }
    }
    let record = EngineRecord {
        version: format!("SQLite {}", engine::sqlite::version()),
        durability: durability("sqlite", &read_back),
        settings: read_back,
        ..database.record.clone()
    };
    Ok(Deployed {
        record,
        target: Target::Sqlite {
            path: path.clone(),
            read_only,
            settings,
            handles: Mutex::default(),
        },
        // Engine and clients are one process, which is ours.
        side: Some(ServerSide { roots: vec![std::process::id()] }),
        data_paths: vec![path],
        database: Some(database),
    })
}

/// A copy that this turn may write to. The filled one is closed, so its file is the whole database.
fn copy_sqlite(site: &Site<'_>, filled: &std::path::Path) -> Result<PathBuf, RunError> {
    let copy = site.scratch.join("trial.db");
    let io = |source| RunError::Io { path: copy.clone(), source };
    for leftover in ["db", "db-wal", "db-shm", "db-journal"] {
        match std::fs::remove_file(copy.with_extension(leftover)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
    }
    std::fs::copy(filled, &copy).map_err(io)?;
    Ok(copy)
}

/// A copy of the filled database, made by the server itself.
fn copy_postgres(site: &Site<'_>, filled: &PostgresUrl) -> Result<PostgresUrl, RunError> {
    let name = filled.database().unwrap_or_default().to_owned();
    drop_copy(site, filled)?;
    let quoted = engine::postgres::quote_identifier(&name);
    let statement = format!("CREATE DATABASE {COPY} TEMPLATE {quoted}");
    administer(site, filled, &[&statement, "CHECKPOINT"])?;
    Ok(filled.with_database(COPY))
}

/// Removes the copy, if there is one.
pub(super) fn drop_copy(site: &Site<'_>, url: &PostgresUrl) -> Result<(), RunError> {
    administer(site, url, &[&format!("DROP DATABASE IF EXISTS {COPY}")])
}

fn administer(site: &Site<'_>, url: &PostgresUrl, statements: &[&str]) -> Result<(), RunError> {
    let done: Result<(), engine::Error> = site.runtime.block_on(async {
        let client = engine::postgres::connect(&url.with_database("postgres")).await?;
        for statement in statements {
            client.batch_execute(statement).await?;
        }
        Ok(())
    });
    Ok(done.map_err(DeployError::from)?)
}

/// A server of the user's that holds the data already; it is only read.
fn mysql(engine: &EngineSpec, url: &str) -> Result<Deployed, RunError> {
    let settings: Vec<(String, String)> =
        engine.engine_settings().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let given = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let read = || -> Result<EngineRecord, engine::Error> {
        let mut connection = engine::mysql::connect(url, TIMEOUT)?;
        let version = engine::mysql::version(&mut connection)?;
        let mut settings = engine::mysql::session_settings(&mut connection, given)?;
        let shown = SHOWN_MYSQL.iter().chain(durability_settings("mariadb"));
        settings.extend(engine::mysql::variables(&mut connection, shown.copied())?);
        let durability = durability("mariadb", &settings);
        let name = engine.label();
        Ok(EngineRecord { name, version, settings, durability, ..EngineRecord::default() })
    };
    let record = read().map_err(DeployError::from)?;
    let target = Target::Mysql { url: url.to_owned(), read_only: true, settings };
    Ok(Deployed { record, target, side: None, data_paths: Vec::new(), database: None })
}

fn broken(error: SqlError) -> RunError {
    RunError::Statement(error.to_string())
}
