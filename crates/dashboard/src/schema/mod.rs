//! The schema of the dashboard, for SQLite and PostgreSQL alike.
//!
//! [`TABLES`] is its one definition: the statements that create it and the check that an existing
//! database has it are both derived from there.

mod check;
mod create;
mod data_version;
mod definition;
mod dimension;
mod room;
mod statements;
#[cfg(test)]
mod tests;
mod totals;
pub mod version;

use crate::database::{self, SqlDialect, from_clients};

pub(crate) use check::{check, check_within, is_empty_sqlite_dashboard, unknown_sqlite_table};
pub use check::{check_postgres, check_sqlite, sqlite_declarations};
pub use create::{create_postgres, create_sqlite};
pub(crate) use data_version::{
    DataVersion, first_row, raises_data_version, version_row, watch_changes,
};
pub use definition::{
    Column, ColumnDefinition, ColumnType, Declarations, TABLES, TOTALS, Table, TableDefinition,
    VERSION,
};
pub use dimension::{DIMENSIONS, Dimension, DimensionPlace, NAMED};
pub(crate) use room::{make_room, settle};
pub(crate) use statements::create_totals;
pub use statements::{column_names, create_indexes, create_tables, insert_row};
pub(crate) use totals::{DROP_TOTALS, find_totals};

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
         `crossover dashboard init` and move the rows into it, or repair a file as found with \
         `crossover dashboard mend`"
    )]
    Different {
        /// The first difference: what was expected, and what was found.
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
    /// A table of the dashboard exists already.
    #[error("the database already has a table {table:?}; name an empty database")]
    Occupied {
        /// The table that is in the way.
        table: &'static str,
    },
    #[error("another process is filling this database with a dashboard; wait for it to finish")]
    BeingFilled,
    /// The dashboard that is there holds rows.
    #[error(
        "table {table} of the database has rows; name an empty database, or replace the dashboard \
         in it with --force"
    )]
    NotEmpty { table: &'static str },
    #[error(transparent)]
    Database(#[from] database::Error),
}

from_clients!(Error);
