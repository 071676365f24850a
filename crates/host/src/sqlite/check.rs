//! Refusals of SQLite's settings before any data is made.

use std::path::Path;

use engine::EngineSpec;

use crate::error::DeployError;

/// The pragmas that only a database without tables takes.
const OF_EMPTY: [&str; 3] = ["page_size", "auto_vacuum", "encoding"];

/// Tries the settings on an empty file in `folder`, where those of a run will lie: a database in
/// memory has a journal of its own and is never mapped.
pub fn try_settings(engine: &EngineSpec, folder: &Path) -> Result<(), DeployError> {
    let mut settings: Vec<(&str, &str)> = engine.engine_settings().collect();
    // The first write, such as a new journal mode's, ends the time for these.
    settings.sort_by_key(|(name, _)| !is_of_empty(name));
    if settings.is_empty() {
        return Ok(());
    }
    let path = folder.join(format!("settings-{}.db", std::process::id()));
    let io = |source| DeployError::Io { path: path.clone(), source };
    std::fs::create_dir_all(folder).map_err(io)?;
    let tried = connect::sqlite::create(&path)
        .and_then(|connection| connect::sqlite::pragmas(&connection, settings));
    // It is empty, and the next trial of settings takes its place.
    let _ = std::fs::remove_file(&path);
    tried?;
    Ok(())
}

/// Tries the settings on a file of the user's without writing to it.
pub(crate) fn check_yours(engine: &EngineSpec, path: &Path) -> Result<(), DeployError> {
    let connection = connect::sqlite::open_read_only(path)?;
    for (name, wanted) in engine.engine_settings() {
        if name.eq_ignore_ascii_case("journal_mode") {
            let failed = |source| DeployError::Sqlite { path: path.to_owned(), source };
            let own: String = connection
                .pragma_query_value(None, "journal_mode", |row| row.get(0))
                .map_err(failed)?;
            if !own.eq_ignore_ascii_case(wanted) {
                return Err(no_effect(engine, name, "your own database is never written to"));
            }
        }
    }
    connect::sqlite::pragmas(&connection, engine.engine_settings())?;
    Ok(())
}

/// Refuses what only a database without tables takes.
pub(crate) fn check_copy(engine: &EngineSpec) -> Result<(), DeployError> {
    match engine.engine_settings().find(|(name, _)| is_of_empty(name)) {
        Some((name, _)) => {
            Err(no_effect(engine, name, "a copy of data keeps what its file was made with"))
        }
        None => Ok(()),
    }
}

fn is_of_empty(name: &str) -> bool {
    OF_EMPTY.iter().any(|one| one.eq_ignore_ascii_case(name))
}

fn no_effect(engine: &EngineSpec, setting: &str, why: &'static str) -> DeployError {
    DeployError::NoEffect { engine: engine.label(), setting: setting.to_owned(), why }
}
