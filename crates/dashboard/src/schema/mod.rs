//! The schema of the dashboard, for SQLite and PostgreSQL alike.
//!
//! [`TABLES`] is its one definition: the statements that create it and the check that an existing
//! database has it are both derived from there.

mod check;
mod data_version;
mod definition;
mod initialise;
mod statements;
#[cfg(test)]
mod tests;
pub mod version;

use crate::new_file;

pub use check::{check_postgres, check_sqlite, sqlite_declarations};
pub(crate) use check::{existing_postgres_table, is_empty_sqlite_dashboard, unknown_sqlite_table};
pub(crate) use data_version::{DataVersion, first_row, version_row, watch_changes};
pub use definition::{
    Column, ColumnDefinition, ColumnType, Declarations, TABLES, Table, TableDefinition, VERSION,
};
pub use initialise::{create_postgres, create_sqlite, initialise};
pub use statements::{Dialect, column_names, create_indexes, create_tables, insert_row};

/// Why a database cannot be used as a dashboard's, or not be made one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// None of our tables is there.
    #[error(
        "the database holds no dashboard; make its tables with `crossover dashboard init` \
         or `crossover dashboard generate`"
    )]
    Empty,
    /// The first difference to our own schema.
    #[error(
        "the database's schema is not the dashboard's: {difference}; make a new database with \
         `crossover dashboard init` and move the rows into it, or mend a file as found with \
         `crossover dashboard mend`"
    )]
    Different {
        /// What differs, with both sides named.
        difference: String,
    },
    /// Made by an older program.
    #[error(
        "the dashboard's schema has version {found}, this program needs version {VERSION}; \
         `crossover dashboard upgrade` brings it there, as does `crossover dashboard serve \
         --upgrade`"
    )]
    Older {
        /// The version of the database.
        found: i32,
    },
    /// Made by a newer program.
    #[error(
        "the dashboard's schema has version {found}, this program knows versions up to {VERSION}; \
         use the newer program that made it"
    )]
    Newer {
        /// The version of the database.
        found: i32,
    },
    /// The table of the version is empty.
    #[error(
        "the database does not say which version of the dashboard's schema it has: table \
         schema_version has no row; restore a backup"
    )]
    NoVersion,
    /// Tables were to be made where some of ours exist already.
    #[error("the database already has a table {table:?}; name an empty database")]
    Occupied {
        /// The table that is in the way.
        table: &'static str,
    },
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("PostgreSQL: {}", postgres_message(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The database cannot be opened or reached.
    #[error(transparent)]
    Engine(Box<engine::Error>),
    /// The new file cannot be made.
    #[error(transparent)]
    NewFile(Box<new_file::Error>),
}

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl From<new_file::Error> for Error {
    fn from(error: new_file::Error) -> Self {
        Self::NewFile(Box::new(error))
    }
}

/// The server's own words: `tokio_postgres` itself only says "db error".
pub(crate) fn postgres_message(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |refusal| refusal.message().to_owned())
}
