//! A place of its own for one try: the copy of the user's file, the server's data. Everything in it
//! goes when the try ends, however it ends; what a killed one left is swept by the next.

use std::fs::File;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use rusqlite::ErrorCode;
use rusqlite::backup::{Backup, StepResult};
use server::Locations;

use crate::error::{Error, Result, check_interrupted};

/// How long a locked file is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How often a locked file is tried.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Pages copied before progress and interruption are looked at.
const PAGES_BETWEEN_LOOKS: i32 = 2048;
/// Space for the copies in SQLite's form, in sizes of the file: two of it, three of steps.
const SPACE_OF_SQLITE: u64 = 2;
const SPACE_OF_SQLITE_STEPS: u64 = 3;
/// The same of PostgreSQL: one with its write-ahead log, one of the step with indexes.
const SPACE_OF_POSTGRES: u64 = 3;
const SPACE_OF_POSTGRES_STEPS: u64 = 1;
/// A server's own files besides: its catalogs, and its write-ahead log.
const SPACE_OF_SERVER: u64 = 128 << 20;

/// The copies that a try makes.
#[derive(Clone, Copy, Debug)]
pub struct Copies {
    pub has_steps: bool,
    pub has_server: bool,
}

impl Copies {
    /// Bytes for all copies of a file of `bytes`.
    pub fn space_needed(self, bytes: u64) -> u64 {
        let or_none = |size: u64, is_made: bool| if is_made { size } else { 0 };
        let sizes = SPACE_OF_SQLITE
            + or_none(SPACE_OF_SQLITE_STEPS, self.has_steps)
            + or_none(SPACE_OF_POSTGRES, self.has_server)
            + or_none(SPACE_OF_POSTGRES_STEPS, self.has_steps && self.has_server);
        bytes.saturating_mul(sizes).saturating_add(or_none(SPACE_OF_SERVER, self.has_server))
    }
}

/// The folder, and the locations that lie in it.
pub struct WorkFolder {
    /// For servers and the laboratory: releases are shared, data is not.
    pub locations: Locations,
    keep: bool,
    copies: Copies,
    /// Held while the try lives; a folder whose lock is free belongs to a program that was killed.
    _lock: File,
}

impl WorkFolder {
    /// Makes a new place for `copies` beside the other data of this account. With `keep` it stays.
    pub fn new(shared: &Locations, keep: bool, copies: Copies) -> Result<Self> {
        let all = shared.data.join("try");
        make_folder(&shared.data)?;
        make_folder(&all)?;
        let gate = lock(&all.join(".lock"))?;
        sweep(&all, shared);
        let path =
            all.join(format!("{}-{}", jiff::Timestamp::now().as_second(), std::process::id()));
        make_folder(&path)?;
        let lock = lock(&path.join(LOCK))?;
        drop(gate);
        let locations = Locations { data: path, ..shared.clone() };
        Ok(Self { locations, keep, copies, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.locations.data
    }

    /// A file or folder in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Copies the database at `source` into this place as of one moment; other programs may write
    /// to it meanwhile (in rollback-journal mode they wait).
    pub fn copy(
        &self,
        source: &Path,
        progress: &ProgressBar,
        interrupted: &AtomicBool,
    ) -> Result<PathBuf> {
        self.check_space(source)?;
        let target = self.join("source.db");
        let from = connect::sqlite::open_read_only(source)?;
        let mut to = connect::sqlite::create_private(&target)?;
        let explain = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                locked(source, "try again when it has committed")
            }
            Some(ErrorCode::DiskFull) => self.no_space(source),
            _ => Error::Refused(format!("cannot copy {}: {error}", source.display())),
        };
        from.busy_timeout(LOCK_WAIT).map_err(explain)?;
        // The first read of a transaction fixes what all later ones see.
        from.execute_batch("BEGIN; SELECT count(*) FROM main.sqlite_schema").map_err(explain)?;
        let backup = Backup::new(&from, &mut to).map_err(explain)?;
        let begun = Instant::now();
        loop {
            check_interrupted(interrupted)?;
            match backup.step(PAGES_BETWEEN_LOOKS).map_err(explain)? {
                StepResult::Done => break,
                StepResult::More => {
                    let pages = backup.progress();
                    progress.set_length(u64::try_from(pages.pagecount).unwrap_or(0));
                    progress.set_position(
                        u64::try_from(pages.pagecount - pages.remaining).unwrap_or(0),
                    );
                }
                _ if begun.elapsed() > LOCK_WAIT => {
                    return Err(locked(source, "try again when it has committed"));
                }
                _ => std::thread::sleep(LOOK_EVERY),
            }
        }
        Ok(target)
    }

    /// The disk space of the copies, in a sentence for before they are made.
    pub fn space_in_words(&self, source: &Path) -> Result<String> {
        let bytes = source.metadata().map_err(Error::io("read", source))?.len();
        Ok(format!(
            "Copies take up to {} in {} and are removed at the end",
            notation::bytes(self.copies.space_needed(bytes)),
            self.path().parent().unwrap_or(self.path()).display()
        ))
    }

    fn check_space(&self, source: &Path) -> Result<()> {
        let bytes = source.metadata().map_err(Error::io("read", source))?.len();
        let disk = rustix::fs::statvfs(self.path())
            .map_err(|error| Error::io("tell the space at", self.path())(error.into()))?;
        if disk.f_bavail.saturating_mul(disk.f_frsize) < self.copies.space_needed(bytes) {
            return Err(self.no_space(source));
        }
        Ok(())
    }

    fn no_space(&self, source: &Path) -> Error {
        let bytes = source.metadata().map_or(0, |metadata| metadata.len());
        Error::Refused(format!(
            "not enough room for the copies of {} in {}: up to {} are needed; name another place by \
             CROSSOVER_DATA_DIR",
            source.display(),
            self.path().parent().unwrap_or(self.path()).display(),
            notation::bytes(self.copies.space_needed(bytes))
        ))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // A leftover costs disk space only, and the next try sweeps it; what is kept on purpose
        // has no lock.
        let _ = match self.keep {
            true => std::fs::remove_file(self.join(LOCK)),
            false => std::fs::remove_dir_all(self.path()),
        };
    }
}

/// Refuses places that cannot be written, before anything long begins.
pub fn check_outputs(runs: &Path) -> Result<()> {
    check_writable(runs, "--runs names another folder")?;
    check_writable(Path::new("."), "the plan is written here: change to another folder")
}

/// Refuses a folder for results into which nothing can be written, before anything is measured.
fn check_writable(folder: &Path, way_out: &str) -> Result<()> {
    let refused = |error: std::io::Error| {
        Error::Refused(format!("cannot write into {}: {error}; {way_out}", folder.display()))
    };
    // It is made when it is needed, in the nearest folder that is there.
    let there = folder.ancestors().find(|there| there.is_dir()).unwrap_or(Path::new("."));
    rustix::fs::access(there, rustix::fs::Access::WRITE_OK).map_err(|error| refused(error.into()))
}

const LOCK: &str = "owner.lock";

fn locked(source: &Path, way_out: &str) -> Error {
    Error::Refused(format!(
        "{}: locked by another program for more than {} seconds; {way_out}",
        source.display(),
        LOCK_WAIT.as_secs()
    ))
}

fn lock(path: &Path) -> Result<File> {
    let locked = File::create(path).and_then(|file| file.lock().map(|()| file));
    locked.map_err(Error::io("lock", path))
}

/// A folder through which the account of the servers can pass.
fn make_folder(path: &Path) -> Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(path)
        .map_err(Error::io("make the folder", path))
}

/// Removes what killed tries left: their servers first.
fn sweep(all: &Path, shared: &Locations) {
    let folders = std::fs::read_dir(all).into_iter().flatten().flatten();
    for folder in folders.map(|entry| entry.path()).filter(|path| path.is_dir()) {
        let owner = File::open(folder.join(LOCK));
        if owner.is_ok_and(|owner| owner.try_lock().is_ok()) {
            let locations = Locations { data: folder.clone(), ..shared.clone() };
            if server::stop_orphans(&locations).is_ok() {
                let _ = std::fs::remove_dir_all(&folder);
            }
        }
    }
}
