//! Errors of setting an engine up.

use std::path::PathBuf;

use crate::process::ProcessError;
use load::http::HttpError;
use load::resource::MemoryLimitError;
use plan::PlanError;

/// Why an engine could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// A placeholder or command of the plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The engine or a connection to it.
    #[error(transparent)]
    Engine(Box<connect::Error>),
    #[error(transparent)]
    Server(Box<server::Error>),
    /// The application or a command that prepares.
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Memory(#[from] MemoryLimitError),
    /// The application does not answer.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// A statement of this program on a server.
    #[error("{engine}: {source}")]
    Statement { engine: String, source: Box<connect::Error> },
    /// A SQLite statement of this program.
    #[error("{path}: {source}")]
    Sqlite { path: PathBuf, source: rusqlite::Error },
    /// A copy is not what its template was when it was filled.
    #[error(
        "{engine}: the copy of its data holds {copy}, the data as filled {template}; \
         something has changed the kept data, which nothing may: remove them \
         (`crossover server list`, `crossover server remove`) and run again"
    )]
    CopyDiffers {
        engine: String,
        /// The contents noted when the template was filled.
        template: String,
        /// The contents found in the copy.
        copy: String,
    },
    /// A program wrote to the plan's data while engines were filled.
    #[error(
        "{path} was written to while engines were filled from it, so they would hold different \
         rows; stop the program that writes, or name a copy (sqlite3 {path} '.backup COPY.db')"
    )]
    DataChanged { path: PathBuf },
    /// The process that delays between clients and server.
    #[error("the relay that makes the distance: {0}")]
    Relay(String),
    /// A server that we started is gone.
    #[error("{engine} has ended; its log ends: {last_log_lines}")]
    Ended { engine: String, last_log_lines: String },
    /// An engine that an application over HTTP cannot use.
    #[error(
        "{engine} cannot be measured by workload http; use sqlite, postgres or a postgresql:// URL"
    )]
    Unsupported { engine: String },
    /// A setting that this server takes and does nothing with.
    #[error("{engine}: {setting} changes nothing there: {why}; leave it out")]
    NoEffect { engine: String, setting: String, why: &'static str },
    #[error(
        "sqlite[build=FLAGS] needs a C compiler, and there is no `cc`: install gcc or clang (apt-get \
         install gcc), or name a library: sqlite[library=PATH]"
    )]
    NoCompiler,
    /// The compiler took the flags of `sqlite[build=FLAGS]` badly.
    #[error("SQLite does not compile with build='{flags}'; `cc` says last:\n{said}")]
    NotCompiled { flags: String, said: String },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
}

impl DeployError {
    /// Whether the engine was named or set in a way that cannot be had.
    pub fn is_usage(&self) -> bool {
        use connect::Error as Connect;
        match self {
            Self::Plan(_)
            | Self::Unsupported { .. }
            | Self::NoEffect { .. }
            | Self::NotCompiled { .. } => true,
            Self::Engine(error) | Self::Statement { source: error, .. } => match error.as_ref() {
                Connect::NoSuchFile { .. } | Connect::NotSqlite { .. } => true,
                error => error.is_usage(),
            },
            Self::Server(error) => error.is_usage(),
            _ => false,
        }
    }
}

impl From<connect::Error> for DeployError {
    fn from(error: connect::Error) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl From<server::Error> for DeployError {
    fn from(error: server::Error) -> Self {
        Self::Server(Box::new(error))
    }
}
