//! Errors of a watch that cannot begin.

use std::io;
use std::path::PathBuf;

/// A file whose locks cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error("{path}: {source}", path = path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{} is not a SQLite database: its first bytes are others", .0.display())]
    NotSqlite(PathBuf),
    /// Its locks are kept by another machine, or by a program.
    #[error(
        "{path} is on {file_system}: its locks are not all known to this machine. Watch on the machine \
         that has the file on a disk",
        path = path.display()
    )]
    FileSystem { path: PathBuf, file_system: &'static str },
}
