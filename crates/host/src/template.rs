//! Template of a copy: the filled database, and what it held when it was filled.

use std::path::PathBuf;

use engine::PostgresUrl;

/// The use that a workload makes of its database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataUse {
    /// It only reads, so it has the filled database itself.
    Read,
    /// It may change data, so it has a copy.
    Change,
}

/// The source of copies.
#[derive(Clone, Debug)]
pub enum Template {
    Sqlite {
        path: PathBuf,
        /// Noted when it was made.
        contents: String,
    },
    Postgres {
        url: PostgresUrl,
        version: String,
        data_directory: PathBuf,
        contents: String,
    },
}
