//! The dataset in a PostgreSQL database: one transaction of binary COPY, with the keys of the
//! facts made over finished rows, then VACUUM ANALYZE, so that the database is settled.

use std::pin::pin;
use std::time::Duration;

use engine::PostgresUrl;
use tokio::sync::mpsc;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Transaction};

use super::dataset::small_tables;
use super::traffic::Fact;
use super::{Error, GenerateJob};
use crate::database::SqlDialect;
use crate::imported_days;
use crate::schema::{
    self, ColumnType, Declarations, TABLES, Table, column_names, create_indexes, create_tables,
    create_totals, first_row, insert_row, watch_changes,
};

/// The time in which an interruption is seen during one long statement.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Writes everything; the database is as before if that fails.
pub async fn write(
    job: &GenerateJob<'_>,
    url: &PostgresUrl,
    days: mpsc::Receiver<Vec<Fact>>,
) -> Result<(), Error> {
    let mut client = connect::postgres::connect(url).await?;
    let cancel = client.cancel_token();
    let interruption = async {
        while job.go_on().is_ok() {
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    };
    let written = tokio::select! {
        written = fill(job, &mut client, days) => written,
        () = interruption => Err(Error::Interrupted),
    };
    if let Err(Error::Interrupted) = written {
        // Otherwise the server would finish its statement before it notices that no client waits.
        let _ = cancel.cancel_query(connect::postgres::tls(url)?).await;
    }
    written?;
    job.progress.set_message("vacuum analyze");
    Ok(schema::settle(&client).await?)
}

async fn fill(
    job: &GenerateJob<'_>,
    client: &mut Client,
    days: mpsc::Receiver<Vec<Fact>>,
) -> Result<(), Error> {
    let transaction = client.transaction().await?;
    let data_version = schema::make_room(&transaction, job.generate.replace).await?;
    for statement in create_tables(SqlDialect::Postgres, Declarations::Own) {
        transaction.batch_execute(&statement).await?;
    }
    for table in small_tables() {
        copy_rows(job, &transaction, table).await?;
    }
    copy_facts(job, &transaction, days).await?;
    let all_days = imported_days::all_of(job.generate.start, job.generate.end);
    transaction.batch_execute(&all_days).await?;
    let version = insert_row(SqlDialect::Postgres, Table::SchemaVersion);
    let [schema, _, totals] = first_row(false);
    transaction.execute(&version, &[&schema, &data_version, &totals]).await?;
    job.progress.set_message("keys and indexes");
    let empty_totals = create_totals(SqlDialect::Postgres);
    let indexes = create_indexes(SqlDialect::Postgres).into_iter().chain(empty_totals);
    for statement in indexes.chain(watch_changes(SqlDialect::Postgres)) {
        transaction.batch_execute(&statement).await?;
    }
    job.go_on()?;
    transaction.commit().await?;
    Ok(())
}

/// Rows of a table made in the same transaction need no later freezing.
fn copy_statement(table: Table) -> String {
    format!(
        "COPY {} ({}) FROM STDIN (FORMAT binary, FREEZE)",
        table.name(),
        column_names(table).join(", ")
    )
}

fn column_types(table: Table) -> Vec<Type> {
    let definition = TABLES.iter().filter(|definition| definition.name == table);
    let columns = definition.flat_map(|definition| definition.columns);
    columns
        .map(|column| match column.column_type {
            ColumnType::Integer => Type::INT4,
            ColumnType::BigInteger => Type::INT8,
            ColumnType::Varchar(_) => Type::VARCHAR,
            ColumnType::Bytes => Type::BYTEA,
        })
        .collect()
}

async fn copy_rows(
    job: &GenerateJob<'_>,
    transaction: &Transaction<'_>,
    table: Table,
) -> Result<(), Error> {
    let sink = transaction.copy_in(&copy_statement(table)).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &column_types(table)));
    for row in job.dataset.rows(table) {
        writer.as_mut().write_raw(&row).await?;
    }
    writer.finish().await?;
    Ok(())
}

async fn copy_facts(
    job: &GenerateJob<'_>,
    transaction: &Transaction<'_>,
    mut days: mpsc::Receiver<Vec<Fact>>,
) -> Result<(), Error> {
    let sink = transaction.copy_in(&copy_statement(Table::Traffic)).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &column_types(Table::Traffic)));
    while let Some(facts) = days.recv().await {
        job.go_on()?;
        for fact in &facts {
            writer.as_mut().write_raw(fact.values()).await?;
        }
        job.progress.inc(facts.len() as u64);
    }
    writer.finish().await?;
    Ok(())
}
