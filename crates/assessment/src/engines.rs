//! Engines of a try: the unchanged file, what it is compared with, and the copy that is tuned.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::{EngineSource, EngineSpec};
use server::{PostgresServer, StartOptions};

use crate::error::{Error, Result};
use crate::options::Caller;

/// The unchanged file: a copy with the statistics that the file has, or none.
const AS_IT_IS: &str = "sqlite[label=SQLite,analyze=keep]";
/// A copy that keeps what it has committed, as PostgreSQL does by default.
const DURABLE: &str = "sqlite[label=SQLite,journal_mode=wal,synchronous=full]";
/// The same, whose transactions take the write lock at their beginning.
pub const BEGIN_IMMEDIATE: &str =
    "sqlite[label='SQLite with BEGIN IMMEDIATE',journal_mode=wal,synchronous=full,begin=immediate]";

/// SQLite first, by `library` where there is one, then those `named` beside it; a release that cannot be
/// had is refused now.
pub fn choose(
    named: &[EngineSpec],
    library: Option<&Path>,
    caller: &Caller<'_>,
) -> Result<Vec<EngineSpec>> {
    let mut engines = with_named(AS_IT_IS, named, caller)?;
    if let Some(library) = library {
        version_of(library, caller.interrupted)?;
        let takes = |engine: &&mut EngineSpec| engine.source.kind().properties().takes_library;
        for engine in engines.iter_mut().filter(takes) {
            let set = engine.settings.set("library", &library.display().to_string());
            set.map_err(|message| Error::Usage(format!("--sqlite-library: {message}")))?;
        }
    }
    if let (None, Some(other)) = (first_server(&engines), engines.get(1)) {
        return Err(Error::Usage(format!(
            "--on '{other}': name a PostgreSQL beside it, or only --on sqlite, which tries settings by \
             itself"
        )));
    }
    Ok(engines)
}

/// Lines of equal durability: SQLite with a write-ahead log that is synced at each commit, then servers,
/// which sync theirs.
pub fn of_writers(named: &[EngineSpec], caller: &Caller<'_>) -> Result<Vec<EngineSpec>> {
    with_named(DURABLE, named, caller)
}

/// `first` and those named beside it, each once.
fn with_named(first: &str, named: &[EngineSpec], caller: &Caller<'_>) -> Result<Vec<EngineSpec>> {
    let mut engines: Vec<EngineSpec> = vec![first.parse()?];
    for engine in named.iter().filter(|engine| !is_the_file(engine)) {
        match engine.source {
            EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => check(engine, caller)?,
            EngineSource::Sqlite => host::try_copy_settings(engine, caller.locations)?,
            _ => return Err(not_managed(engine)),
        }
        if !engines.iter().any(|known| known.label() == engine.label()) {
            engines.push(engine.clone());
        }
    }
    Ok(engines)
}

/// Refuses distances where no server is measured.
pub fn check_distances(named: &[EngineSpec], delays: &[plan::Delay]) -> Result<()> {
    match is_sqlite_alone(named) && !delays.is_empty() {
        true => Err(Error::Usage(
            "--delay: SQLite has no distance: name a PostgreSQL too (--on), or leave it out"
                .to_owned(),
        )),
        false => Ok(()),
    }
}

fn not_managed(engine: &EngineSpec) -> Error {
    Error::Usage(format!(
        "--on {engine}: a copy is moved into a server that Crossover starts: name postgres, \
         postgres:VERSION or postgres:FOLDER (a plan measures others, docs/reference/plans.md)"
    ))
}

/// SQLite is measured with nothing beside it.
pub fn is_sqlite_alone(named: &[EngineSpec]) -> bool {
    named.iter().all(is_the_file)
}

/// `sqlite` without settings: the first engine, which is always measured.
fn is_the_file(engine: &EngineSpec) -> bool {
    engine.source == EngineSource::Sqlite && engine.settings.is_empty()
}

pub fn first_server(engines: &[EngineSpec]) -> Option<&EngineSpec> {
    engines.iter().find(|engine| !engine.source.kind().properties().is_embedded)
}

/// The version of the library that takes the place of the built-in SQLite.
pub fn version_of(library: &Path, interrupted: &AtomicBool) -> Result<String> {
    let version = lab::preview::library_version(library, interrupted);
    version.map_err(|message| Error::Usage(format!("--sqlite-library: {message}")))
}

fn check(engine: &EngineSpec, caller: &Caller<'_>) -> Result<()> {
    let progress = (caller.progress)("server");
    let options = StartOptions::for_engine(engine)?;
    let check = PostgresServer::check(caller.locations, &options, &progress, caller.interrupted);
    let checked = caller.runtime.block_on(check);
    progress.finish_and_clear();
    match checked {
        Ok(release) => {
            if let Some(notice) = &release.notice {
                (caller.say)(notice);
            }
            Ok(())
        }
        Err(error) if error.is_usage() => Err(Error::Usage(format!("--on {engine}: {error}"))),
        Err(error) => Err(error.into()),
    }
}
