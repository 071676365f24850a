//! Imports: articles from a content system, traffic from an analytics service. A file is read and
//! checked to its end before the first row of it is written.

mod articles;
mod country;
mod facts;
mod field;
mod input;
mod matching;
mod owner;
mod packed;
mod quote;
mod table;
mod traffic;
mod unmatched;
mod url;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use engine::DatabaseUrl;
use rusqlite::config::DbConfig;

use crate::database::{self, CommandConnection, from_clients};
use crate::query::Day;
use crate::rollup::{self, CommandWork};
use crate::schema;

pub use articles::{ImportArticles, ImportedArticles, import_articles};
pub use traffic::{ImportTraffic, ImportedTraffic, ReplacedDay, import_traffic};
pub use unmatched::{Unmatched, unmatched};

/// Errors of an import: nothing was imported, or with [`Error::Interrupted`] only some days.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {}: {reason}{}", path.display(), way_out(reason))]
    Io { path: PathBuf, reason: std::io::Error },
    /// A file as a whole is not what it should be.
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
    /// A file of the right form without a row.
    #[error(
        "{}: it has no rows ({found}), where some of {expected} were expected; if that is right, \
         pass --allow-empty",
        path.display()
    )]
    Empty {
        path: PathBuf,
        found: &'static str,
        /// Of what rows were expected.
        expected: &'static str,
    },
    /// A row is at fault.
    #[error("{}, {place}: {problem}", path.display())]
    Row {
        path: PathBuf,
        /// The line, or the place in a JSON document.
        place: String,
        problem: String,
    },
    /// A value of a row is at fault.
    #[error("{}, {place}, column {column}: {problem}", path.display())]
    Cell {
        path: PathBuf,
        /// The line, or the place in a JSON document.
        place: String,
        /// The column as the file calls it.
        column: String,
        problem: String,
    },
    /// A column was mapped that the import does not know, or the file does not have.
    #[error("--map {name}={column}: {problem}")]
    Mapping { name: String, column: String, problem: String },
    /// The temporary file cannot be written.
    #[error("cannot keep the rows in a temporary file (TMPDIR says where): {0}")]
    Temporary(std::io::Error),
    /// The database is not a dashboard's.
    #[error(transparent)]
    Schema(#[from] schema::Error),
    #[error(transparent)]
    Totals(#[from] rollup::Error),
    /// An engine reported an error.
    #[error(transparent)]
    Database(#[from] database::Error),
    /// Traffic that waited for an article does not fit beside what the article has.
    #[error(
        "the traffic that waited as {url} on {day} and what its article has from the same country \
         add up to more than {}; import that day again with counts that are right, then the articles",
        i32::MAX
    )]
    TooMuch {
        /// The form of its URL, as `import unmatched` lists it.
        url: String,
        day: Day,
    },
    /// Days lose most of their page views, and the user did not agree.
    #[error(
        "{}: the file may hold a part of a day, or paths of another \
         blog; nothing was imported; if it is right, add --yes",
        halved(days)
    )]
    Halved { days: Vec<ReplacedDay> },
    #[error(
        "another program changed the data while it was imported, after {}; import the file again",
        notation::counted(*days, "whole day")
    )]
    Changed {
        /// Days that are in the database.
        days: usize,
    },
    #[error(
        "interrupted: {days} of {of} {} imported, each of them whole; the rest is unchanged",
        if *of == 1 { "day was" } else { "days were" }
    )]
    Interrupted {
        /// Days that are in the database.
        days: usize,
        of: usize,
    },
}

from_clients!(Error);

impl Error {
    /// Whether the command line is at fault, and not a file or a database.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Mapping { .. })
    }

    fn file(path: &Path, problem: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), problem: problem.into() }
    }

    fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |reason| Self::Io { path: path.to_owned(), reason }
    }
}

/// The remedy for a file that cannot be read, to stand behind the reason.
fn way_out(reason: &std::io::Error) -> &'static str {
    match reason.kind() {
        std::io::ErrorKind::NotFound => "; check the path, which begins in the working directory",
        std::io::ErrorKind::PermissionDenied => "; let this user read it",
        std::io::ErrorKind::IsADirectory => "; name the files in it",
        _ => "",
    }
}

/// The loss of days in words, the first of them by name.
fn halved(days: &[ReplacedDay]) -> String {
    let Some(first) = days.first() else { return String::new() };
    let (of, before, after) = if first.is_halved_in_all() {
        ("", first.pageviews_before, first.pageviews_after)
    } else {
        (" of articles", first.matched_pageviews_before, first.matched_pageviews_after)
    };
    let more = match days.len() - 1 {
        0 => String::new(),
        1 => ", and one more day would likewise".to_owned(),
        more => format!(", and {more} more days would likewise"),
    };
    let (blog, day) = (&first.blog, first.day);
    format!("{blog} on {day} would fall from {before} page views{of} to {after}{more}")
}

/// A connection for an import; the file stays unchanged until something is written.
fn open<'a>(target: &DatabaseUrl, work: CommandWork<'a>) -> Result<CommandConnection<'a>, Error> {
    let mut connection = open_to_read(target, work)?;
    if let Some(connection) = connection.sqlite() {
        connect::sqlite::pragmas(connection, [("foreign_keys", "off")])?;
        // The import writes its own data version.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    }
    Ok(connection)
}

fn open_to_read<'a>(
    target: &DatabaseUrl,
    work: CommandWork<'a>,
) -> Result<CommandConnection<'a>, Error> {
    let connection = CommandConnection::open(target, work.runtime)?;
    schema::check(&connection)?;
    Ok(connection)
}

/// To be called before many transactions: with a write-ahead log readers go on at the same time,
/// and a commit need not wait for the disk.
fn log_ahead(connection: &mut CommandConnection<'_>) -> Result<(), Error> {
    if let Some(connection) = connection.sqlite()
        && !connection.is_readonly("main")?
    {
        let settings = [("journal_mode", "wal"), ("synchronous", "normal")];
        connect::sqlite::pragmas(connection, settings)?;
    }
    Ok(())
}

/// Makes everything that was committed survive a power failure. To be called before an import is
/// reported: in a write-ahead log a commit that waits for the disk takes those before it along.
fn make_durable(connection: &mut CommandConnection<'_>) -> Result<(), Error> {
    if let Some(connection) = connection.sqlite() {
        connect::sqlite::pragmas(connection, [("synchronous", "full")])?;
        // SQLite writes no page whose bytes stay unchanged.
        connection.execute_batch(
            "BEGIN IMMEDIATE;
             UPDATE schema_version SET data_version = data_version + 1;
             UPDATE schema_version SET data_version = data_version - 1;
             COMMIT",
        )?;
    }
    Ok(())
}

/// Whether the user asked to stop.
fn is_interrupted(work: CommandWork<'_>) -> bool {
    work.interrupted.load(Ordering::Relaxed)
}
