//! Failures of an assessment.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use lab::error::RunError;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A mistake in the options, statements or logs that were given.
    #[error("{0}")]
    Usage(String),
    #[error("interrupted; nothing is left behind")]
    Interrupted,
    /// An operation on a file or folder that failed.
    #[error("cannot {action}: {source}{way_out}")]
    Io {
        action: String,
        source: io::Error,
        /// `; CROSSOVER_DATA_DIR names another folder`, or nothing.
        way_out: String,
    },
    /// The data or the machine is in the way; the text names the remedy.
    #[error("{0}")]
    Refused(String),
    #[error("no query of {log} can be asked of this file; the last complaint")]
    UselessLog { log: String, source: Box<Error> },
    #[error(transparent)]
    Name(#[from] engine::Error),
    #[error(transparent)]
    Connect(#[from] connect::Error),
    #[error(transparent)]
    Server(#[from] server::Error),
    /// No way to get the PostgreSQL to compare with.
    #[error("{reason}; or measure SQLite alone: {command}")]
    NoPostgres {
        reason: Box<server::Error>,
        /// The same try on SQLite alone.
        command: String,
    },
    #[error(transparent)]
    Migration(#[from] migrate::Error),
    #[error(transparent)]
    Deployment(#[from] host::DeployError),
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
    #[error(transparent)]
    Run(Box<RunError>),
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl Error {
    /// The same; where no PostgreSQL can be fetched, with the `command` that needs none.
    pub(crate) fn or_on_sqlite(self, command: &str) -> Self {
        match self {
            Self::Server(reason @ server::Error::Offline { .. }) => {
                Self::NoPostgres { reason: Box::new(reason), command: command.to_owned() }
            }
            error => error,
        }
    }

    /// For `map_err` of what is done with the file or folder at `path`.
    pub(crate) fn io(action: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let (action, path) = (format!("{action} {}", path.display()), path.to_owned());
        move |source| Self::Io { way_out: server::elsewhere(&path, &source), action, source }
    }

    /// True for a mistake in the options, statements or logs that were given.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_) | Self::Plan(_) | Self::Name(_) => true,
            Self::UselessLog { source, .. } => source.is_usage(),
            Self::Connect(error) => error.is_usage(),
            Self::Server(error) => error.is_usage(),
            Self::Deployment(error) => error.is_usage(),
            Self::Run(error) => error.is_usage(),
            Self::Interrupted
            | Self::Io { .. }
            | Self::Refused(_)
            | Self::NoPostgres { .. }
            | Self::Migration(_)
            | Self::Sqlite(_)
            | Self::Postgres(_) => false,
        }
    }
}

pub fn check_interrupted(interrupted: &AtomicBool) -> Result<()> {
    match interrupted.load(Ordering::Relaxed) {
        true => Err(Error::Interrupted),
        false => Ok(()),
    }
}
