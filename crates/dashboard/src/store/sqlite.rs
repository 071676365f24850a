//! Queries of a SQLite file: WAL mode, connections that only read, statements prepared once for
//! each of them.

use std::path::Path;

use connect::SqliteCounters;
use rusqlite::Connection;

use super::Options;
use super::sqlite_metrics::SqliteMetrics;
use crate::answer::{Designs, Error, QueryAnswer, answer};
use crate::database::{self, Deadline, SqlitePool, SqliteSnapshot, ready};
use crate::query::Query;

#[derive(Debug)]
pub(super) struct SqliteQueries {
    pool: SqlitePool,
    metrics: SqliteMetrics,
}

impl SqliteQueries {
    /// Puts the file into WAL mode if it may be written. Also the settings, as read back.
    pub async fn open(
        path: &Path,
        options: &Options,
    ) -> Result<(Self, Vec<(String, String)>), Error> {
        let (path, options) = (path.to_owned(), options.clone());
        let work = move || {
            let connection = connect::sqlite::open_existing(&path)?;
            let mode_is_asked_for = options.settings.get("journal_mode").is_some();
            if !mode_is_asked_for && !connection.is_readonly("main")? {
                connect::sqlite::pragmas(&connection, [("journal_mode", "wal")])?;
            }
            let settings = connect::sqlite::settings(&connection, options.settings.iter())?;
            let pool = SqlitePool::open(&path, &options.settings, options.connections)?;
            Ok((Self { pool, metrics: SqliteMetrics::default() }, settings))
        };
        let opened = tokio::task::spawn_blocking(work).await;
        opened.map_err(|error| database::Error::BrokenOff(error.to_string()))?
    }

    pub fn metrics(&self) -> &SqliteMetrics {
        &self.metrics
    }

    /// Answers from one snapshot; dropped, it stops SQLite's work.
    pub async fn answer(
        &self,
        query: Query,
        designs: &Designs,
        deadline: Deadline,
    ) -> Result<QueryAnswer, Error> {
        let designs = designs.clone();
        let metrics = self.metrics.clone();
        let watch = deadline.clone();
        let work = move |connection: &Connection| {
            let transaction = connection.unchecked_transaction()?;
            let snapshot = SqliteSnapshot::new(&transaction);
            let answer = ready(answer(&snapshot, query, &designs, &watch));
            let mut counters = snapshot.into_counters();
            counters.add(&SqliteCounters::take(connection)?);
            metrics.count(&counters);
            let answer = answer?;
            transaction.commit()?;
            Ok(answer)
        };
        self.pool.run_within(deadline, work).await
    }
}
