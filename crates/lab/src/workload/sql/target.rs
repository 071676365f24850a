//! Target of the sessions of an engine's clients, and their opening.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use connect::postgres::thin::WaitLimits;
use connect::sqlite_library::SqliteLibrary;
use engine::{EngineKind, PostgresUrl};
use host::postgres::session_settings;
use parking_lot::Mutex;
use plan::ConnectionBy;
use rusqlite::InterruptHandle;

use super::client::SqlSession;
use super::library_session::LibrarySession;
use super::mysql::MysqlSession;
use super::postgres::PostgresSession;
use super::remote::{LibraryFile, RemoteSession};
use super::sqlite::{OpenMode, SqliteSession};

/// Place of a cell's sessions among those of its engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionPlace {
    /// Empty in a plan without steps.
    pub step: String,
    /// The default where an engine is not reached in several ways.
    pub by: ConnectionBy,
}

impl SessionPlace {
    pub(crate) fn of_step(step: &str) -> Self {
        Self { step: step.to_owned(), ..Self::default() }
    }
}

/// An engine that can be connected to.
pub(crate) enum SqlTarget {
    /// A file, opened in this process.
    Sqlite {
        path: PathBuf,
        access: OpenMode,
        settings: Vec<(String, String)>,
        /// Of every connection made so far.
        handles: Mutex<Vec<InterruptHandle>>,
    },
    /// A file, opened by another library in processes of its own.
    SqliteElsewhere { program: PathBuf, file: LibraryFile },
    /// The same in such a process.
    SqliteByLibrary { library: Arc<SqliteLibrary>, file: LibraryFile },
    /// A server, its session settings in the URL.
    Postgres {
        url: PostgresUrl,
        read_only: bool,
        /// Of the server itself, where the URL leads to a pool.
        behind_pool: Option<Box<PostgresUrl>>,
    },
    /// A server of the user's.
    Mysql { url: String, read_only: bool, settings: Vec<(String, String)> },
}

impl SqlTarget {
    pub(crate) fn kind(&self) -> EngineKind {
        match self {
            Self::Sqlite { .. } | Self::SqliteElsewhere { .. } | Self::SqliteByLibrary { .. } => {
                EngineKind::Sqlite
            }
            Self::Postgres { .. } => EngineKind::Postgres,
            Self::Mysql { .. } => EngineKind::Mariadb,
        }
    }

    pub(crate) fn open<'a>(
        &self,
        limits: WaitLimits<'a>,
    ) -> Result<Box<dyn SqlSession + Send + 'a>, connect::Error> {
        Ok(match self {
            Self::Sqlite { path, access, settings, handles } => {
                let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                let (session, _) = SqliteSession::open(path, *access, settings)?;
                let mut handles = handles.lock();
                handles.push(session.interrupt_handle());
                Box::new(session)
            }
            Self::SqliteElsewhere { program, file } => {
                let opened = RemoteSession::open(program, file, limits.interrupted);
                Box::new(opened.map_err(|error| not_opened(file, &error))?.0)
            }
            Self::SqliteByLibrary { library, file } => {
                let LibraryFile { path, access, settings, .. } = file;
                let opened = LibrarySession::open(library, path, *access, settings);
                Box::new(opened.map_err(|error| not_opened(file, &error))?.0)
            }
            Self::Postgres { url, read_only, behind_pool } => {
                // The server has the settings of a pool's sessions.
                let settings = match behind_pool {
                    None => session_settings(*read_only),
                    Some(_) => Vec::new(),
                };
                Box::new(PostgresSession::connect(url, &settings, limits)?)
            }
            Self::Mysql { url, read_only, settings } => {
                let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                let mut connection = connect::mysql::connect(url, limits.timeout)?;
                connect::mysql::session_settings(&mut connection, settings)?;
                Box::new(MysqlSession::new(connection, *read_only)?)
            }
        })
    }

    /// The same for the laboratory's own questions, past a pool.
    pub(crate) fn open_own<'a>(
        &self,
        limits: WaitLimits<'a>,
    ) -> Result<Box<dyn SqlSession + Send + 'a>, connect::Error> {
        match self {
            Self::Postgres { behind_pool: Some(url), read_only, .. } => {
                let settings = session_settings(*read_only);
                Ok(Box::new(PostgresSession::connect(url, &settings, limits)?))
            }
            _ => self.open(limits),
        }
    }

    /// `true` where sessions of clients share connections to the server.
    pub(crate) fn is_pooled(&self) -> bool {
        matches!(self, Self::Postgres { behind_pool: Some(_), .. })
    }

    /// Does `work`, during which the user can stop a statement of SQLite, which no timeout ends.
    pub(crate) fn while_stoppable<T: Send>(
        &self,
        interrupted: &AtomicBool,
        work: impl FnOnce() -> T,
    ) -> T {
        let handles = match self {
            Self::Sqlite { handles, .. } => handles,
            // A session in another process looks by itself whether the user asked to stop.
            Self::SqliteElsewhere { .. }
            | Self::SqliteByLibrary { .. }
            | Self::Postgres { .. }
            | Self::Mysql { .. } => return work(),
        };
        host::while_stoppable(handles, interrupted, work)
    }
}

/// A file that a library does not open.
pub(super) fn not_opened(file: &LibraryFile, error: &impl ToString) -> connect::Error {
    connect::Error::CannotOpen { path: file.path.clone(), problem: error.to_string() }
}
