//! The one connection that migrates: its transaction, statements that a wish to stop can cancel,
//! and the server's errors in our words.

use engine::PostgresUrl;
use tokio_postgres::error::SqlState;
use tokio_postgres::{CancelToken, Client};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::postgres_message;
use crate::{Error, Watch};

/// Memory for building one index; the server's own setting is used if it is larger.
const INDEX_MEMORY: &str = "256MB";
/// How long another session's lock on a table is waited for.
const LOCK_WAIT: &str = "10s";

/// A connection to the target.
pub struct Session {
    /// The client.
    pub client: Client,
    /// `server_version_num`, for example 180001.
    pub server_version: i32,
    cancel: CancelToken,
    tls: MakeRustlsConnect,
}

impl Session {
    /// Connects.
    pub async fn connect(url: &PostgresUrl) -> Result<Self, Error> {
        let client = engine::postgres::connect(url).await?;
        let row = client
            .query_one("SELECT current_setting('server_version_num')::int", &[])
            .await
            .map_err(Error::postgres("cannot ask for the server's version"))?;
        let (cancel, tls) = (client.cancel_token(), engine::postgres::tls(url)?);
        Ok(Self { server_version: row.get(0), client, cancel, tls })
    }

    /// Begins the transaction in which everything happens.
    pub async fn begin(&self) -> Result<(), Error> {
        let sql = format!(
            "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '{LOCK_WAIT}'; \
             SET LOCAL idle_in_transaction_session_timeout = 0; \
             SELECT set_config('maintenance_work_mem', '{INDEX_MEMORY}', true) \
             WHERE pg_size_bytes(current_setting('maintenance_work_mem')) \
                 < pg_size_bytes('{INDEX_MEMORY}')"
        );
        self.client.batch_execute(&sql).await.map_err(Error::postgres("cannot begin"))
    }

    /// Runs one statement; a wish to stop cancels it on the server.
    ///
    /// # Errors
    /// [`Error::Interrupted`], or the server's refusal with the statement.
    pub async fn run(&self, sql: &str, watch: Watch<'_>) -> Result<(), Error> {
        watch.check()?;
        let running = self.client.batch_execute(sql);
        tokio::pin!(running);
        tokio::select! {
            done = &mut running => done.map_err(|error| refused(sql, error)),
            () = watch.interruption() => {
                // If the request to cancel is lost, closing the connection still rolls back.
                let _ = self.cancel.cancel_query(self.tls.clone()).await;
                let _ = running.await;
                Err(Error::Interrupted)
            }
        }
    }

    /// Makes everything lasting.
    pub async fn commit(&self) -> Result<(), Error> {
        self.client.batch_execute("COMMIT").await.map_err(|error| match error.as_db_error() {
            Some(_) => refused("COMMIT", error),
            None => Error::CommitUnknown,
        })
    }

    /// Undoes everything; if the connection is gone, the server has done so itself.
    pub async fn roll_back(&self) {
        let _ = self.client.batch_execute("ROLLBACK").await;
    }
}

/// Creates the database that `url` names, over the server's database `postgres`, if there is none;
/// whether it was created.
///
/// # Errors
/// A server that cannot be reached, or no right to create databases.
pub async fn create_database(url: &PostgresUrl) -> Result<bool, Error> {
    let Some(name) = url.database() else { return Ok(false) };
    let client = engine::postgres::connect(&url.with_database("postgres")).await?;
    let sql = format!("CREATE DATABASE {}", crate::inspect::quoted(name));
    match client.batch_execute(&sql).await {
        Ok(()) => Ok(true),
        Err(error) if error.code() == Some(&SqlState::DUPLICATE_DATABASE) => Ok(false),
        Err(error) => Err(Error::postgres(format!("`{sql}`"))(error)),
    }
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
        _ => Error::Postgres { doing: format!("`{sql}`"), source: error },
    }
}
