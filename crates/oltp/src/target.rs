//! Targets of a load: a server or a file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use connect::sqlite_library::HeldLibrary;
use engine::PostgresUrl;

/// A database that can be filled and put under load.
#[derive(Clone, Debug)]
pub enum OltpTarget {
    /// A server of PostgreSQL, by Unix socket or TCP.
    Postgres {
        url: PostgresUrl,
        /// Further settings of every session.
        session: Vec<(String, String)>,
        /// Of the server itself, where the URL leads to a pool.
        behind_pool: Option<Box<PostgresUrl>>,
    },
    /// A file of SQLite's, opened in this process by every client.
    Sqlite {
        /// The file; [`crate::fill`] makes it if it is not there.
        path: PathBuf,
        /// Of every connection; the write-ahead log unless they name a `journal_mode`.
        pragmas: Vec<(String, String)>,
        /// The library by which client processes open it; none: by the sessions that threads have.
        library: Option<HeldLibrary>,
    },
    /// A server of MariaDB or MySQL.
    Mysql { url: String, session: Vec<(String, String)> },
}

impl OltpTarget {
    /// The same without a pool, for what is not measured.
    #[must_use]
    pub fn past_pool(&self) -> Self {
        match self {
            Self::Postgres { session, behind_pool: Some(url), .. } => {
                Self::Postgres { url: (**url).clone(), session: session.clone(), behind_pool: None }
            }
            other => other.clone(),
        }
    }

    /// Its name in messages, without a password.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Postgres { url, .. } => url.to_string(),
            Self::Sqlite { path, .. } => place_of_file(path),
            Self::Mysql { url, session } => MysqlServer { url, session }.place(),
        }
    }
}

/// The name of a file in messages.
pub(crate) fn place_of_file(path: &Path) -> String {
    path.display().to_string()
}

/// The parts of [`Target::Sqlite`].
#[derive(Clone, Copy)]
pub(crate) struct SqliteFile<'a> {
    pub path: &'a Path,
    pub pragmas: &'a [(String, String)],
}

impl<'a> SqliteFile<'a> {
    pub(crate) fn open_existing(self) -> Result<rusqlite::Connection, connect::Error> {
        let connection = connect::sqlite::open_existing(self.path)?;
        self.set_up(&connection, None)?;
        Ok(connection)
    }

    /// Makes the file, or opens it. `encoding` is that of a new one.
    pub(crate) fn create(self, encoding: &str) -> Result<rusqlite::Connection, connect::Error> {
        let connection = connect::sqlite::create(self.path)?;
        self.set_up(&connection, Some(encoding))?;
        Ok(connection)
    }

    /// Encoding and page size are taken by an empty file alone, and before its log begins.
    fn set_up(
        self,
        connection: &rusqlite::Connection,
        encoding: Option<&str>,
    ) -> Result<(), connect::Error> {
        let encoding = encoding.map(|encoding| ("encoding", encoding));
        connect::sqlite::pragmas(connection, encoding.into_iter().chain(self.settings()))?;
        Ok(())
    }

    /// The pragmas of every connection.
    pub(crate) fn settings(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let own = self.pragmas.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let names_journal =
            |(name, _): &(String, String)| name.eq_ignore_ascii_case("journal_mode");
        let log = (!self.pragmas.iter().any(names_journal)).then_some(("journal_mode", "wal"));
        own.chain(log)
    }
}

/// The parts of [`Target::Mysql`].
#[derive(Clone, Copy)]
pub(crate) struct MysqlServer<'a> {
    pub url: &'a str,
    pub session: &'a [(String, String)],
}

impl MysqlServer<'_> {
    pub(crate) fn connect(self, timeout: Duration) -> Result<mysql::Conn, connect::Error> {
        let mut connection = connect::mysql::connect(self.url, timeout)?;
        let session = self.session.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        connect::mysql::session_settings(&mut connection, session)?;
        Ok(connection)
    }

    pub(crate) fn place(self) -> String {
        connect::mysql::without_password(self.url)
    }
}
