//! Files of a run: digests of its data and of this program, copies of SQLite files.

use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use plan::PlanError;
use rusqlite::backup::{Backup, StepResult};
use sha2::{Digest as _, Sha256};

use crate::error::DeployError;

/// Bytes of the header of a SQLite file that change though its rows stay: by a mode of its journal, a
/// copy by SQLite's backup, or a checkpoint (<https://www.sqlite.org/fileformat2.html>, section 1.3).
const HEADER_ONLY: [Range<usize>; 4] = [18..20, 24..28, 40..44, 92..100];

/// Another program that reads is waited for so long.
const BUSY_TIMEOUT_MS: &str = "10000";

/// XXH3 of a SQLite file that is closed.
pub fn digest(path: &Path) -> Result<String, DeployError> {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    read_database(path, |bytes| hasher.update(bytes))?;
    Ok(format!("{:032x}", hasher.digest128()))
}

/// SHA-256 of this program, read once.
pub fn program_digest() -> Result<String, DeployError> {
    static DIGEST: OnceLock<String> = OnceLock::new();
    if let Some(known) = DIGEST.get() {
        return Ok(known.clone());
    }
    let mut hasher = Sha256::new();
    read_all(&program()?, |bytes| hasher.update(bytes))?;
    Ok(DIGEST.get_or_init(|| hex::encode(hasher.finalize())).clone())
}

/// The file of this program, for the placeholder {crossover}.
pub fn program() -> Result<PathBuf, DeployError> {
    std::env::current_exe()
        .map_err(|source| DeployError::Io { path: PathBuf::from("this program"), source })
}

/// Removes a file that may not be there.
pub fn remove_if_there(path: &Path) -> Result<(), DeployError> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(DeployError::Io { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn read_all(path: &Path, mut use_bytes: impl FnMut(&mut [u8])) -> Result<(), DeployError> {
    let io = |source| DeployError::Io { path: path.to_owned(), source };
    let mut file = connect::sqlite::file::open(path).map_err(io)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(io)? {
            0 => return Ok(()),
            read => use_bytes(buffer.get_mut(..read).unwrap_or_default()),
        }
    }
}

/// Reads a SQLite file as if nothing was in [`HEADER_ONLY`].
fn read_database(path: &Path, mut use_bytes: impl FnMut(&[u8])) -> Result<(), DeployError> {
    let mut is_first = true;
    read_all(path, |part| {
        if std::mem::take(&mut is_first) {
            for bytes in HEADER_ONLY {
                part.get_mut(bytes).into_iter().for_each(|part| part.fill(0));
            }
        }
        use_bytes(part);
    })
}

/// Length and digest of a SQLite file that is closed.
pub fn contents(path: &Path) -> Result<String, DeployError> {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    let mut bytes = 0;
    read_database(path, |part| {
        bytes += part.len();
        hasher.update(part);
    })?;
    Ok(format!("{bytes} bytes, digest {:032x}", hasher.digest128()))
}

/// Copies under a temporary name, so that a copy that is cut off is never measured.
pub(crate) fn copy_database(source: &Path, target: &Path) -> Result<(), DeployError> {
    let temporary = target.with_extension("tmp");
    let failed = |source| DeployError::Sqlite { path: target.to_owned(), source };
    let connection = connect::sqlite::open_read_only(source)?;
    remove_if_there(&temporary)?;
    let mut copy = connect::sqlite::create_private(&temporary)?;
    let step = Backup::new(&connection, &mut copy).and_then(|backup| backup.step(-1));
    if step.map_err(failed)? != StepResult::Done {
        let message = format!(
            "{}: locked by another program; try again when it has committed",
            source.display()
        );
        return Err(PlanError::impossible("data", message).into());
    }
    drop(copy);
    std::fs::rename(&temporary, target)
        .map_err(|source| DeployError::Io { path: target.to_owned(), source })
}

/// Makes a checkpoint, and says how long it took.
pub(crate) fn checkpoint(path: &Path) -> Result<Duration, DeployError> {
    let connection = connect::sqlite::open_existing(path)?;
    connect::sqlite::pragmas(&connection, [("busy_timeout", BUSY_TIMEOUT_MS)])?;
    let begun = Instant::now();
    // Without a write-ahead log there is nothing to do, and SQLite does nothing.
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .map_err(|source| DeployError::Sqlite { path: path.to_owned(), source })?;
    Ok(begun.elapsed())
}
