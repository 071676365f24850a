//! A copy of a SQLite file with a step's statements carried out, made once and kept for the run.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use plan::PlanError;
use rusqlite::ErrorCode;

use super::stoppable::while_stoppable;
use crate::error::DeployError;
use crate::file::remove_if_there;
use crate::process::ProcessError;
use crate::site::Site;

/// The closed file `previous` with `statements` carried out on top of it.
pub fn changed_copy(
    site: &Site<'_>,
    previous: &Path,
    statements: &[String],
) -> Result<PathBuf, DeployError> {
    let stem = previous.file_stem().unwrap_or_default().to_string_lossy();
    let digest = xxhash_rust::xxh3::xxh3_64(format!("{statements:?}").as_bytes());
    let path = site.scratch.join(format!("{stem}-{digest:016x}.db"));
    if path.exists() {
        return Ok(path);
    }
    let unfinished = path.with_extension("making");
    let made = site.one_off.time(|| make(site, previous, &unfinished, statements));
    if made.is_err() {
        remove_if_there(&unfinished)?;
    }
    made?;
    let io = |source| DeployError::Io { path: path.clone(), source };
    std::fs::rename(&unfinished, &path).map_err(io)?;
    Ok(path)
}

fn make(
    site: &Site<'_>,
    previous: &Path,
    path: &Path,
    statements: &[String],
) -> Result<(), DeployError> {
    let io = |source| DeployError::Io { path: path.to_owned(), source };
    remove_if_there(path)?;
    connect::sqlite::file::copy(previous, path).map_err(io)?;
    let connection = connect::sqlite::open_existing(path)?;
    let failed = |source| DeployError::Sqlite { path: path.to_owned(), source };
    let handles = Mutex::new(vec![connection.get_interrupt_handle()]);
    let carried_out = while_stoppable(&handles, site.interrupted, || {
        statements.iter().try_for_each(|statement| {
            site.progress.set_message(format!("SQLite: {statement}"));
            connection.execute_batch(statement).map_err(|source| refused(path, statement, source))
        })
    });
    carried_out?;
    // The copy holds all of it before it gets its name.
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(failed)?;
    connection.close().map_err(|(_, source)| failed(source))
}

fn refused(path: &Path, statement: &str, source: rusqlite::Error) -> DeployError {
    match source.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => ProcessError::Interrupted.into(),
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
            DeployError::Sqlite { path: path.to_owned(), source }
        }
        // Its own text ends with the statement.
        _ => {
            PlanError::impossible("step", format!("SQLite refuses `{statement}`: {source}")).into()
        }
    }
}
