//! Snapshots: the read transaction of one query, with the same asynchronous calls on either engine.
//!
//! SQLite works on the thread that asks, so futures over its snapshots never wait; [`ready`] takes
//! their result. No row costs an allocation on the way.

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;

use connect::SqliteCounters;
use deadpool_postgres::GenericClient;
use futures_util::{FutureExt as _, TryStreamExt as _};
use rusqlite::{Connection, params_from_iter};

use super::{Error, SqlDialect, SqlRow, SqlValue};

pub(crate) trait Snapshot {
    const DIALECT: SqlDialect;

    /// Hands each row to `each`, until it fails.
    async fn rows<E: From<Error>>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        each: impl FnMut(SqlRow<'_>) -> Result<(), E>,
    ) -> Result<(), E>;

    /// Runs `work` where it may take its time.
    async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error>;
}

/// The result of a future over a [`SqliteSnapshot`].
pub(crate) fn ready<T, E: From<Error>>(future: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let waits = || Err(Error::BrokenOff("SQLite was waited for".to_owned()).into());
    future.now_or_never().unwrap_or_else(waits)
}

/// A connection in a transaction.
#[derive(Debug)]
pub(crate) struct SqliteSnapshot<'a> {
    connection: &'a Connection,
    counters: RefCell<SqliteCounters>,
}

impl<'a> SqliteSnapshot<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { connection, counters: RefCell::default() }
    }

    /// Counts of its finished statements.
    pub(crate) fn into_counters(self) -> SqliteCounters {
        self.counters.into_inner()
    }
}

impl Snapshot for SqliteSnapshot<'_> {
    const DIALECT: SqlDialect = SqlDialect::Sqlite;

    async fn rows<E: From<Error>>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut each: impl FnMut(SqlRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut prepared = self.connection.prepare_cached(sql).map_err(Error::from)?;
        let mut rows = prepared.query(params_from_iter(values)).map_err(Error::from)?;
        while let Some(row) = rows.next().map_err(Error::from)? {
            each(SqlRow::Sqlite(row))?;
        }
        drop(rows);
        self.counters.borrow_mut().add_statement(&prepared);
        Ok(())
    }

    async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        Ok(work())
    }
}

/// A client in a transaction, or one that runs a single statement.
#[derive(Debug)]
pub(crate) struct PostgresSnapshot<'a, C>(pub &'a C);

impl<C: GenericClient> Snapshot for PostgresSnapshot<'_, C> {
    const DIALECT: SqlDialect = SqlDialect::Postgres;

    async fn rows<E: From<Error>>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut each: impl FnMut(SqlRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let prepared = self.0.prepare_cached(sql).await.map_err(Error::from)?;
        let mut rows = pin!(self.0.query_raw(&prepared, values).await.map_err(Error::from)?);
        // Read to the end: the connection is free for the next statement only then.
        while let Some(row) = rows.try_next().await.map_err(Error::from)? {
            each(SqlRow::Postgres(&row))?;
        }
        Ok(())
    }

    /// On a thread that drives no connections.
    async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| Error::BrokenOff(error.to_string()))
    }
}
