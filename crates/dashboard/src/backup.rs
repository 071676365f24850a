//! `dashboard backup`: a copy of a SQLite dashboard while it is in use. It is one consistent state,
//! checked, and gets its name only when it is whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::ProgressBar;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode};

use crate::new_file::{self, NewFile};
use crate::schema;
use crate::schema::version::SchemaVersion;

/// Pages copied between two looks at the progress and at Ctrl-C.
const PAGES_PER_STEP: i32 = 4_096;

/// The wait for another process that writes into a file without a write-ahead log.
const PAUSE: Duration = Duration::from_millis(50);

/// Copies the dashboard in `source` to the new file `target`; its size in bytes.
pub fn sqlite(
    source: &Path,
    target: &Path,
    progress: &ProgressBar,
    interrupted: &Arc<AtomicBool>,
) -> Result<u64, Error> {
    let connection = connect::sqlite::open_existing(source)?;
    connect::sqlite::pragmas(&connection, [("busy_timeout", "5000")])?;
    if schema::version::of_sqlite(&connection)? == SchemaVersion::Absent {
        // The check says what it is instead.
        schema::check_sqlite(&connection)?;
    }
    if target.symlink_metadata().is_ok() {
        return Err(Error::Exists { path: target.to_owned() });
    }
    let file = NewFile::begin(target, false)?;
    copy(&connection, file.path(), progress, interrupted).map_err(|error| match &error {
        Error::Sqlite(cause) if cause.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
            new_file::Error::DiskFull { path: target.to_owned() }.into()
        }
        _ => error,
    })?;
    Ok(file.finish()?)
}

/// Inside one read transaction: writes of other processes neither get into the copy nor make
/// SQLite begin it again.
fn copy(
    source: &Connection,
    target: &Path,
    progress: &ProgressBar,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Error> {
    let snapshot = source.unchecked_transaction()?;
    snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let mut copy = connect::sqlite::create(target)?;
    let backup = Backup::new(&snapshot, &mut copy)?;
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let step = backup.step(PAGES_PER_STEP)?;
        let pages = backup.progress();
        let (all, left) = (pages.pagecount, pages.remaining);
        progress.set_length(u64::try_from(all).unwrap_or(0));
        progress.set_position(u64::try_from(all - left).unwrap_or(0));
        match step {
            StepResult::Done => break,
            StepResult::More => {}
            _ => std::thread::sleep(PAUSE),
        }
    }
    drop(backup);
    snapshot.commit()?;
    // The copy of a file in WAL mode would be one too, and come with two more files.
    connect::sqlite::pragmas(&copy, [("journal_mode", "delete")])?;
    let found: String = copy.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        return Err(Error::NotSound { found });
    }
    Ok(())
}

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is such a file already.
    #[error("{} exists already; a backup never replaces a file: name another", path.display())]
    Exists { path: PathBuf },
    /// The copy is damaged, which means that the source is.
    #[error(
        "the copy is not sound and was removed: SQLite's integrity check says {found:?}; the \
         database itself is damaged: restore an earlier backup"
    )]
    NotSound { found: String },
    #[error("interrupted: no backup was made")]
    Interrupted,
    /// The database cannot be opened.
    #[error(transparent)]
    Engine(#[from] connect::Error),
    /// The database is not a dashboard's.
    #[error(transparent)]
    Schema(#[from] schema::Error),
    /// The new file cannot be made.
    #[error(transparent)]
    NewFile(#[from] new_file::Error),
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
}
