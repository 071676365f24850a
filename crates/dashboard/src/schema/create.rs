//! The empty schema in a database without tables of the dashboard.

use rusqlite::Connection;
use tokio_postgres::Client;

use super::check::{existing_postgres_table, existing_sqlite_table};
use super::{
    Declarations, Error, SqlDialect, Table, create_indexes, create_tables, create_totals,
    first_row, insert_row, watch_changes,
};

/// Makes the whole empty schema, in one transaction.
pub fn create_sqlite(connection: &mut Connection) -> Result<(), Error> {
    if let Some(table) = existing_sqlite_table(connection)? {
        return Err(Error::Occupied { table: table.name() });
    }
    let transaction = connection.transaction()?;
    for statement in create_tables(SqlDialect::Sqlite, Declarations::Own) {
        transaction.execute(&statement, [])?;
    }
    for statement in create_indexes(SqlDialect::Sqlite) {
        transaction.execute(&statement, [])?;
    }
    for statement in empty_totals(SqlDialect::Sqlite) {
        transaction.execute(&statement, [])?;
    }
    transaction.execute(&insert_row(SqlDialect::Sqlite, Table::SchemaVersion), first_row(true))?;
    transaction.commit()?;
    Ok(())
}

/// Makes the whole empty schema, in one transaction.
pub async fn create_postgres(client: &mut Client) -> Result<(), Error> {
    if let Some(table) = existing_postgres_table(client).await? {
        return Err(Error::Occupied { table: table.name() });
    }
    let transaction = client.transaction().await?;
    for statement in create_tables(SqlDialect::Postgres, Declarations::Own) {
        transaction.batch_execute(&statement).await?;
    }
    for statement in create_indexes(SqlDialect::Postgres) {
        transaction.batch_execute(&statement).await?;
    }
    for statement in empty_totals(SqlDialect::Postgres) {
        transaction.batch_execute(&statement).await?;
    }
    let [schema, data, totals] = first_row(true);
    let version = insert_row(SqlDialect::Postgres, Table::SchemaVersion);
    transaction.execute(&version, &[&schema, &data, &totals]).await?;
    transaction.commit().await?;
    Ok(())
}

/// The empty table of totals, and the triggers of the data version.
fn empty_totals(dialect: SqlDialect) -> impl Iterator<Item = String> {
    create_totals(dialect).into_iter().chain(watch_changes(dialect))
}
