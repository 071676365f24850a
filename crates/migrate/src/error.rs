//! Errors of a migration; each message names the thing, the place and the remedy.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

use notation::thousands;
use serde::Serialize;

use crate::display::escaped;

/// Unless a message says otherwise, the target is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user asked to stop; nothing was changed.
    #[error("interrupted; the target is unchanged")]
    Interrupted,
    #[error(transparent)]
    Engine(#[from] connect::Error),
    /// An error of SQLite that needs no explanation.
    #[error("{}: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
    /// The file is shorter than its header says.
    #[error(
        "{}: the file is truncated: {} bytes of {}; copy it again, or rescue what is left with \
         sqlite3 \"{}\" .recover",
        path.display(), thousands(*actual_bytes), thousands(*expected_bytes), path.display()
    )]
    Truncated { path: PathBuf, expected_bytes: u64, actual_bytes: u64 },
    #[error(
        "{}: the file is damaged ({reason}); look at it with PRAGMA integrity_check, rescue what \
         is left with sqlite3 \"{}\" .recover",
        path.display(), path.display()
    )]
    Damaged { path: PathBuf, reason: String },
    #[error(
        "{}: locked by another program for more than 10 seconds; try again when it has committed",
        path.display()
    )]
    Locked { path: PathBuf },
    /// WAL mode on a medium that cannot be written.
    #[error(
        "{}: the file is in WAL mode{} and its folder cannot be written; copy the file{} to a \
         folder that can, and read the copy",
        path.display(),
        if *hot { " with changes not yet checkpointed" } else { "" },
        if *hot { " and its -wal together" } else { "" }
    )]
    WalUnreadable { path: PathBuf, hot: bool },
    /// A crash left an unfinished transaction.
    #[error(
        "{}: a program was ended in the middle of a transaction and left a journal beside the \
         file: open it once for writing, for example by sqlite3 \"{}\" .tables, which undoes that \
         transaction",
        path.display(), path.display()
    )]
    HotJournal { path: PathBuf },
    /// More readers in parallel than connections.
    #[error("all readers of the SQLite file are busy; please report this as a fault of Crossover")]
    Busy,
    #[error("a worker ended early ({0})")]
    Worker(String),
    #[error("PostgreSQL: {doing}: {}", postgres_message(report))]
    Postgres {
        doing: String,
        /// The server's report. Not a `source`: the message already contains it.
        report: tokio_postgres::Error,
    },
    #[error(
        "the server did not answer to the last commit, so it is not known whether the rows are \
         there: crossover verify tells{}",
        rejects.as_deref().map(kept_rejects).unwrap_or_default()
    )]
    CommitUnknown {
        /// The reject file, if rows were refused.
        rejects: Option<PathBuf>,
    },
    /// The connection was lost, and reconnecting failed.
    #[error("{cause}{}", attempts_in_words(*attempts))]
    Lost { cause: Box<Error>, attempts: u32 },
    /// Another program is migrating into the database.
    #[error(
        "another crossover migrates into this database (server process {process}): wait for it, \
         or, if its program is gone, end it by SELECT pg_terminate_backend({process}); the target \
         is unchanged"
    )]
    Claimed {
        /// The server process of its session.
        process: String,
    },
    /// The migration was interrupted and can be resumed.
    #[error("{}\n{unfinished}", without_promise(cause))]
    CutOff { cause: Box<Error>, unfinished: Unfinished },
    /// The target holds an interrupted migration.
    #[error("{0}")]
    Unfinished(Unfinished),
    /// The source has changed since the unfinished migration began.
    #[error(
        "{}: the file was changed since the unfinished migration began, so what it has loaded may \
         no longer be what is there: put the target back by --abandon and start again",
        path.display()
    )]
    SourceChanged { path: PathBuf },
    /// A `--map` rule that cannot be read or matches nothing.
    #[error("--map '{}': {}", escaped(rule), escaped(problem))]
    Mapping {
        rule: String,
        /// The fault and its correction.
        problem: String,
    },
    #[error("{}: {}", escaped(rule), escaped(problem))]
    Rename {
        /// The flag.
        rule: String,
        /// The fault and its correction.
        problem: String,
    },
    /// A file that describes a migration and cannot be read.
    #[error("{}: {reason}", path.display())]
    Recipe {
        path: PathBuf,
        /// The fault and its place.
        reason: String,
    },
    /// An unfinished migration began with other options.
    #[error(
        "the unfinished migration began with other options ({0}): leave them out, it goes on with \
         its own"
    )]
    OtherOptions(String),
    #[error("no table of the source is called {}; it has {}", escaped(name), escaped(known))]
    NoSuchTable { name: String, known: String },
    #[error(
        "no column of {} is called {}; it has {}",
        escaped(table),
        escaped(column),
        escaped(known)
    )]
    NoSuchColumn { table: String, column: String, known: String },
    /// `--exclude` of a column without which rows have no name.
    #[error(
        "{column} is part of a primary key, which --exclude leaves whole: leave the table out, or move it"
    )]
    KeyColumn { column: String },
    #[error("no index of the source is called {}; it has {}", escaped(name), escaped(known))]
    NoSuchIndex { name: String, known: String },
    #[error(
        "{count} found before anything was changed in the target:\n{list}\n\
         (crossover audit shows all{way_out})"
    )]
    Blocked {
        /// For example `2 blockers`.
        count: String,
        list: String,
        /// The flag that moves the rest; empty if there is none.
        way_out: &'static str,
    },
    /// The target does not match, by its schema or its content.
    #[error("{0}; the target is unchanged")]
    Target(String),
    /// A value that the target's type cannot hold.
    #[error("{0}; the target is unchanged")]
    Row(Box<BadRow>),
    /// A constraint that the copied rows violate.
    #[error("{0}; the target is unchanged")]
    Constraint(String),
    #[error("verification found differences, so nothing was committed{cause}:\n{text}")]
    Differs {
        /// Begins with a blank; may be empty.
        cause: String,
        /// The tables that differ, with rows.
        text: String,
    },
    /// The reject file cannot be written or read.
    #[error("{}: {reason}", path.display())]
    RejectFile {
        path: PathBuf,
        /// The system's message, and the remedy.
        reason: String,
    },
}

impl Error {
    /// `true` for requests that cannot be met: exit code 2.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Mapping { .. }
                | Self::Rename { .. }
                | Self::NoSuchTable { .. }
                | Self::NoSuchColumn { .. }
                | Self::KeyColumn { .. }
                | Self::NoSuchIndex { .. }
                | Self::Recipe { .. }
                | Self::OtherOptions(_)
        )
    }

    /// `true` if the same migration can be resumed: its rows and options were not the cause.
    pub(crate) fn is_cut_off(&self) -> bool {
        match self {
            Self::Interrupted
            | Self::Engine(_)
            | Self::Worker(_)
            | Self::CommitUnknown { .. }
            | Self::Lost { .. } => true,
            _ if self.is_lost_connection() => true,
            // Insufficient resources, operator intervention, system error, deadlock.
            Self::Postgres { report, .. } => report.code().is_none_or(|code| {
                ["53", "57", "58", "40", "XX"].iter().any(|class| code.code().starts_with(class))
            }),
            _ => false,
        }
    }

    /// `true` if a new connection may help: the server restarts, ended the session, or cannot be
    /// reached.
    pub(crate) fn is_lost_connection(&self) -> bool {
        match self {
            Self::Engine(connect::Error::CannotConnect { .. }) => true,
            Self::Postgres { report, .. } => match report.code() {
                // Too many connections; connection exceptions; operator intervention but for a
                // statement that was cancelled (PostgreSQL's manual, appendix A).
                Some(code) => {
                    ["53300", "08", "57P"].iter().any(|class| code.code().starts_with(class))
                }
                None => {
                    let source = std::error::Error::source(report);
                    report.is_closed() || source.is_some_and(|source| source.is::<std::io::Error>())
                }
            },
            _ => false,
        }
    }

    /// `true` if the role lacks a right.
    pub(crate) fn is_refused_right(&self) -> bool {
        let Self::Postgres { report, .. } = self else { return false };
        report.code() == Some(&tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE)
    }

    /// Wraps a server error with the action that failed.
    pub(crate) fn postgres(doing: impl Into<String>) -> impl FnOnce(tokio_postgres::Error) -> Self {
        let doing = doing.into();
        move |report| Self::Postgres { doing, report }
    }
}

/// The cause of what remains unfinished; an interruption as such speaks of an untouched target.
fn without_promise(cause: &Error) -> String {
    match cause {
        Error::Interrupted => "interrupted".to_owned(),
        Error::Target(said) | Error::Constraint(said) => said.clone(),
        Error::Row(bad) => bad.to_string(),
        cause => cause.to_string(),
    }
}

fn attempts_in_words(attempts: u32) -> String {
    match attempts {
        0 => String::new(),
        1 => "; one attempt to connect again failed".to_owned(),
        many => format!("; {many} attempts to connect again failed"),
    }
}

fn kept_rejects(path: &Path) -> String {
    format!(
        "; the refused rows are in {}: keep it if the others are there, delete it if they are not",
        path.display()
    )
}

/// The server's message, detail and hint in one line.
pub(crate) fn postgres_message(error: &tokio_postgres::Error) -> String {
    if error.is_closed() {
        return "the connection was lost: is the server running?".to_owned();
    }
    let Some(report) = error.as_db_error() else {
        let source = std::error::Error::source(error);
        return source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
    };
    let mut message = report.message().to_owned();
    for part in [report.detail(), report.hint(), report.where_()].into_iter().flatten() {
        message.push_str("; ");
        message.push_str(part.replace('\n', " ").trim_end_matches('.'));
    }
    escaped(&message)
}

/// A refused value, named by its place.
#[derive(Clone, Debug)]
pub struct BadRow {
    pub table: String,
    /// The row, for example `rowid 4711`.
    pub row: String,
    pub column: String,
    pub value: String,
    pub reason: String,
    pub fix: String,
}

impl Display for BadRow {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { table, row, column, value, reason, fix } = self;
        let line = format!("{table}, {row}, column {column}: {value}: {reason}; {fix}");
        formatter.write_str(&escaped(&line))
    }
}

/// An unfinished migration as a command names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    pub source: PathBuf,
    pub started: String,
    /// Existing tables are loaded, which are without keys and indexes until then.
    pub data_only: bool,
    pub steps_done: usize,
    pub steps: usize,
}

impl Display for Unfinished {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { source, started, steps_done, steps, .. } = self;
        write!(
            formatter,
            "the migration of {} begun {started} is unfinished, {steps_done} of {steps} steps are \
             done",
            escaped(&source.display().to_string())
        )?;
        if self.data_only {
            formatter.write_str(
                "; until it ends the tables that it loads are without their keys and indexes",
            )?;
        }
        formatter.write_str(
            ": crossover migrate SOURCE TARGET --resume continues, crossover migrate TARGET \
             --abandon puts the target back",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_migration_promises_no_unchanged_target() {
        let causes = [
            Error::Target("a lock".to_owned()),
            Error::Constraint("a key".to_owned()),
            Error::Interrupted,
        ];
        for cause in causes {
            let unfinished = Unfinished {
                source: "a.db".into(),
                started: "now".to_owned(),
                data_only: true,
                steps_done: 1,
                steps: 2,
            };
            let said = Error::CutOff { cause: Box::new(cause), unfinished }.to_string();
            assert!(!said.contains("unchanged") && said.contains("unfinished"), "{said}");
        }
    }
}
