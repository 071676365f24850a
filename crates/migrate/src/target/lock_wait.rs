//! Waits for locks of other sessions: named while they last, ended on the server when the user asks to
//! stop.

use std::time::Duration;

use engine::PostgresUrl;
use futures_util::future::join_all;
use tokio_postgres::error::SqlState;
use tokio_postgres::{CancelToken, Client};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::session::LOCK_WAIT;
use crate::error::postgres_message;
use crate::task::PATIENCE;
use crate::{Error, Task};

/// A wait that lasts this long is named.
const LOOK_INTERVAL: Duration = Duration::from_secs(3);
/// A request to cancel that comes between two statements is lost: it is made again.
const CANCEL_INTERVAL: Duration = Duration::from_millis(200);

/// Request to cancel the running statement of one session.
#[derive(Clone)]
pub struct StatementCanceller {
    token: CancelToken,
    tls: MakeRustlsConnect,
    /// The server's process of the session.
    process: i32,
}

impl StatementCanceller {
    pub async fn of(client: &Client, url: &PostgresUrl) -> Result<Self, Error> {
        let failed = Error::postgres("cannot begin");
        let row = client.query_one("SELECT pg_backend_pid()", &[]).await.map_err(failed)?;
        let (token, tls) = (client.cancel_token(), connect::postgres::tls(url)?);
        Ok(Self { token, tls, process: row.get(0) })
    }

    /// Without an answer the closed connection ends the statement later.
    pub async fn cancel(&self) {
        let asking = self.token.cancel_query(self.tls.clone());
        let _ = tokio::time::timeout(PATIENCE, asking).await;
    }
}

/// The result of `work` with these sessions. Waits for locks become the progress's message; when the user
/// asks to stop, the server is asked to cancel, and the work has [`PATIENCE`] to end.
pub async fn cancelled_by_user<T>(
    url: &PostgresUrl,
    sessions: &[StatementCanceller],
    task: Task<'_>,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let impatience = async {
        task.interruption().await;
        let asking = async {
            loop {
                join_all(sessions.iter().map(StatementCanceller::cancel)).await;
                tokio::time::sleep(CANCEL_INTERVAL).await;
            }
        };
        let _: Result<(), _> = tokio::time::timeout(PATIENCE, asking).await;
    };
    let done = tokio::select! {
        biased;
        done = work => done,
        () = impatience => Err(Error::Interrupted),
        never = name_waits(url, sessions, task) => match never {},
    };
    done.map_err(|error| explain(error, task))
}

fn explain(error: Error, task: Task<'_>) -> Error {
    let Error::Postgres { report, .. } = &error else { return error };
    match report.code() {
        Some(code) if *code == SqlState::QUERY_CANCELED && task.check().is_err() => {
            Error::Interrupted
        }
        _ => explain_lock(error),
    }
}

/// The error of a statement, with the remedy if it has waited too long for a lock.
pub fn explain_lock(error: Error) -> Error {
    let Error::Postgres { doing, report } = &error else { return error };
    match report.code() {
        Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => Error::Target(format!(
            "another session holds a table for more than {LOCK_WAIT} ({doing}: {}); end it and try \
             again",
            postgres_message(report)
        )),
        _ => error,
    }
}

/// A lock that one of these processes waits for, and the first session in its way.
const WAITS: &str = "\
    SELECT coalesce(l.relation::regclass::text, l.locktype), a.pid, a.usename::text, \
           coalesce(nullif(a.application_name, ''), '?'), a.state \
    FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = ANY(pg_blocking_pids(l.pid)) \
    WHERE NOT l.granted AND l.pid = ANY($1) ORDER BY l.pid, a.pid LIMIT 1";

/// Names the sessions that hold up the work, over a connection of its own. A server that has none left
/// is not asked.
async fn name_waits(
    url: &PostgresUrl,
    sessions: &[StatementCanceller],
    task: Task<'_>,
) -> std::convert::Infallible {
    let processes: Vec<i32> = sessions.iter().map(|session| session.process).collect();
    let mut asked = None;
    let mut is_named = false;
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        if asked.is_none() {
            asked = connect::postgres::connect(url).await.ok();
        }
        let Some(client) = &asked else { continue };
        let Ok(wait) = client.query_opt(WAITS, &[&processes]).await else {
            asked = None;
            continue;
        };
        match wait {
            Some(row) => {
                let (lock, process): (String, i32) = (row.get(0), row.get(1));
                let shown = |column| row.get::<_, Option<String>>(column).unwrap_or_default();
                let (user, application, state) = (shown(2), shown(3), shown(4));
                task.progress.set_message(format!(
                    "waiting for a lock on {lock} held by server process {process} (user {user}, \
                     application {application}, {state})"
                ));
                is_named = true;
            }
            None if is_named => {
                task.progress.set_message("");
                is_named = false;
            }
            None => {}
        }
    }
}
