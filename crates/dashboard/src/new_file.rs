//! A SQLite file that exists whole or not at all: written under a temporary name beside its target,
//! synced, then renamed. Only its owner may read it: it holds hashes of passwords and keys. SQLite
//! gives a write-ahead log the rights of its database. If the writing ends early, the target stays
//! unchanged, and only a dashboard is ever replaced.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::schema::{is_empty_sqlite_dashboard, unknown_sqlite_table};

/// Read and written by its owner.
const MODE: u32 = 0o600;

/// Why a new SQLite file cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is such a file already.
    #[error("{} exists already; name another file, or replace it with --force", path.display())]
    Exists { path: PathBuf },
    /// The file to be replaced is open elsewhere.
    #[error("{} is in use; stop the program that has it open, then try again", path.display())]
    InUse { path: PathBuf },
    /// The file to be replaced is not a dashboard.
    #[error(
        "{} also has a table {table}, which is not the dashboard's: it is not replaced; name \
         another file",
        path.display()
    )]
    ForeignTable { path: PathBuf, table: String },
    #[error(
        "another process is creating {}: wait for it to finish, or name another file",
        path.display()
    )]
    BeingMade { path: PathBuf },
    #[error(
        "the disk is full: {} is not made; free some space, or name a file on another disk",
        path.display()
    )]
    DiskFull { path: PathBuf },
    /// The operating system refused something.
    #[error("cannot {action} {}: {reason}", path.display())]
    Io {
        action: &'static str,
        /// Of which file or folder.
        path: PathBuf,
        reason: io::Error,
    },
    /// The file to be replaced is not a SQLite database, or cannot be opened.
    #[error(transparent)]
    Engine(Box<connect::Error>),
}

impl From<connect::Error> for Error {
    fn from(error: connect::Error) -> Self {
        Self::Engine(Box::new(error))
    }
}

/// A file in the making. Dropped before [`NewFile::finish`], it is removed.
#[derive(Debug)]
pub struct NewFile {
    target: PathBuf,
    part: PathBuf,
    may_replace: bool,
    /// The unfinished file, locked so that no other process writes it at the same time.
    /// After a crash the lock is gone and the next process starts over.
    lock: File,
    /// The folder of the target, if it was made for it.
    made_folder: Option<PathBuf>,
    /// The file has its name: what lies under the temporary one now is another program's.
    finished: bool,
}

impl NewFile {
    /// Makes the empty temporary file. The target may be an empty dashboard, or with `replace` one
    /// with rows, if no other process has it open; it is replaced only by [`NewFile::finish`].
    pub fn begin(target: &Path, replace: bool) -> Result<Self, Error> {
        let may_replace = target.symlink_metadata().is_ok();
        if may_replace {
            settle(target, replace)?;
        }
        let made_folder = make_folder(target)?;
        let part = beside(target, ".part");
        let lock = lock(&part).map_err(|error| match error {
            TryLockError::WouldBlock => Error::BeingMade { path: target.to_owned() },
            TryLockError::Error(reason) => Error::Io { action: "make", path: part.clone(), reason },
        })?;
        Ok(Self {
            target: target.to_owned(),
            part,
            may_replace,
            lock,
            made_folder,
            finished: false,
        })
    }

    /// The path of the unfinished file. Every connection must be closed before [`NewFile::finish`].
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.part
    }

    /// Brings the file to the disk and gives it its name; its size in bytes.
    pub fn finish(mut self) -> Result<u64, Error> {
        let io_error = |action| {
            let path = self.target.clone();
            move |reason: io::Error| match reason.kind() {
                io::ErrorKind::StorageFull => Error::DiskFull { path },
                _ => Error::Io { action, path, reason },
            }
        };
        self.lock.sync_all().map_err(io_error("write"))?;
        let size = self.lock.metadata().map_err(io_error("write"))?.len();
        if !self.may_replace && self.target.symlink_metadata().is_ok() {
            return Err(Error::Exists { path: self.target.clone() });
        }
        // SQLite would take what an earlier file left behind for a part of this one.
        for suffix in ["-wal", "-shm", "-journal"] {
            remove(&beside(&self.target, suffix)).map_err(io_error("make"))?;
        }
        std::fs::rename(&self.part, &self.target).map_err(io_error("make"))?;
        self.finished = true;
        whole_file::sync_folder_of(&self.target).map_err(io_error("sync"))?;
        Ok(size)
    }
}

impl Drop for NewFile {
    /// Best effort: errors are ignored. After [`NewFile::finish`] there is nothing to remove.
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        let _ = remove(&self.part);
        let _ = remove(&beside(&self.part, "-journal"));
        if let Some(folder) = &self.made_folder {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// `dashboard.db.part` for `dashboard.db`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the folder of `target` if there is none; then it is returned.
fn make_folder(target: &Path) -> Result<Option<PathBuf>, Error> {
    let folder = folder(target);
    if folder.is_dir() {
        return Ok(None);
    }
    std::fs::create_dir_all(folder).map_err(|reason| Error::Io {
        action: "make",
        path: folder.to_owned(),
        reason,
    })?;
    Ok(Some(folder.to_owned()))
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Opens and locks the unfinished file, and empties it of what a killed program left.
fn lock(part: &Path) -> Result<File, TryLockError> {
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(MODE)
            .open(part)
            .map_err(TryLockError::Error)?;
        // One that a killed program of an earlier release left may have more.
        file.set_permissions(Permissions::from_mode(MODE)).map_err(TryLockError::Error)?;
        file.try_lock()?;
        // The program that held the lock may have renamed the file before it let go of it.
        let is_same = |found: std::fs::Metadata| {
            file.metadata().is_ok_and(|ours| (ours.dev(), ours.ino()) == (found.dev(), found.ino()))
        };
        if part.symlink_metadata().is_ok_and(is_same) {
            file.set_len(0).map_err(TryLockError::Error)?;
            return Ok(file);
        }
    }
}

/// Checks that an existing file may be replaced and that no process has it open. Only a dashboard
/// is ever replaced: a wrong path must not cost anyone their data.
fn settle(path: &Path, replace: bool) -> Result<(), Error> {
    let exists = || Error::Exists { path: path.to_owned() };
    if path.metadata().is_ok_and(|data| data.is_file() && data.len() == 0) {
        return if replace { Ok(()) } else { Err(exists()) };
    }
    let connection = match connect::sqlite::open_existing(path) {
        Err(_) if !replace => return Err(exists()),
        opened => opened?,
    };
    if !replace && !is_empty_sqlite_dashboard(&connection) {
        return Err(exists());
    }
    if let Some(table) = unknown_sqlite_table(&connection).map_err(connect::Error::from)? {
        return Err(Error::ForeignTable { path: path.to_owned(), table });
    }
    // Leaving WAL mode needs the file for oneself, and takes its -wal and -shm away.
    connection
        .execute_batch(
            "PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; COMMIT",
        )
        .map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                Error::InUse { path: path.to_owned() }
            }
            _ => connect::Error::from(error).into(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_dropped_early_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("data/dashboard.db");
        let file = NewFile::begin(&target, false).unwrap();
        assert_eq!(names(&home.path().join("data")), ["dashboard.db.part"]);
        drop(file);
        assert_eq!(names(home.path()), Vec::<String>::new());
    }

    #[test]
    fn two_processes_cannot_make_the_same_file() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("dashboard.db");
        let first = NewFile::begin(&target, false).unwrap();
        let second = NewFile::begin(&target, false);
        assert!(matches!(second, Err(Error::BeingMade { .. })), "{second:?}");
        first.finish().unwrap();
        assert_eq!(names(home.path()), ["dashboard.db"]);
        assert_eq!(target.metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_unfinished_file_of_a_killed_process_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("dashboard.db");
        std::fs::write(beside(&target, ".part"), "half a database").unwrap();
        std::fs::write(beside(&target, "-wal"), "of a file long gone").unwrap();
        assert_eq!(NewFile::begin(&target, false).unwrap().finish().unwrap(), 0);
        assert_eq!(names(home.path()), ["dashboard.db"]);
    }

    #[test]
    fn an_existing_file_is_replaced_on_request_and_at_the_end() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("dashboard.db");
        let old = rusqlite::Connection::open(&target).unwrap();
        old.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE blogs (id)").unwrap();
        let refused = |replace| NewFile::begin(&target, replace).unwrap_err();
        assert!(matches!(refused(false), Error::Exists { .. }));
        assert!(matches!(refused(true), Error::InUse { .. }));
        drop(old);
        drop(NewFile::begin(&target, true).unwrap());
        let old = rusqlite::Connection::open(&target).unwrap();
        old.execute("SELECT * FROM blogs", []).unwrap();
        drop(old);
        NewFile::begin(&target, true).unwrap().finish().unwrap();
        assert_eq!(target.metadata().unwrap().len(), 0);
    }

    #[test]
    fn a_file_that_is_no_database_is_never_replaced() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("thesis.txt");
        std::fs::write(&target, "years of work").unwrap();
        let refused = NewFile::begin(&target, true).unwrap_err();
        assert!(refused.to_string().contains("not a SQLite database"), "{refused}");
    }

    #[test]
    fn a_database_with_other_tables_is_never_replaced() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("shop.db");
        let shop = rusqlite::Connection::open(&target).unwrap();
        shop.execute_batch("CREATE TABLE blogs (id); CREATE TABLE invoices (id)").unwrap();
        drop(shop);
        let refused = NewFile::begin(&target, true).unwrap_err();
        assert!(matches!(refused, Error::ForeignTable { .. }), "{refused}");
    }
}
