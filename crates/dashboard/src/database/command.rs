//! A command's own connection, which reads one snapshot or writes transaction by transaction. Not
//! for asynchronous code: it blocks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::DatabaseUrl;
use rusqlite::{Connection, TransactionBehavior};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio_postgres::{Client, IsolationLevel};

use super::{CommandTransaction, Error};

/// SQLite's instructions between two looks for an interruption.
const INSTRUCTIONS_BETWEEN_LOOKS: i32 = 100_000;

/// The time in which an interruption is seen during a statement of PostgreSQL.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) enum CommandConnection<'a> {
    Sqlite(Box<Connection>),
    Postgres(Box<Client>, &'a Handle),
}

impl<'a> CommandConnection<'a> {
    /// Connects. Not for reading only: SQLite would leave the files of a write-ahead log behind,
    /// which it then may not remove.
    pub fn open(target: &DatabaseUrl, runtime: &'a Handle) -> Result<Self, Error> {
        match target {
            DatabaseUrl::Sqlite(path) => {
                let connection = connect::sqlite::open_existing(path)?;
                connect::sqlite::pragmas(&connection, [("busy_timeout", "10000")])?;
                Ok(Self::Sqlite(Box::new(connection)))
            }
            DatabaseUrl::Postgres(url) => {
                let client = runtime.block_on(connect::postgres::connect(url))?;
                Ok(Self::Postgres(Box::new(client), runtime))
            }
        }
    }

    pub fn sqlite(&mut self) -> Option<&mut Connection> {
        match self {
            Self::Sqlite(connection) => Some(connection),
            Self::Postgres(..) => None,
        }
    }

    /// Makes the engine stop statements of this connection to `database`, with an error, when the
    /// user interrupts the command.
    pub fn watch_interruption(
        &mut self,
        database: &DatabaseUrl,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<InterruptionWatch, Error> {
        match (self, database) {
            (Self::Sqlite(connection), _) => {
                stop_when_interrupted(connection, interrupted)?;
                Ok(InterruptionWatch(None))
            }
            (Self::Postgres(client, runtime), DatabaseUrl::Postgres(url)) => {
                let (cancel, url) = (client.cancel_token(), url.clone());
                let interrupted = interrupted.clone();
                let watch = runtime.spawn(async move {
                    loop {
                        tokio::time::sleep(LOOK_INTERVAL).await;
                        if !interrupted.load(Ordering::Relaxed) {
                            continue;
                        }
                        // Again and again: the first may come between two statements.
                        if let Ok(tls) = connect::postgres::tls(&url) {
                            let _ = cancel.cancel_query(tls).await;
                        }
                    }
                });
                Ok(InterruptionWatch(Some(watch.abort_handle())))
            }
            (Self::Postgres(..), DatabaseUrl::Sqlite(_)) => Ok(InterruptionWatch(None)),
        }
    }

    /// Runs `work` on one snapshot, which makes no other connection wait.
    pub fn read<T, E: From<Error>>(
        &mut self,
        work: impl FnOnce(&CommandTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match self {
            Self::Sqlite(connection) => {
                let snapshot = connection.transaction().map_err(Error::from)?;
                work(&CommandTransaction::Sqlite(&snapshot))
            }
            Self::Postgres(client, runtime) => {
                let begin = client.build_transaction();
                let begin = begin.isolation_level(IsolationLevel::RepeatableRead).read_only(true);
                let snapshot = runtime.block_on(begin.start()).map_err(Error::from)?;
                work(&CommandTransaction::Postgres(&snapshot, runtime))
            }
        }
    }

    /// Runs `work` in a transaction, which is committed if that succeeds.
    pub fn write<T, E: From<Error>>(
        &mut self,
        work: impl FnOnce(&CommandTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.transact(true, work)
    }

    /// The same; without `stays` it is rolled back in any case.
    pub fn transact<T, E: From<Error>>(
        &mut self,
        stays: bool,
        work: impl FnOnce(&CommandTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match self {
            Self::Sqlite(connection) => {
                let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
                let transaction = begun.map_err(Error::from)?;
                let done = work(&CommandTransaction::Sqlite(&transaction))?;
                if stays {
                    transaction.commit().map_err(Error::from)?;
                }
                Ok(done)
            }
            Self::Postgres(client, runtime) => {
                let begun = runtime.block_on(client.transaction());
                let transaction = begun.map_err(Error::from)?;
                let done = work(&CommandTransaction::Postgres(&transaction, runtime))?;
                let end = async {
                    match stays {
                        true => transaction.commit().await,
                        false => transaction.rollback().await,
                    }
                };
                runtime.block_on(end).map_err(Error::from)?;
                Ok(done)
            }
        }
    }
}

/// Looks for an interruption of the command until it is dropped.
pub(crate) struct InterruptionWatch(Option<AbortHandle>);

impl Drop for InterruptionWatch {
    fn drop(&mut self) {
        if let Some(watch) = &self.0 {
            watch.abort();
        }
    }
}

/// Makes SQLite stop its statements, with an error, when the user interrupts the command.
pub(crate) fn stop_when_interrupted(
    connection: &mut Connection,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Error> {
    let interrupted = interrupted.clone();
    let look = move || interrupted.load(Ordering::Relaxed);
    Ok(connection.progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, Some(look))?)
}
