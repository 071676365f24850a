//! Access to a database of either engine: transactions, connection pools, deadlines, errors.

mod command;
mod deadline;
mod error;
mod postgres_pool;
mod row;
mod snapshot;
mod sqlite_pool;
#[cfg(test)]
mod tests;
mod transaction;
mod value;

pub(crate) use command::{CommandConnection, stop_when_interrupted};
pub(crate) use deadline::{CancelOnDrop, Deadline};
pub use error::Error;
pub(crate) use error::{from_clients, postgres_message};
pub(crate) use postgres_pool::{PostgresPool, prepare_session};
pub(crate) use row::SqlRow;
pub(crate) use snapshot::{PostgresSnapshot, Snapshot, SqliteSnapshot, ready};
pub(crate) use sqlite_pool::SqlitePool;
pub(crate) use transaction::CommandTransaction;
pub use value::SqlValue;

/// The SQL dialect of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlDialect {
    Sqlite,
    Postgres,
}
