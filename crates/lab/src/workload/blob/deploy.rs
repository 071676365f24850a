//! A line set up for its turn: its blobs in place, its settings read back, its server started.

use std::path::PathBuf;
use std::time::Duration;

use blob::{BlobForm, Recipe, SqliteAccess};
use connect::postgres::thin::WaitLimits;
use engine::{EngineKind, EngineSpec};
use plan::storage::{By, SqliteSettings};

use super::postgres;
use super::session::BlobPlace;
use super::session_error::SessionError;
use super::store::{Store, failed, room_of};
use crate::error::RunError;
use host::postgres::PostgresDatabase;
use host::{DataUse, Database, Site};
use load::resource::ServerSide;
use plan::Levels;
use plan::{BlobCell, BlobOperation};
use plan::{BlobStorage, StorageForm};
use record::{BlobStore, EngineRecord};
use server::PostgresServer;

/// How long filling and copying may take.
const FILL_TIMEOUT: Duration = Duration::from_secs(3_600);

/// A line that is ready for sessions.
pub(super) struct DeployedBlobs {
    pub record: EngineRecord,
    pub line: BlobStorage,
    pub cell: BlobCell,
    pub recipe: Recipe,
    pub place: BlobPlace,
    pub side: Option<ServerSide>,
    pub data_paths: Vec<PathBuf>,
    /// A server to be stopped.
    pub database: Option<Database>,
}

/// Sets `engine` up.
pub(super) fn deploy(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
) -> Result<DeployedBlobs, RunError> {
    let cell = site.plan.blob_at(levels)?;
    let (engine, line) = BlobStorage::at(engine, &cell)?;
    let store = Store::new(site, &cell);
    let mut deployed = match &line.form {
        StorageForm::Sqlite(settings) => sqlite(&store, settings.clone())?,
        StorageForm::Files { tree, settings } => {
            let form = if *tree { BlobForm::Tree } else { BlobForm::Folder };
            let folder = store.folder(form)?;
            let place = BlobPlace::Files { folder: folder.clone(), form, settings: *settings };
            Parts::of_files(place, vec![folder], *settings)?
        }
        StorageForm::Lookup(sqlite, files) => {
            let folder = store.folder(BlobForm::Folder)?;
            let names = store.names(&folder)?;
            let place = BlobPlace::Lookup {
                names: names.clone(),
                folder: folder.clone(),
                sqlite: sqlite.clone(),
                files: *files,
            };
            Parts::of_files(place, vec![folder, names], *files)?
        }
        StorageForm::Postgres => server(site, &engine, levels, &store)?,
    };
    // Shown with the blobs, and read back with them.
    let state = if cell.cold { "cold" } else { "warm" };
    deployed.settings.push(("cache".to_owned(), state.to_owned()));
    let (stored_bytes, allocated_bytes) = deployed.room;
    let durability = match line.durability() {
        plan::Durability::Unknown => deployed.durability(),
        known => known,
    };
    let record = EngineRecord {
        name: engine.label(),
        version: deployed.version,
        settings: deployed.settings,
        durability,
        data_bytes: Some(allocated_bytes),
        blobs: Some(BlobStore {
            count: cell.count,
            content_bytes: store.content_bytes(),
            stored_bytes,
            allocated_bytes,
        }),
        ..EngineRecord::default()
    };
    let warm_paths = if cell.cold { Vec::new() } else { deployed.data_paths };
    Ok(DeployedBlobs {
        record,
        recipe: store.recipe,
        line,
        cell,
        place: deployed.place,
        side: deployed.side,
        data_paths: warm_paths,
        database: deployed.database,
    })
}

/// Facts of one form.
struct Parts {
    place: BlobPlace,
    version: String,
    settings: Vec<(String, String)>,
    side: Option<ServerSide>,
    data_paths: Vec<PathBuf>,
    /// Length, and what it takes on storage.
    room: (u64, u64),
    database: Option<Database>,
}

impl Parts {
    /// Files have no server; reading and writing them is this process.
    fn of_files(
        place: BlobPlace,
        data_paths: Vec<PathBuf>,
        settings: plan::storage::FileSettings,
    ) -> Result<Self, RunError> {
        let mut room = (0, 0);
        for path in &data_paths {
            let (length, allocated) = room_of(path)?;
            room = (room.0 + length, room.1 + allocated);
        }
        let word = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
        Ok(Self {
            place,
            version: "files".to_owned(),
            settings: vec![
                ("read".to_owned(), word(&settings.reading)),
                ("write".to_owned(), word(&settings.writing)),
                ("fsync".to_owned(), if settings.fsync { "on" } else { "off" }.to_owned()),
            ],
            side: Some(ServerSide { roots: vec![std::process::id()] }),
            data_paths,
            room,
            database: None,
        })
    }

    fn durability(&self) -> plan::Durability {
        host::durability(EngineKind::Postgres, &self.settings)
    }
}

fn sqlite(store: &Store<'_>, mut settings: SqliteSettings) -> Result<Parts, RunError> {
    let file = store.database()?;
    // The clock stops after COMMIT: what is moved to the database's file then is timed by itself.
    settings.checkpoints = store.operation == BlobOperation::Read;
    let access = SqliteAccess::open(&file, &settings).map_err(failed)?;
    let mut read_back = Vec::new();
    for name in connect::sqlite::SHOWN_PRAGMAS {
        read_back.push((name.to_owned(), access.pragma(name).map_err(failed)?));
    }
    for (name, _) in &settings.pragmas {
        read_back.push((name.clone(), access.pragma(name).map_err(failed)?));
    }
    let by = match settings.by {
        By::Sql => "sql",
        By::BlobApi => "blob_api",
    };
    read_back.push(("access".to_owned(), by.to_owned()));
    drop(access);
    Ok(Parts {
        room: room_of(&file)?,
        place: BlobPlace::Sqlite { file: file.clone(), settings },
        version: format!("SQLite {}", connect::sqlite::version()),
        settings: read_back,
        side: Some(ServerSide { roots: vec![std::process::id()] }),
        data_paths: vec![file],
        database: None,
    })
}

/// A managed server; one database for each set of blobs, kept as other data directories are, and a
/// copy of it for what is updated.
fn server(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
    store: &Store<'_>,
) -> Result<Parts, RunError> {
    let database = host::deploy(site, engine, levels, DataUse::Read)?;
    let Some(postgres) = PostgresDatabase::of(&database) else {
        return Err(RunError::Blob(format!("{} is no PostgreSQL", engine.label())));
    };
    let server = postgres.administration(site);
    let limits = WaitLimits { timeout: FILL_TIMEOUT, interrupted: site.interrupted };
    let in_postgres = |error: SessionError| RunError::Blob(format!("{}: {error}", engine.label()));
    let name = format!("blobs_{}", store.key());
    let filled = server.address.with_database(&name);
    let known = server.databases()?;
    if !known.contains(&name) || !postgres::is_filled(&filled, limits).map_err(in_postgres)? {
        store.say(&format!("filling {} with blobs", engine.label()));
        // Those of other experiments make room.
        let others = known.iter().filter(|other| is_left_over(site, other));
        let mut statements: Vec<String> =
            others.map(|other| format!("DROP DATABASE IF EXISTS {other}")).collect();
        statements.push(format!("DROP DATABASE IF EXISTS {name}"));
        statements.push(format!("CREATE DATABASE {name}"));
        server.run(&statements)?;
        let recipe = store.recipe;
        postgres::fill(&filled, limits, recipe.count, |id, bytes| recipe.blob(id, 0, bytes))
            .map_err(in_postgres)?;
    }
    let url = match store.operation {
        BlobOperation::Read => filled,
        BlobOperation::Update => {
            let version = postgres.server().map(PostgresServer::exact_version);
            let copy = server.copy(&name, version.unwrap_or_default())?;
            server.checkpoint()?;
            copy.address
        }
    };
    let (bytes, folder) = postgres::facts(&url, limits).map_err(in_postgres)?;
    let roots = database.hosted.pids();
    let data_paths = database.data_paths.iter().map(|path| path.join(&folder));
    Ok(Parts {
        place: BlobPlace::Postgres { url },
        version: database.record.version.clone(),
        settings: database.record.settings.clone(),
        side: Some(ServerSide { roots }),
        data_paths: data_paths.collect(),
        room: (bytes, bytes),
        database: Some(database),
    })
}

/// Whether a database holds blobs that this plan does not ask for.
fn is_left_over(site: &Site<'_>, database: &str) -> bool {
    let wanted = site.plan.cells().iter().any(|levels| {
        let cell = site.plan.blob_at(levels);
        cell.is_ok_and(|cell| database == format!("blobs_{}", Store::new(site, &cell).key()))
    });
    database.starts_with("blobs_") && !wanted
}
