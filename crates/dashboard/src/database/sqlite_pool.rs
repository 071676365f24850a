//! A pool of SQLite connections: each piece of work runs on a blocking thread with a connection of
//! its own, and no more run at once than there are connections.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::Settings;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Deadline, Error};

/// SQLite's instructions between two looks at the clock: about a tenth of a millisecond, often
/// enough to stop in time and too seldom to cost anything.
const INSTRUCTIONS_BETWEEN_LOOKS: i32 = 10_000;

/// Statements that a connection keeps prepared: every grouping with and without blog and count.
const PREPARED_STATEMENTS: usize = 64;

#[derive(Debug, Clone)]
pub(crate) struct SqlitePool {
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl SqlitePool {
    /// Opens `size` connections that only read.
    pub(crate) fn open(path: &Path, settings: &Settings, size: usize) -> Result<Self, Error> {
        let connections: Result<Vec<_>, _> =
            (0..size).map(|_| open_for_queries(path, settings)).collect();
        Ok(Self::of(connections?))
    }

    pub(crate) fn of(connections: Vec<Connection>) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(connections.len())),
            idle: Arc::new(Mutex::new(connections)),
        }
    }

    /// Waits for the right to use a connection, which ends when it is dropped.
    pub(crate) async fn permit(&self) -> Result<OwnedSemaphorePermit, Error> {
        let permit = self.permits.clone().acquire_owned().await;
        permit.map_err(|error| Error::BrokenOff(error.to_string()))
    }

    /// Runs `work` when its turn comes. The connection used last is used first: its statements
    /// are prepared and its pages are warm.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run_now(self.permit().await?, |connection| work(connection)).await
    }

    /// Runs `work` when its turn comes, and stops SQLite's part of it at the deadline.
    pub(crate) async fn run_within<T: Send + 'static, E: From<Error> + Send + 'static>(
        &self,
        deadline: Deadline,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let permit = deadline.permit(self.permit()).await??;
        let watched = move |connection: &mut Connection| {
            let is_stopped = Arc::new(AtomicBool::new(false));
            let (look, stop) = (deadline.clone(), is_stopped.clone());
            let look = Some(move || {
                let is_over = look.is_over();
                stop.store(is_over, Ordering::Relaxed);
                is_over
            });
            connection.progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, look).map_err(Error::from)?;
            let result = work(connection);
            let none = None::<fn() -> bool>;
            connection.progress_handler(0, none).map_err(Error::from)?;
            match result {
                Err(_) if is_stopped.load(Ordering::Relaxed) => Err(deadline.stopped().into()),
                result => result,
            }
        };
        self.run_now(permit, watched).await
    }

    async fn run_now<T: Send + 'static, E: From<Error> + Send + 'static>(
        &self,
        permit: OwnedSemaphorePermit,
        work: impl FnOnce(&mut Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let idle = self.idle.clone();
        let task = tokio::task::spawn_blocking(move || {
            // Dropped in reverse order: the connection is back before the next one may ask.
            let _permit = permit;
            let mut lease = Lease::take(idle);
            match &mut lease.connection {
                Some(connection) => work(connection),
                None => Err(Error::BrokenOff("no connection is left".to_owned()).into()),
            }
        });
        task.await.map_err(|error| Error::BrokenOff(error.to_string()))?
    }
}

/// A connection out of the pool, which goes back however the work ends.
struct Lease {
    connection: Option<Connection>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Lease {
    fn take(idle: Arc<Mutex<Vec<Connection>>>) -> Self {
        let connection = idle.lock().pop();
        Self { connection, idle }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut idle = self.idle.lock();
        idle.extend(self.connection.take());
    }
}

/// A connection with the settings of queries.
///
/// - `busy_timeout`: in WAL mode readers never wait, except at the moments when the log is
///   made or recovered.
/// - `cache_size` (2 MB), `mmap_size` (0) and `temp_store` (files) stay SQLite's defaults, which
///   were the quickest for a year of the reference dataset. GROUP BY sorts all facts, and a sorter
///   that may grow beyond the processor's cache (`cache_size` 64 MB, `temp_store` memory) needs up
///   to twice the time. A memory map gains nothing over the operating system's cache.
/// - `query_only` comes last: what follows it may not change anything.
fn open_for_queries(path: &Path, settings: &Settings) -> Result<Connection, Error> {
    let connection = connect::sqlite::open_existing(path)?;
    connection.set_prepared_statement_cache_capacity(PREPARED_STATEMENTS);
    connect::sqlite::pragmas(&connection, [("busy_timeout", "5000"), ("trusted_schema", "off")])?;
    connect::sqlite::pragmas(&connection, settings.iter())?;
    connect::sqlite::pragmas(&connection, [("query_only", "on")])?;
    Ok(connection)
}
