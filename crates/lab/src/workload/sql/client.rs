//! Interface of a connection to an engine, and the execution of a script by it.

use serde::{Deserialize, Serialize};

use super::answer::AnswerTable;
use super::script::{Script, ScriptStep};
use super::value::AnswerValue;
use crate::error::RunError;
use crate::workload::Counters;
use plan::PlanError;

/// One connection with its prepared statements; a file per kind of engine.
pub(crate) trait SqlSession {
    /// Prepares the steps of a script; whether they were not prepared yet.
    fn prepare(&mut self, script: &Script) -> Result<bool, SqlError>;

    /// Executes one step of a prepared script, looking at every row as it comes.
    fn execute(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<Seen, SqlError>;

    /// Executes one step and keeps its whole answer.
    fn fetch(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<AnswerTable, SqlError>;

    /// The plan that the engine chooses for one step with these values.
    fn explain(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<String, SqlError>;

    /// Begins or ends a transaction.
    fn control(&mut self, control: Control) -> Result<(), SqlError>;

    /// The whole answer to a text without parameters.
    fn query(&mut self, sql: &str) -> Result<AnswerTable, SqlError>;

    /// Shows each row of such an answer as it comes, and keeps none.
    fn scan(&mut self, sql: &str, show: &mut dyn FnMut(Vec<AnswerValue>)) -> Result<(), SqlError> {
        self.query(sql)?.rows.into_iter().for_each(show);
        Ok(())
    }

    /// The counters of this connection, where the engine counts by connection.
    fn counters(&mut self) -> Counters {
        Counters::new()
    }
}

/// The ends of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Control {
    Begin {
        /// Its lock is taken at once, not before its first write.
        locks: bool,
    },
    Commit,
    Rollback,
}

impl Control {
    /// As SQLite has it. A transaction that will write takes its lock at once: one that asks for it in
    /// the middle is refused if another has written in the same time.
    pub(super) fn sqlite_text(self) -> &'static str {
        match self {
            Self::Begin { locks: true } => "BEGIN IMMEDIATE",
            Self::Begin { locks: false } => "BEGIN",
            Self::Commit => "COMMIT",
            Self::Rollback => "ROLLBACK",
        }
    }
}

/// Facts of a timed execution: enough to find a wrong answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub rows: u64,
    /// Rows that its statements inserted, changed or deleted.
    pub changed_rows: u64,
    /// The sum of the rows' hashes, so that their order does not count; without floating-point
    /// numbers, whose last digits follow the order in which parallel workers add.
    pub hash: u64,
}

impl Seen {
    pub(crate) fn add(&mut self, other: Self) {
        self.rows = self.rows.wrapping_add(other.rows);
        self.changed_rows = self.changed_rows.wrapping_add(other.changed_rows);
        self.hash = self.hash.rotate_left(7).wrapping_add(other.hash);
    }
}

/// Why a statement was not executed.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum SqlError {
    #[error("{message}")]
    Refused {
        message: String,
        /// The line within the statement's text, from 0, where the engine names it.
        line: usize,
    },
    /// Another transaction was in the way: the same one may succeed later.
    #[error("{message}")]
    Busy { message: String },
    #[error("{0}")]
    NotConnected(String),
    #[error("connection lost: {0}")]
    Lost(String),
    /// The process of its library has ended.
    #[error("{0}")]
    Ended(String),
    /// No whole answer in time.
    #[error("no whole answer in time")]
    TimedOut,
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SqlError {
    /// Whether the connection may be used again.
    pub(crate) fn ends_connection(&self) -> bool {
        !matches!(self, Self::Refused { .. } | Self::Busy { .. })
    }

    /// As the end of a turn, or of the run.
    pub(crate) fn at(self, place: &str) -> RunError {
        let message = format!("{place}: {self}");
        match self {
            Self::Ended(_) => RunError::EngineCrashed(message),
            _ => RunError::Statement(message),
        }
    }

    /// As a mistake in the statement, with file and line.
    pub(crate) fn in_step(self, engine: &str, script: &Script, step: &ScriptStep) -> SqlFailure {
        match self {
            Self::Refused { message, line } => SqlFailure::Statement(PlanError::Malformed {
                place: format!("{}, line {}", script.place, step.line + line),
                message: format!("{engine}: {message}"),
            }),
            other => SqlFailure::Connection(other.at(&format!("{engine}, {}", script.name))),
        }
    }
}

/// Failure of a script in the untimed pass.
pub(crate) enum SqlFailure {
    /// The user's text is at fault.
    Statement(PlanError),
    Connection(RunError),
}

/// Executes a script as measured.
pub(crate) fn run(
    session: &mut dyn SqlSession,
    script: &Script,
    values: &[AnswerValue],
) -> Result<Seen, SqlError> {
    if !script.transaction {
        return all_steps(session, script, values);
    }
    session.control(Control::Begin { locks: script.locks_at_begin })?;
    let done = all_steps(session, script, values).and_then(|seen| {
        session.control(Control::Commit)?;
        Ok(seen)
    });
    if done.as_ref().is_err_and(|error| !error.ends_connection()) {
        session.control(Control::Rollback)?;
    }
    done
}

/// Executes a script as measured, except that nothing of it stays.
pub(crate) fn rehearse(
    session: &mut dyn SqlSession,
    script: &Script,
    values: &[AnswerValue],
) -> Result<(), SqlError> {
    if !script.writes {
        return run(session, script, values).map(drop);
    }
    session.control(Control::Begin { locks: true })?;
    let done = all_steps(session, script, values);
    if !done.as_ref().is_err_and(SqlError::ends_connection) {
        session.control(Control::Rollback)?;
    }
    done.map(drop)
}

/// Executes the steps of a script, whatever transaction is open.
pub(crate) fn all_steps(
    session: &mut dyn SqlSession,
    script: &Script,
    values: &[AnswerValue],
) -> Result<Seen, SqlError> {
    let mut seen = Seen::default();
    for (index, step) in script.steps.iter().enumerate() {
        let mut of_step = session.execute(script, index, values)?;
        // Affected rows, or those of a RETURNING.
        of_step.changed_rows = if step.changes_rows { of_step.rows } else { 0 };
        seen.add(of_step);
    }
    Ok(seen)
}

/// Executes a script and keeps its answers. What it changes is rolled back.
pub(crate) fn fetch(
    session: &mut dyn SqlSession,
    engine: &str,
    script: &Script,
    values: &[AnswerValue],
) -> Result<Vec<AnswerTable>, SqlFailure> {
    let first = script.steps.first();
    let in_first = |error: SqlError| match first {
        Some(step) => error.in_step(engine, script, step),
        None => SqlFailure::Connection(error.at(engine)),
    };
    let within = script.transaction || script.writes;
    if within {
        session.control(Control::Begin { locks: script.writes }).map_err(in_first)?;
    }
    let mut tables = Vec::new();
    let mut failed = None;
    for (index, step) in script.steps.iter().enumerate() {
        match session.fetch(script, index, values) {
            Ok(table) => tables.push(table),
            Err(error) => {
                failed = Some(error.in_step(engine, script, step));
                break;
            }
        }
    }
    if within {
        let ended = session.control(Control::Rollback).map_err(in_first);
        if failed.is_none() {
            ended?;
        }
    }
    failed.map_or(Ok(tables), Err)
}

/// Refuses a text for which the engine counts other parameters than those that get values.
pub(crate) fn check_parameters(counted: usize, filled: usize) -> Result<(), SqlError> {
    if counted == filled {
        return Ok(());
    }
    let counted = notation::counted(counted, "parameter");
    let message = match filled {
        0 => format!("it has {counted} that nothing gives a value; put values in their place"),
        _ => format!("it has {counted}, and {filled} of them get values; write each as :NAME"),
    };
    Err(SqlError::Refused { message, line: 0 })
}

/// The line, counted from 0, of byte `at` in `text`.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count()
}
