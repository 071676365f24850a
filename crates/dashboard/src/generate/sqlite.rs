//! The dataset as a new SQLite file. The file is not read before it has its name, so it is written
//! without a journal and synced once, at the end.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, params_from_iter};
use tokio::sync::mpsc;

use super::dataset::small_tables;
use super::traffic::Fact;
use super::{Error, GenerateJob};
use crate::database::{self, CommandTransaction, SqlDialect, stop_when_interrupted};
use crate::imported_days;
use crate::new_file::{self, NewFile};
use crate::rollup;
use crate::schema::{
    Declarations, Table, create_indexes, create_tables, first_row, insert_row, watch_changes,
};

/// Writes everything; the size of the file in bytes.
pub fn write(
    job: &GenerateJob<'_>,
    target: &Path,
    days: mpsc::Receiver<Vec<Fact>>,
) -> Result<u64, Error> {
    let file = NewFile::begin(target, job.generate.replace)?;
    fill(job, file.path(), days).map_err(|error| explain(error, target))?;
    Ok(file.finish()?)
}

fn fill(job: &GenerateJob<'_>, path: &Path, days: mpsc::Receiver<Vec<Fact>>) -> Result<(), Error> {
    let mut connection = connect::sqlite::create(path)?;
    // References are right by construction: checking them would cost more than writing the rows.
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA foreign_keys = OFF",
    )?;
    stop_when_interrupted(&mut connection, job.interrupted)?;
    let declarations =
        if job.generate.as_found { Declarations::AsFound } else { Declarations::Own };

    let transaction = connection.transaction()?;
    for statement in create_tables(SqlDialect::Sqlite, declarations) {
        transaction.execute(&statement, [])?;
    }
    transaction.execute(&insert_row(SqlDialect::Sqlite, Table::SchemaVersion), first_row(false))?;
    for table in small_tables() {
        let mut insert = transaction.prepare(&insert_row(SqlDialect::Sqlite, table))?;
        for row in job.dataset.rows(table) {
            insert.execute(params_from_iter(row))?;
        }
    }
    insert_facts(job, &transaction, days)?;
    transaction.execute(&imported_days::all_of(job.generate.start, job.generate.end), [])?;
    job.progress.set_message("indexes and statistics");
    for statement in create_indexes(SqlDialect::Sqlite) {
        transaction.execute(&statement, [])?;
    }
    transaction.execute("ANALYZE", [])?;
    if !job.generate.as_found {
        let transaction = CommandTransaction::Sqlite(&transaction);
        rollup::make(&transaction)?;
        rollup::fill(&transaction, job.progress, job.interrupted)?;
        for statement in watch_changes(SqlDialect::Sqlite) {
            transaction.batch(&statement)?;
        }
    }
    transaction.commit()?;
    job.go_on()?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

fn insert_facts(
    job: &GenerateJob<'_>,
    connection: &Connection,
    mut days: mpsc::Receiver<Vec<Fact>>,
) -> Result<(), Error> {
    let mut insert = connection.prepare(&insert_row(SqlDialect::Sqlite, Table::Traffic))?;
    while let Some(facts) = days.blocking_recv() {
        job.go_on()?;
        for fact in &facts {
            insert.execute(fact.values())?;
        }
        job.progress.inc(facts.len() as u64);
    }
    Ok(())
}

fn explain(error: Error, target: &Path) -> Error {
    let code = match &error {
        Error::Database(database::Error::Sqlite(error)) => error.sqlite_error_code(),
        _ => None,
    };
    match code {
        Some(ErrorCode::OperationInterrupted) => Error::Interrupted,
        Some(ErrorCode::DiskFull) => new_file::Error::DiskFull { path: target.to_owned() }.into(),
        _ => error,
    }
}
