//! `dashboard move`: the whole database of a dashboard from one engine to the other, table by table
//! of the schema's definition.
//!
//! The caller's thread reads one snapshot of the source, another one writes the target in one
//! transaction, a few hundred kilobytes of rows lie between the two. Before the commit the target
//! is read back and compared.

mod form;
mod read;
mod write;

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, sync_channel};

use engine::DatabaseUrl;
use serde::Serialize;

use crate::database::{
    self, CommandConnection, CommandTransaction, SqlDialect, from_clients, postgres_message,
};
use crate::new_file;
use crate::rollup::{self, CommandWork};
use crate::schema::{self, TABLES, TOTALS, Table, TableDefinition};
use read::read_table;
use write::{TablePart, WriteJob, write};

pub use read::TableContent;

/// Settings of PostgreSQL for one long transaction: limits meant for short ones do not end it, and
/// rows that a policy hides are an error.
const LONG_TRANSACTION: &str = "SET LOCAL statement_timeout = 0; \
     SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL row_security = off";

/// Parts of tables read ahead of the writer.
const PARTS_AHEAD: usize = 4;

/// A dashboard that another database holds now, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MovedDashboard {
    /// Every table, compared row by row on both sides.
    pub tables: Vec<TableContent>,
    /// Tables of the source that were written while they were moved. The target does not have that.
    pub changed: Vec<&'static str>,
}

/// Writes the dashboard in `source` into the empty database `target` of the other engine, whole or
/// not at all; `source` stays. `replace` allows `target` to be a dashboard already. Not to be called
/// from asynchronous code: it blocks.
///
/// # Errors
/// [`Error`] says which; unless it says otherwise, what was there before is then untouched.
pub fn transfer(
    source: &DatabaseUrl,
    target: &DatabaseUrl,
    replace: bool,
    work: CommandWork<'_>,
) -> Result<MovedDashboard, Error> {
    check_engines(source, target)?;
    let mut connection = CommandConnection::open(source, work.runtime)?;
    let watch = connection.watch_interruption(source, work.interrupted)?;
    schema::check(&connection)?;
    let copied = connection.read(|snapshot| {
        prepare(snapshot)?;
        let tables = tables_of(snapshot)?;
        work.progress.set_length(2 * count_rows(snapshot, &tables)?);
        copy(snapshot, &WriteJob { tables: &tables, replace, work }, target)
    });
    let tables = match copied {
        // Whatever broke first when the user asked to stop, stopping was the reason.
        Err(error) if error.is_before_commit() => go_on(work).and(Err(error)),
        copied => copied,
    }?;
    drop(watch);
    let changed = changed_since(&mut connection, &tables, work)
        .map_err(|reason| Error::NotReadAgain { reason: Box::new(reason) })?;
    Ok(MovedDashboard { tables, changed })
}

fn check_engines(source: &DatabaseUrl, target: &DatabaseUrl) -> Result<(), Error> {
    match (source, target) {
        (DatabaseUrl::Sqlite(_), DatabaseUrl::Sqlite(path)) => {
            Err(Error::BothSqlite { path: path.clone() })
        }
        (DatabaseUrl::Postgres(_), DatabaseUrl::Postgres(_)) => Err(Error::BothPostgres),
        _ => Ok(()),
    }
}

fn prepare(transaction: &CommandTransaction<'_>) -> Result<(), database::Error> {
    match transaction.dialect() {
        SqlDialect::Sqlite => Ok(()),
        SqlDialect::Postgres => transaction.batch(LONG_TRANSACTION),
    }
}

/// The tables to move, a table after those it refers to. In PostgreSQL other programs cannot empty
/// or replace them from here on; in SQLite the snapshot begins here.
fn tables_of(snapshot: &CommandTransaction<'_>) -> Result<Vec<TableDefinition>, Error> {
    if snapshot.dialect() == SqlDialect::Postgres {
        let names: Vec<_> = TABLES.iter().map(|table| table.name.name()).collect();
        snapshot.batch(&format!("LOCK TABLE {} IN ACCESS SHARE MODE", names.join(", ")))?;
    }
    schema::check_within(snapshot)?;
    let totals = rollup::exists(snapshot)?.then_some(TOTALS);
    Ok(TABLES.iter().copied().chain(totals).collect())
}

fn count_rows(snapshot: &CommandTransaction<'_>, tables: &[TableDefinition]) -> Result<u64, Error> {
    let mut rows = 0;
    for table in tables {
        let count = format!("SELECT count(*) FROM {}", table.name.name());
        rows += snapshot.integer(&count, &[])?.unwrap_or_default();
    }
    Ok(u64::try_from(rows).unwrap_or_default())
}

/// Reads on this thread, writes on another one.
fn copy(
    snapshot: &CommandTransaction<'_>,
    job: &WriteJob<'_>,
    target: &DatabaseUrl,
) -> Result<Vec<TableContent>, Error> {
    let (sender, parts) = sync_channel(PARTS_AHEAD);
    let (sent, written) = std::thread::scope(|scope| {
        // The receiver goes with the writer: it must not keep the reader waiting when it has failed.
        let writer = scope.spawn(move || write(job, target, &parts));
        let sent = send(snapshot, job, sender);
        (sent, writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    match (sent, written) {
        (Err(error), Err(Error::NoMoreRows)) => Err(error),
        (_, written) => written,
    }
}

/// Sends all rows of all tables, until the writer is gone.
fn send(
    snapshot: &CommandTransaction<'_>,
    job: &WriteJob<'_>,
    sender: SyncSender<TablePart>,
) -> Result<(), Error> {
    let send = |part| sender.send(part).map_err(|_| Error::NoWriter);
    for table in job.tables {
        let rows = |rows| send(TablePart::Rows(rows));
        send(TablePart::End(read_table(snapshot, table, job.work, rows)?))?;
    }
    Ok(())
}

/// The tables that hold other rows than were moved. The version of the data stands for facts,
/// articles and names, the other tables are read once more.
fn changed_since(
    connection: &mut CommandConnection<'_>,
    moved: &[TableContent],
    work: CommandWork<'_>,
) -> Result<Vec<&'static str>, Error> {
    connection.read(|snapshot| {
        prepare(snapshot)?;
        let mut changed = Vec::new();
        for (table, moved) in TABLES.iter().zip(moved) {
            let is_read = !schema::raises_data_version(table.name);
            if is_read && read_table(snapshot, table, work, |_| Ok(()))? != *moved {
                changed.push(match table.name {
                    Table::SchemaVersion => "articles or traffic",
                    name => name.name(),
                });
            }
        }
        Ok(changed)
    })
}

fn go_on(work: CommandWork<'_>) -> Result<(), Error> {
    if work.interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// Why a dashboard was not moved. Nothing of it is in the target then, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "both databases are SQLite files; copy one with `crossover dashboard backup {}`",
        path.display()
    )]
    BothSqlite { path: PathBuf },
    #[error(
        "both databases are PostgreSQL's, which has its own tools for this: pg_dump and pg_restore"
    )]
    BothPostgres,
    /// SQLite keeps a value that the schema does not allow.
    #[error(
        "{table}.{column} {problem}, in the row with {key}; correct it in the source, then move \
         again"
    )]
    Value { table: &'static str, column: &'static str, key: String, problem: String },
    /// An engine refused the rows of a table.
    #[error("table {table}: {reason}")]
    InTable { table: &'static str, reason: database::Error },
    /// SQLite kept a reference to no row.
    #[error(
        "PostgreSQL: {}: {detail} Correct the source, then move again",
        postgres_message(reason)
    )]
    Keys { reason: tokio_postgres::Error, detail: String },
    /// The copy does not have the rows of the source.
    #[error(
        "table {} differs: the source has {} rows with the digest {}, the target got {} with {}; \
         nothing was kept",
        sent.table, sent.rows, sent.digest, found.rows, found.digest
    )]
    Different { sent: TableContent, found: TableContent },
    /// The user asked to stop.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// PostgreSQL may have committed before it was gone.
    #[error(
        "{reason}; this was at the commit: the target holds the whole dashboard or nothing of it, \
         which the same command says when it is run again"
    )]
    Unconfirmed { reason: database::Error },
    #[error(
        "{reason}; the dashboard was moved and every row compared, only VACUUM ANALYZE is missing: \
         run it in the target"
    )]
    NotSettled { reason: database::Error },
    #[error(
        "{reason}; the dashboard was moved and every row compared, but the source could not be read \
         again to see if it was written meanwhile"
    )]
    NotReadAgain { reason: Box<Error> },
    /// The new file cannot be made.
    #[error(transparent)]
    NewFile(#[from] new_file::Error),
    /// The source is not a dashboard, or the target is not empty.
    #[error(transparent)]
    Schema(#[from] schema::Error),
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The reader has ended, and says why itself.
    #[error("the source gave no more rows")]
    NoMoreRows,
    /// The writer has ended, and says why itself.
    #[error("the target takes no more rows")]
    NoWriter,
    #[error("a row on its way is not in the form of PostgreSQL's COPY, or longer than that allows")]
    Form,
}

from_clients!(Error);

impl Error {
    /// The target surely holds nothing of the dashboard.
    #[must_use]
    pub fn is_before_commit(&self) -> bool {
        !matches!(
            self,
            Self::Unconfirmed { .. } | Self::NotSettled { .. } | Self::NotReadAgain { .. }
        )
    }

    fn in_table(self, table: &'static str) -> Self {
        match self {
            Self::Database(reason) => Self::InTable { table, reason },
            error => error,
        }
    }

    /// Of a statement that makes keys over finished rows.
    fn of_keys(error: database::Error) -> Self {
        let database::Error::Postgres(reason) = error else { return error.into() };
        match reason.as_db_error().and_then(|refusal| refusal.detail()).map(str::to_owned) {
            Some(detail) => Self::Keys { reason, detail },
            None => database::Error::Postgres(reason).into(),
        }
    }

    fn sqlite_code(&self) -> Option<rusqlite::ErrorCode> {
        match self {
            Self::Database(database::Error::Sqlite(error))
            | Self::InTable { reason: database::Error::Sqlite(error), .. } => {
                error.sqlite_error_code()
            }
            _ => None,
        }
    }
}
