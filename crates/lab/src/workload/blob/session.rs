//! One client's open line: a blob is read or overwritten by its id, whatever holds it. A thread
//! opens its own.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use blob::{Access, BlobForm, FileAccess, LookupAccess, SqliteAccess};
use connect::postgres::thin::WaitLimits;
use engine::PostgresUrl;
use plan::storage::{FileSettings, SqliteSettings};

use super::postgres::PostgresBlobs;
use super::session_error::SessionError;

/// Where the sessions of a line go.
pub(super) enum BlobPlace {
    Sqlite { file: PathBuf, settings: SqliteSettings },
    Files { folder: PathBuf, form: BlobForm, settings: FileSettings },
    Lookup { names: PathBuf, folder: PathBuf, sqlite: SqliteSettings, files: FileSettings },
    Postgres { url: PostgresUrl },
}

pub(super) enum BlobSession<'a> {
    Here(Box<dyn Access>),
    Postgres(Box<PostgresBlobs<'a>>),
}

impl BlobPlace {
    /// Opens a session; one that only reads tells the engine so.
    pub(super) fn open<'a>(
        &self,
        read_only: bool,
        timeout: Duration,
        interrupted: &'a AtomicBool,
    ) -> Result<BlobSession<'a>, SessionError> {
        let here = |access: Result<Box<dyn Access>, blob::Error>| {
            access.map(BlobSession::Here).map_err(SessionError::of)
        };
        match self {
            Self::Sqlite { file, settings } => {
                here(SqliteAccess::open(file, settings).map(|access| Box::new(access) as _))
            }
            Self::Files { folder, form, settings } => {
                here(FileAccess::open(folder, *form, settings).map(|access| Box::new(access) as _))
            }
            Self::Lookup { names, folder, sqlite, files } => here(
                LookupAccess::open(names, folder, sqlite, files)
                    .map(|access| Box::new(access) as _),
            ),
            Self::Postgres { url } => {
                let limits = WaitLimits { timeout, interrupted };
                let opened = PostgresBlobs::connect(url, read_only, limits)?;
                Ok(BlobSession::Postgres(Box::new(opened)))
            }
        }
    }
}

impl BlobSession<'_> {
    /// Shows the bytes of blob `id` to `visit`; whether there is such a blob.
    pub(super) fn read(
        &mut self,
        id: u64,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, SessionError> {
        match self {
            Self::Here(access) => access.read(id, visit).map_err(SessionError::of),
            Self::Postgres(blobs) => blobs.read(id, visit),
        }
    }

    /// Overwrites blob `id` by as many bytes; whether there is such a blob.
    pub(super) fn update(&mut self, id: u64, bytes: &[u8]) -> Result<bool, SessionError> {
        match self {
            Self::Here(access) => access.update(id, bytes).map_err(SessionError::of),
            Self::Postgres(blobs) => blobs.update(id, bytes),
        }
    }

    pub(super) fn begin(&mut self) -> Result<(), SessionError> {
        match self {
            Self::Here(access) => access.begin().map_err(SessionError::of),
            Self::Postgres(blobs) => blobs.begin(),
        }
    }

    pub(super) fn commit(&mut self) -> Result<(), SessionError> {
        match self {
            Self::Here(access) => access.commit().map_err(SessionError::of),
            Self::Postgres(blobs) => blobs.commit(),
        }
    }

    /// Moves what was committed to its final place.
    pub(super) fn checkpoint(&mut self) -> Result<(), SessionError> {
        match self {
            Self::Here(access) => access.checkpoint().map_err(SessionError::of),
            Self::Postgres(blobs) => blobs.checkpoint(),
        }
    }

    /// Opens and closes what holds blob `id` alone, where something does.
    pub(super) fn open_and_close(&mut self, id: u64) -> Result<bool, SessionError> {
        match self {
            Self::Here(access) => access.open_and_close(id).map_err(SessionError::of),
            Self::Postgres(_) => Ok(true),
        }
    }
}
