//! Every statement once or a few times on both engines, before the experiment: those that an engine
//! refuses are found here, and how long each takes decides what the budget holds.

use engine::EngineKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::TryStreamExt as _;
use plan::Given;
use rusqlite::{Connection, ErrorCode};
use tokio_postgres::Client;

use crate::error::{Error, Result, check_interrupted};
use crate::statement::MeasuredStatement;

/// A quick statement is run this often and its least time taken: the first time reads the disk.
const RUNS: usize = 3;
/// A statement that takes longer is run once only.
const LONG: Duration = Duration::from_millis(250);
/// Instructions of SQLite's machine between two looks at the clock.
pub const INSTRUCTIONS_BETWEEN_LOOKS: i32 = 10_000;

/// Result of one statement on one engine.
#[derive(Clone, Debug, PartialEq)]
pub enum PilotResult {
    Took(Duration),
    /// It was stopped after this time.
    TooSlow(Duration),
    /// The engine refused it, in its words.
    Refused(String),
}

/// A statement with a value in the place of each parameter; none if a query of values gives none.
pub fn filled(
    statement: &MeasuredStatement,
    sqlite: &Connection,
) -> rusqlite::Result<Option<MeasuredStatement>> {
    let mut filled = statement.clone();
    for parameter in &statement.parameters {
        let value =
            sqlite.query_row(&format!("SELECT CAST(({}) AS TEXT)", parameter.query), [], {
                |row| row.get::<_, Option<String>>(0)
            })?;
        let Some(value) = value else { return Ok(None) };
        // A quoted literal takes the type of the column on both engines.
        filled.text = with_value(&filled.text, &parameter.name, &quoted(&value));
    }
    for (name, value) in statement.sets.first().into_iter().flatten() {
        let literal = match value {
            Given::Boolean(value) => u8::from(*value).to_string(),
            Given::Integer(value) => value.to_string(),
            Given::Double(value) => value.to_string(),
            Given::Text(value) => quoted(value),
        };
        filled.text = with_value(&filled.text, name, &literal);
    }
    Ok(Some(filled))
}

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// `sql` with a literal in the place of `:name`.
fn with_value(sql: &str, name: &str, literal: &str) -> String {
    let mark = format!(":{name}");
    sql::rewritten(sql, |token, _| (token.text == mark).then(|| literal.to_owned()))
}

/// Tries one statement on the SQLite copy, for at most `limit`.
pub fn on_sqlite(
    statement: &MeasuredStatement,
    connection: &mut Connection,
    limit: Duration,
    interrupted: &Arc<AtomicBool>,
) -> Result<PilotResult> {
    let text = statement.text_for(EngineKind::Sqlite);
    let mut run = || -> rusqlite::Result<()> {
        let begun = Instant::now();
        let stop = interrupted.clone();
        let look = move || begun.elapsed() > limit || stop.load(Ordering::Relaxed);
        connection.progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, Some(look))?;
        let mut prepared = connection.prepare(text)?;
        let mut rows = prepared.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    };
    let tried = least(|| {
        Ok(match run() {
            Ok(()) => None,
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                Some(PilotResult::TooSlow(limit))
            }
            Err(error) => Some(PilotResult::Refused(format!("SQLite: {error}"))),
        })
    });
    connection.progress_handler(0, None::<fn() -> bool>)?;
    check_interrupted(interrupted)?;
    tried
}

/// How long one execution takes, for at most `limit`; nothing where SQLite refuses it.
pub fn seconds_once(sql: &str, connection: &mut Connection, limit: Duration) -> f64 {
    let begun = Instant::now();
    let look = move || begun.elapsed() > limit;
    let mut run = || -> rusqlite::Result<()> {
        connection.progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, Some(look))?;
        let mut prepared = connection.prepare(sql)?;
        let mut rows = prepared.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    };
    let done = run();
    let _ = connection.progress_handler(0, None::<fn() -> bool>);
    let interrupted = |error: &rusqlite::Error| {
        error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
    };
    match done {
        Err(error) if !interrupted(&error) => 0.0,
        _ => begun.elapsed().as_secs_f64(),
    }
}

/// Tries one statement on PostgreSQL, for at most `limit`.
pub fn on_postgres(
    statement: &MeasuredStatement,
    client: &Client,
    runtime: &tokio::runtime::Handle,
    limit: Duration,
    interrupted: &AtomicBool,
) -> Result<PilotResult> {
    let text = statement.text_for(EngineKind::Postgres);
    let limit_ms = limit.as_millis().max(1);
    runtime.block_on(client.batch_execute(&format!("SET statement_timeout = {limit_ms}")))?;
    let run = || async {
        let rows = client.simple_query_raw(text).await?;
        rows.try_for_each(|_| std::future::ready(Ok(()))).await
    };
    let tried = least(|| {
        let outcome = runtime.block_on(async {
            tokio::select! {
                outcome = run() => Ok(outcome),
                () = interruption(interrupted) => Err(Error::Interrupted),
            }
        })?;
        Ok(match outcome {
            Ok(()) => None,
            Err(error) => Some(refusal(&error, text, limit)),
        })
    });
    runtime.block_on(client.batch_execute("RESET statement_timeout"))?;
    tried
}

fn refusal(error: &tokio_postgres::Error, text: &str, limit: Duration) -> PilotResult {
    use tokio_postgres::error::{ErrorPosition, SqlState};
    let Some(report) = error.as_db_error() else { return PilotResult::Refused(error.to_string()) };
    if *report.code() == SqlState::QUERY_CANCELED {
        return PilotResult::TooSlow(limit);
    }
    let mut message = format!("PostgreSQL: {}", report.message());
    if let Some(ErrorPosition::Original(position)) = report.position() {
        let before: String = text.chars().take(*position as usize - 1).collect();
        let line = 1 + before.matches('\n').count();
        if text.contains('\n') {
            message.push_str(&format!(" (line {line} of the statement)"));
        }
    }
    if let Some(hint) = report.hint() {
        message.push_str(&format!("; {hint}"));
    }
    PilotResult::Refused(message)
}

async fn interruption(interrupted: &AtomicBool) {
    while !interrupted.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The least time of a few runs; what went wrong in the first of them otherwise.
fn least(mut run: impl FnMut() -> Result<Option<PilotResult>>) -> Result<PilotResult> {
    let mut least = Duration::MAX;
    for _ in 0..RUNS {
        let begun = Instant::now();
        if let Some(wrong) = run()? {
            return Ok(wrong);
        }
        least = least.min(begun.elapsed());
        if least > LONG {
            break;
        }
    }
    Ok(PilotResult::Took(least))
}
