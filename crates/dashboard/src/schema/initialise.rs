//! `dashboard init`: the empty schema in an empty database.

use rusqlite::Connection;
use tokio_postgres::Client;

use super::check::{existing_postgres_table, existing_sqlite_table};
use super::{Dialect, Error, VERSION, create_indexes, create_tables};

/// Makes the whole empty schema, in one transaction.
///
/// # Errors
/// A table of ours exists already, or SQLite refused.
pub fn create_sqlite(connection: &mut Connection) -> Result<(), Error> {
    if let Some(table) = existing_sqlite_table(connection)? {
        return Err(Error::Occupied { table: table.name() });
    }
    let transaction = connection.transaction()?;
    for statement in create_tables(Dialect::Sqlite) {
        transaction.execute(&statement, [])?;
    }
    for statement in create_indexes(Dialect::Sqlite) {
        transaction.execute(&statement, [])?;
    }
    transaction.execute(INSERT_VERSION_SQLITE, [VERSION])?;
    transaction.commit()?;
    Ok(())
}

/// Makes the whole empty schema, in one transaction.
///
/// # Errors
/// A table of ours exists already, or PostgreSQL refused.
pub async fn create_postgres(client: &mut Client) -> Result<(), Error> {
    if let Some(table) = existing_postgres_table(client).await? {
        return Err(Error::Occupied { table: table.name() });
    }
    let transaction = client.transaction().await?;
    for statement in create_tables(Dialect::Postgres) {
        transaction.batch_execute(&statement).await?;
    }
    for statement in create_indexes(Dialect::Postgres) {
        transaction.batch_execute(&statement).await?;
    }
    transaction.execute(INSERT_VERSION_POSTGRES, &[&VERSION]).await?;
    transaction.commit().await?;
    Ok(())
}

const INSERT_VERSION_SQLITE: &str = "INSERT INTO schema_version (version) VALUES (?1)";
const INSERT_VERSION_POSTGRES: &str = "INSERT INTO schema_version (version) VALUES ($1)";
