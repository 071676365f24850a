//! Every way in which a step can fail, each with the way out.

use std::io;
use std::path::{Path, PathBuf};

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Blobs that cannot be made.
    #[error("{problem}")]
    Recipe {
        /// Which number, and its bounds.
        problem: String,
    },
    /// Settings that do not go together.
    #[error("{problem}")]
    Settings {
        /// The settings, and the remedy.
        problem: String,
    },
    /// A file or folder is in the way of a new one.
    #[error("{} exists already: {way_out}", path.display())]
    Exists {
        /// The file or folder in the way.
        path: PathBuf,
        way_out: String,
    },
    /// The database has no table of blobs.
    #[error(
        "{} has no table kv(k INTEGER PRIMARY KEY, v BLOB): make one with crossover blob init",
        path.display()
    )]
    NoTable { path: PathBuf },
    /// A table of that name that neither `init` nor kvtest made.
    #[error(
        "{} was made neither by crossover blob init nor by kvtest ({problem}), so nothing in it is \
         overwritten: name another file", path.display()
    )]
    NotOurTable { path: PathBuf, problem: String },
    /// A table of blobs without rows.
    #[error("{} holds no blobs", path.display())]
    Empty { path: PathBuf },
    /// Nothing there, or something that holds no blobs.
    #[error("{}: {problem}", path.display())]
    NoTarget {
        path: PathBuf,
        /// The value found, and those allowed.
        problem: String,
    },
    /// A folder that `export` did not write.
    #[error(
        "{} was not written by crossover blob export ({problem}), so nothing in it is overwritten \
         or deleted: name a new folder",
        path.display()
    )]
    NotOurs { path: PathBuf, problem: String },
    /// A value that is not a blob.
    #[error("{}: {problem}", path.display())]
    BadBlob {
        path: PathBuf,
        /// Which one, and what it is.
        problem: String,
    },
    /// Too little room, known before or found on the way.
    #[error(
        "{} has no space left: {} are needed and {} are free; make fewer or smaller blobs, or name \
         a place on another file system", path.display(), notation::bytes(*needed_bytes),
         notation::bytes(*free_bytes)
    )]
    NoSpace {
        /// A path on the full file system.
        path: PathBuf,
        /// Space that the work needs in all, about.
        needed_bytes: u64,
        free_bytes: u64,
    },
    /// More files than a folder or a file system takes.
    #[error("{}: {} files are too many: {problem}", path.display(), notation::thousands(*files))]
    TooManyFiles {
        path: PathBuf,
        /// Files of the whole export.
        files: u64,
        /// The setting behind the limit, and the remedy.
        problem: String,
    },
    /// The operating system refused something.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
    /// The file could not be opened as a database, or a pragma was not taken.
    #[error(transparent)]
    Engine(#[from] connect::Error),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The user asked to stop an update that cannot be undone.
    #[error("interrupted: {} blobs were overwritten and stay so", notation::thousands(*blobs))]
    InterruptedAfter { blobs: u64 },
}

impl Error {
    /// A mistake in the command line, a plan, a URL or a setting: exit code 2.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Recipe { .. } | Self::Settings { .. } => true,
            Self::Engine(error) => error.is_usage(),
            _ => false,
        }
    }

    /// For `map_err` where the system was asked to do something with a path.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    /// The same for calls that answer with a bare number.
    pub(crate) fn errno(doing: &'static str, path: &Path) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Self::Io { doing, path: path.to_owned(), source: errno.into() }
    }

    /// For `map_err` where SQLite was asked something.
    pub(crate) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        move |source| Self::Sqlite { path: path.to_owned(), source }
    }
}
