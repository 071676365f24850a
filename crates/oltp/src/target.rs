//! Where the load goes.

use std::path::PathBuf;

use engine::PostgresUrl;

/// A database that can be filled and put under load.
#[derive(Clone, Debug)]
pub enum Target {
    /// A server of PostgreSQL, by Unix socket or TCP.
    Postgres {
        /// Its address.
        url: PostgresUrl,
        /// Further settings of every session.
        session: Vec<(String, String)>,
    },
    /// A file of SQLite's, opened in this process by every client.
    Sqlite {
        /// The file; [`crate::fill`] makes it if it is not there.
        path: PathBuf,
        /// Of every connection. `journal_mode=wal` is set before them.
        pragmas: Vec<(String, String)>,
    },
    /// A server of MariaDB or MySQL.
    Mysql {
        /// Its address.
        url: String,
        /// Variables of every session.
        session: Vec<(String, String)>,
    },
}
