//! The target: a new SQLite file or a PostgreSQL database, filled in one transaction, which is
//! committed when both sides hold the same rows.

use std::path::Path;
use std::pin::pin;
use std::sync::mpsc::Receiver;

use bytes::Bytes;
use engine::{DatabaseUrl, PostgresUrl};
use futures_util::SinkExt as _;
use rusqlite::{ErrorCode, params_from_iter};

use super::form::each_row;
use super::read::{TableContent, read_table};
use super::{Error, go_on, prepare};
use crate::database::{self, CommandConnection, CommandTransaction, SqlDialect};
use crate::new_file::{self, NewFile};
use crate::rollup::{self, CommandWork};
use crate::schema::{
    self, Declarations, TableDefinition, column_names, create_indexes, create_tables, insert_row,
    watch_changes,
};

/// A message from the reader of the source. The tables come in their order.
pub(super) enum TablePart {
    Rows(Vec<u8>),
    /// All rows of the table were sent.
    End(TableContent),
}

/// Everything a writer needs but the rows.
pub(super) struct WriteJob<'a> {
    pub tables: &'a [TableDefinition],
    pub replace: bool,
    pub work: CommandWork<'a>,
}

/// Fills the target; it is as before if that fails.
pub(super) fn write(
    job: &WriteJob<'_>,
    target: &DatabaseUrl,
    parts: &Receiver<TablePart>,
) -> Result<Vec<TableContent>, Error> {
    match target {
        DatabaseUrl::Sqlite(path) => write_sqlite(job, path, parts),
        DatabaseUrl::Postgres(url) => write_postgres(job, target, url, parts),
    }
}

/// The file is not read before it has its name, so it is written without a journal and synced once.
fn write_sqlite(
    job: &WriteJob<'_>,
    path: &Path,
    parts: &Receiver<TablePart>,
) -> Result<Vec<TableContent>, Error> {
    let file = NewFile::begin(path, job.replace)?;
    let connection = connect::sqlite::create(file.path())?;
    // PostgreSQL has checked the references, or this program has written them.
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA foreign_keys = OFF",
    )?;
    let mut connection = CommandConnection::Sqlite(Box::new(connection));
    let target = DatabaseUrl::Sqlite(path.to_owned());
    let watch = connection.watch_interruption(&target, job.work.interrupted)?;
    let filled = connection.write(|transaction| fill(job, transaction, parts));
    let tables = filled.map_err(|error| match error.sqlite_code() {
        Some(ErrorCode::DiskFull) => new_file::Error::DiskFull { path: path.to_owned() }.into(),
        _ => error,
    })?;
    drop((watch, connection));
    file.finish()?;
    Ok(tables)
}

fn write_postgres(
    job: &WriteJob<'_>,
    target: &DatabaseUrl,
    url: &PostgresUrl,
    parts: &Receiver<TablePart>,
) -> Result<Vec<TableContent>, Error> {
    let work = job.work;
    let mut connection = CommandConnection::open(target, work.runtime)?;
    let watch = connection.watch_interruption(target, work.interrupted)?;
    let mut is_compared = false;
    let written = connection.write(|transaction| {
        prepare(transaction)?;
        if let CommandTransaction::Postgres(transaction, runtime) = transaction {
            runtime.block_on(schema::make_room(transaction, job.replace))?;
        }
        let tables = fill(job, transaction, parts)?;
        is_compared = true;
        Ok::<_, Error>(tables)
    });
    drop(watch);
    let tables = written.map_err(|error| match error {
        Error::Database(reason) if is_compared => Error::Unconfirmed { reason },
        error => error,
    })?;
    work.progress.set_message("vacuum analyze");
    work.runtime
        .block_on(async {
            let client = connect::postgres::connect(url).await?;
            schema::settle(&client).await.map_err(database::Error::from)
        })
        .map_err(|reason| Error::NotSettled { reason })?;
    Ok(tables)
}

/// Makes the tables, fills them, and compares them with the source.
fn fill(
    job: &WriteJob<'_>,
    transaction: &CommandTransaction<'_>,
    parts: &Receiver<TablePart>,
) -> Result<Vec<TableContent>, Error> {
    let (dialect, work) = (transaction.dialect(), job.work);
    for statement in create_tables(dialect, Declarations::Own) {
        transaction.batch(&statement)?;
    }
    if job.tables.iter().any(|table| table.name == schema::Table::Totals) {
        rollup::make(transaction)?;
    }
    let mut sent = Vec::new();
    for table in job.tables {
        let name = table.name.name();
        work.progress.set_message(name);
        let written = write_table(transaction, table, parts);
        sent.push(written.map_err(|error| error.in_table(name))?);
    }
    work.progress.set_message("keys and indexes");
    let statistics = (dialect == SqlDialect::Sqlite).then(|| "ANALYZE".to_owned());
    for statement in create_indexes(dialect) {
        go_on(work)?;
        transaction.batch(&statement).map_err(Error::of_keys)?;
    }
    for statement in watch_changes(dialect).into_iter().chain(statistics) {
        transaction.batch(&statement)?;
    }
    for (table, sent) in job.tables.iter().zip(&sent) {
        work.progress.set_message(format!("comparing {}", sent.table));
        let found = read_table(transaction, table, work, |_| Ok(()))?;
        if found != *sent {
            return Err(Error::Different { sent: sent.clone(), found });
        }
    }
    go_on(work)?;
    Ok(sent)
}

fn write_table(
    transaction: &CommandTransaction<'_>,
    table: &TableDefinition,
    parts: &Receiver<TablePart>,
) -> Result<TableContent, Error> {
    let next = || parts.recv().map_err(|_| Error::NoMoreRows);
    match transaction {
        CommandTransaction::Sqlite(connection) => {
            let mut insert = connection.prepare(&insert_row(SqlDialect::Sqlite, table.name))?;
            loop {
                match next()? {
                    TablePart::Rows(rows) => each_row(table, &rows, |values| {
                        insert.execute(params_from_iter(values))?;
                        Ok(())
                    })?,
                    TablePart::End(content) => return Ok(content),
                }
            }
        }
        CommandTransaction::Postgres(transaction, runtime) => {
            // Rows of a table made in the same transaction need no later freezing.
            let copy = format!(
                "COPY {} ({}) FROM STDIN (FORMAT binary, FREEZE)",
                table.name.name(),
                column_names(table.name).join(", ")
            );
            let mut sink = pin!(runtime.block_on(transaction.copy_in::<_, Bytes>(&copy))?);
            runtime.block_on(sink.send(Bytes::from_static(COPY_HEADER)))?;
            loop {
                match next()? {
                    TablePart::Rows(rows) => runtime.block_on(sink.send(rows.into()))?,
                    TablePart::End(content) => {
                        runtime.block_on(sink.send(Bytes::from_static(COPY_TRAILER)))?;
                        runtime.block_on(sink.finish())?;
                        return Ok(content);
                    }
                }
            }
        }
    }
}

/// Signature, flags and length of the extension of a binary COPY.
const COPY_HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

const COPY_TRAILER: &[u8] = &(-1_i16).to_be_bytes();
