//! Session of a migration: its settings, cancellable statements, explained server errors, and the
//! advisory lock that admits one migration at a time into a database.

use std::sync::atomic::AtomicBool;

use engine::PostgresUrl;
use indicatif::ProgressBar;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::lock_wait::{StatementCanceller, cancelled_by_user};
use super::rights::AS_SUPERUSER;
use crate::error::postgres_message;
use crate::source::quoted;
use crate::task::{PATIENCE, unless_interrupted};
use crate::{Error, Task};

/// Memory for building one index; the server's own setting is used if it is larger.
const INDEX_MEMORY: &str = "256MB";
/// Longest wait for another session's lock on a table.
pub const LOCK_WAIT: &str = "10s";
/// Longest wait for the advisory lock of another migration.
const CLAIM_WAIT: &str = "5s";

/// Advisory locks: one for the migrating program, one that its workers share. A resumed migration
/// waits for the second, until the server has ended the work of a crashed program.
const LOCK_CLASS: i32 = 0x4372_6f73;
const PROGRAM_LOCK: i32 = 1;
const WORKERS_LOCK: i32 = 2;

pub struct TargetSession {
    pub client: Client,
    /// `server_version_num`, for example 180001.
    pub server_version: i32,
    /// Its role.
    pub user: String,
    pub canceller: StatementCanceller,
}

impl TargetSession {
    pub async fn connect(url: &PostgresUrl) -> Result<Self, Error> {
        let client = connect::postgres::connect(url).await?;
        let failed = || Error::postgres("cannot begin");
        let settings = format!(
            "SET statement_timeout = 0; SET lock_timeout = '{LOCK_WAIT}'; \
             SET idle_in_transaction_session_timeout = 0; \
             SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'; \
             SELECT set_config('maintenance_work_mem', '{INDEX_MEMORY}', false) \
             WHERE pg_size_bytes(current_setting('maintenance_work_mem')) \
                 < pg_size_bytes('{INDEX_MEMORY}')"
        );
        client.batch_execute(&settings).await.map_err(failed())?;
        let row = client
            .query_one(
                "SELECT current_setting('server_version_num')::int, \
                 current_setting('server_encoding'), current_user::text",
                &[],
            )
            .await
            .map_err(failed())?;
        let encoding: String = row.get(1);
        if encoding != "UTF8" {
            return Err(Error::Target(format!(
                "the target database has the encoding {encoding}: make one with UTF8 (CREATE \
                 DATABASE ... ENCODING 'UTF8' TEMPLATE template0), which holds every character of \
                 the source"
            )));
        }
        let canceller = StatementCanceller::of(&client, url).await?;
        Ok(Self { server_version: row.get(0), user: row.get(2), client, canceller })
    }

    /// Connects a worker. A commit of its steps is durable with the last transaction at the latest;
    /// a crash of the server before that costs only time.
    pub async fn worker(url: &PostgresUrl) -> Result<Self, Error> {
        let session = Self::connect(url).await?;
        let sql = format!(
            "SET synchronous_commit = off; SELECT pg_advisory_lock_shared({LOCK_CLASS}, \
             {WORKERS_LOCK})"
        );
        session.client.batch_execute(&sql).await.map_err(Error::postgres("cannot begin"))?;
        Ok(session)
    }

    /// Connects, and excludes other migrations from this database while the connection lasts.
    pub async fn claimed(url: &PostgresUrl) -> Result<Self, Error> {
        let session = Self::connect(url).await?;
        session.claim().await?;
        Ok(session)
    }

    async fn claim(&self) -> Result<(), Error> {
        let failed = || Error::postgres("cannot lock the database for a migration");
        // A program that has just ended may not be gone from the server yet.
        let sql = format!(
            "SET lock_timeout = '{CLAIM_WAIT}'; \
             SELECT pg_advisory_lock({LOCK_CLASS}, {PROGRAM_LOCK}); \
             SET lock_timeout = '{LOCK_WAIT}'"
        );
        match self.client.batch_execute(&sql).await {
            Ok(()) => return Ok(()),
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {}
            Err(error) => return Err(failed()(error)),
        }
        let sql = format!(
            "SELECT min(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted \
             AND classid = {LOCK_CLASS} AND objid = {PROGRAM_LOCK} \
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        );
        let row = self.client.query_one(&sql, &[]).await.map_err(failed())?;
        let process = row.get::<_, Option<i32>>(0);
        let process = process.map_or_else(|| "?".to_owned(), |process| process.to_string());
        Err(Error::Claimed { process })
    }

    /// Waits until the server has ended the statements of all workers, of an earlier program or
    /// cancelled ones.
    pub async fn wait_for_workers(&self, task: Task<'_>) -> Result<(), Error> {
        task.progress.set_message("waiting for the server to end earlier statements");
        let sql = format!(
            "SET lock_timeout = 0; SELECT pg_advisory_lock({LOCK_CLASS}, {WORKERS_LOCK}); \
             SELECT pg_advisory_unlock({LOCK_CLASS}, {WORKERS_LOCK}); \
             SET lock_timeout = '{LOCK_WAIT}'"
        );
        self.run(&sql, task).await
    }

    pub async fn begin(&self) -> Result<(), Error> {
        self.client.batch_execute("BEGIN").await.map_err(Error::postgres("cannot begin"))
    }

    /// Asks the server to cancel the running statement. Without an answer the closed connection ends
    /// it later.
    pub async fn cancel(&self) {
        self.canceller.cancel().await;
    }

    /// The result of `work` with this session, as [`cancelled_by_user`] has it.
    pub async fn cancelled_by_user<T>(
        &self,
        url: &PostgresUrl,
        task: Task<'_>,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        cancelled_by_user(url, std::slice::from_ref(&self.canceller), task, work).await
    }

    /// Runs one statement; an interruption cancels it on the server.
    pub async fn run(&self, sql: &str, task: Task<'_>) -> Result<(), Error> {
        task.check()?;
        let running = self.client.batch_execute(sql);
        tokio::pin!(running);
        tokio::select! {
            done = &mut running => done.map_err(|error| refused(sql, error)),
            () = task.interruption() => {
                self.cancel().await;
                let _ = tokio::time::timeout(PATIENCE, running).await;
                Err(Error::Interrupted)
            }
        }
    }

    pub async fn commit(&self) -> Result<(), Error> {
        self.client.batch_execute("COMMIT").await.map_err(|error| match error.as_db_error() {
            Some(_) => refused("COMMIT", error),
            None => Error::CommitUnknown { rejects: None },
        })
    }

    /// Rolls back; a lost connection has done so on the server, and a mute one does when it is closed.
    pub async fn roll_back(&self) {
        let _ = tokio::time::timeout(PATIENCE, self.client.batch_execute("ROLLBACK")).await;
    }
}

/// Creates the database that `url` names, with encoding UTF8, over the database `postgres`. Returns
/// `false` if it exists.
pub async fn create_database(url: &PostgresUrl, interrupted: &AtomicBool) -> Result<bool, Error> {
    let Some(name) = url.database() else { return Ok(false) };
    let other = url.with_database("postgres");
    let connecting = async { Ok(connect::postgres::connect(&other).await?) };
    let client = unless_interrupted(interrupted, connecting).await?;
    // Others than template0 may only be copied in their own encoding.
    let sql = format!("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0", quoted(name));
    // It may wait for a session in template0.
    let canceller = StatementCanceller::of(&client, &other).await?;
    let creating = async {
        match client.batch_execute(&sql).await {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(&SqlState::DUPLICATE_DATABASE) => Ok(false),
            Err(error) => {
                let error = Error::postgres(format!("`{sql}`"))(error);
                let is_there = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1), \
                                quote_ident(current_user)";
                let failed = Error::postgres("cannot read the server's databases");
                if !error.is_refused_right() {
                    return Err(error);
                }
                let row = client.query_one(is_there, &[&name]).await.map_err(failed)?;
                let (is_there, role): (bool, String) = (row.get(0), row.get(1));
                match is_there {
                    true => Ok(false),
                    false => {
                        Err(Error::Target(format!("{error}; {AS_SUPERUSER}: {sql} OWNER {role}")))
                    }
                }
            }
        }
    };
    let task = Task { progress: &ProgressBar::hidden(), interrupted };
    cancelled_by_user(&other, &[canceller], task, creating).await
}

/// Drops the database that `url` names, over the server's database `postgres`; a server that is mute when
/// the user asks to stop has [`PATIENCE`].
pub async fn drop_database(url: &PostgresUrl, interrupted: &AtomicBool) -> Result<(), Error> {
    let Some(name) = url.database() else { return Ok(()) };
    let dropping = async {
        let client = connect::postgres::connect(&url.with_database("postgres")).await?;
        let sql = format!("DROP DATABASE {}", quoted(name));
        client.batch_execute(&sql).await.map_err(Error::postgres(format!("`{sql}`")))
    };
    Task { progress: &ProgressBar::hidden(), interrupted }.patiently(PATIENCE, dropping).await
}

/// A refused statement: a violated constraint is named as such.
fn refused(sql: &str, error: tokio_postgres::Error) -> Error {
    let violated = [
        SqlState::UNIQUE_VIOLATION,
        SqlState::FOREIGN_KEY_VIOLATION,
        SqlState::NOT_NULL_VIOLATION,
        SqlState::CHECK_VIOLATION,
        SqlState::EXCLUSION_VIOLATION,
    ];
    match error.code() {
        Some(code) if violated.contains(code) => {
            Error::Constraint(format!("{}; by: {sql}", postgres_message(&error)))
        }
        Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => Error::Target(format!(
            "another session holds a table for more than {LOCK_WAIT} ({sql}); end it and try again"
        )),
        _ => Error::Postgres { doing: format!("`{sql}`"), report: error },
    }
}
