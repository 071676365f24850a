//! Work with SQLite that the user can stop: no timeout ends one of its statements.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::ProgressBar;
use parking_lot::Mutex;
use plan::PlanError;
use rusqlite::{ErrorCode, InterruptHandle};

use crate::error::DeployError;
use crate::process::ProcessError;

/// How often it is looked whether the user asked to stop.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Does `work`, during which the connections of `handles` are interrupted once the user asks to stop.
pub fn while_stoppable<T: Send>(
    handles: &Mutex<Vec<InterruptHandle>>,
    interrupted: &AtomicBool,
    work: impl FnOnce() -> T,
) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if interrupted.load(Ordering::Relaxed) {
                    let handles = handles.lock();
                    handles.iter().for_each(InterruptHandle::interrupt);
                }
                thread::park_timeout(LOOK_EVERY);
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        watch.thread().unpark();
        result
    })
}

/// Carries out the statements that a plan has under `key` on a SQLite file, and closes it whole.
pub(crate) fn carry_out(
    path: &Path,
    statements: &[String],
    key: &str,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<(), DeployError> {
    let connection = connect::sqlite::open_existing(path)?;
    let failed = |source| DeployError::Sqlite { path: path.to_owned(), source };
    let handles = Mutex::new(vec![connection.get_interrupt_handle()]);
    let carried_out = while_stoppable(&handles, interrupted, || {
        statements.iter().try_for_each(|statement| {
            progress.set_message(format!("SQLite: {statement}"));
            let refused = |source| refused(path, key, statement, source);
            connection.execute_batch(statement).map_err(refused)
        })
    });
    carried_out?;
    // The file holds all of it before it gets its name.
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(failed)?;
    connection.close().map_err(|(_, source)| failed(source))
}

fn refused(path: &Path, key: &str, statement: &str, source: rusqlite::Error) -> DeployError {
    match source.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => ProcessError::Interrupted.into(),
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
            DeployError::Sqlite { path: path.to_owned(), source }
        }
        // Its own text ends with the statement.
        _ => PlanError::impossible(key, format!("SQLite refuses `{statement}`: {source}")).into(),
    }
}
