//! Errors of reaching an engine, each with the remedy.

use std::path::PathBuf;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name or a URL that cannot be read.
    #[error(transparent)]
    Name(#[from] engine::Error),
    /// The SQLite file does not exist.
    #[error("no such file: {}; check the path, or create the database first", path.display())]
    NoSuchFile { path: PathBuf },
    /// The file exists but holds something else.
    #[error("{} is not a SQLite database: {problem}", path.display())]
    NotSqlite { path: PathBuf, problem: String },
    /// The file cannot be opened or read, for example for want of rights.
    #[error("cannot open {}: {problem}", path.display())]
    CannotOpen {
        path: PathBuf,
        /// The operating system's or SQLite's reason and the way out.
        problem: String,
    },
    /// A setting that the engine does not have.
    #[error("unknown setting `{name}` for {engine}{suggestion}")]
    UnknownSetting {
        name: String,
        /// The engine, for example `SQLite 3.51.1`.
        engine: String,
        /// ` (did you mean ...?)` or nothing.
        suggestion: String,
    },
    /// A setting that the engine has but did not take as asked.
    #[error("setting `{name}`: asked for `{wanted}`, but {engine} has `{actual}`{hint}")]
    SettingNotTaken {
        name: String,
        wanted: String,
        actual: String,
        engine: String,
        /// The way out, if one is known, with its own punctuation.
        hint: String,
    },
    /// A setting that a session may not change.
    #[error(
        "setting `{name}` of {engine} cannot be changed by a session ({context}): set it in the \
         server's own configuration, or let Crossover start the server (postgres:VERSION[...])"
    )]
    NotASessionSetting {
        name: String,
        engine: String,
        /// The server's word for when it may be set (`pg_settings.context`).
        context: String,
    },
    /// PostgreSQL cannot be reached or refuses the login.
    #[error("cannot connect to PostgreSQL at {server}: {problem}")]
    CannotConnect {
        /// Host and port, or socket directory.
        server: String,
        /// The reason and the way out, one line.
        problem: String,
    },
    /// MySQL or MariaDB cannot be reached or refuses the login.
    #[error("cannot connect to {server}: {problem}")]
    CannotConnectMysql {
        /// The URL without its password.
        server: String,
        /// The reason and the way out, one line.
        problem: String,
    },
    /// MySQL or MariaDB reported an error.
    #[error("{}", mysql_message(.0))]
    Mysql(mysql::Error),
    /// Certificates for TLS cannot be used.
    #[error("TLS: {problem}")]
    Tls { problem: String },
    #[error("SQLite: {0}")]
    Sqlite(rusqlite::Error),
    #[error("PostgreSQL: {}", postgres_message(.0))]
    Postgres(tokio_postgres::Error),
}

impl Error {
    /// A mistake in the command line, a plan, a URL or a setting: exit code 2.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Name(_)
                | Self::UnknownSetting { .. }
                | Self::SettingNotTaken { .. }
                | Self::NotASessionSetting { .. }
        )
    }
}

// Not by `#[from]`, which would make them sources as well: they are in the message already.
impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl From<mysql::Error> for Error {
    fn from(error: mysql::Error) -> Self {
        Self::Mysql(error)
    }
}

fn mysql_message(error: &mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(refused) => refused.message.clone(),
        other => other.to_string(),
    }
}

/// The server's own words if there are any: the client's `Display` says only "db error".
pub(crate) fn postgres_message(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(reported) => match reported.detail() {
            Some(detail) => format!("{} ({detail})", reported.message()),
            None => reported.message().to_owned(),
        },
        None => match std::error::Error::source(error) {
            Some(source) => source.to_string(),
            None => error.to_string(),
        },
    }
}
