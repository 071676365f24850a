//! Access to a database of either engine: transactions, connection pools, deadlines, errors.

mod deadline;
mod error;
mod postgres_pool;
mod sqlite_pool;
#[cfg(test)]
mod tests;
mod transaction;

pub(crate) use deadline::{Asker, Patience};
pub use error::Error;
pub(crate) use error::{from_clients, postgres_message};
pub(crate) use postgres_pool::{Pool as PostgresPool, prepare_session};
pub(crate) use sqlite_pool::Pool as SqlitePool;
pub(crate) use transaction::{Row, Transaction, Value};

/// The SQL dialect of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}
