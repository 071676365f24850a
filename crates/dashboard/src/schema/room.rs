//! A PostgreSQL database that gets a whole dashboard in one transaction: room for it before, settled
//! after.

use tokio_postgres::{Client, Transaction};

use super::check::{check_postgres, existing_postgres_table};
use super::version::{self, SchemaVersion};
use super::{DROP_TOTALS, DataVersion, Error, SqlDialect, TABLES, Table, version_row};
use crate::database::SqlRow;

/// Held to the end of the transaction by the program that fills a database with a dashboard.
const FILLING: &str = "SELECT pg_try_advisory_xact_lock(hashtext('crossover dashboard'))";

/// Removes the dashboard's tables if they are empty or may be replaced. Returns a version for the
/// new data, which differs from that of the old.
pub(crate) async fn make_room(transaction: &Transaction<'_>, replace: bool) -> Result<i32, Error> {
    if !transaction.query_one(FILLING, &[]).await?.get::<_, bool>(0) {
        return Err(Error::BeingFilled);
    }
    let Some(found) = existing_postgres_table(transaction).await? else { return Ok(0) };
    if version::of_postgres(transaction).await? == SchemaVersion::Absent {
        return Err(Error::Occupied { table: found.name() });
    }
    check_postgres(transaction).await?;
    for table in TABLES.iter().map(|table| table.name).filter(|&name| name != Table::SchemaVersion)
    {
        let has_rows = format!("SELECT EXISTS (SELECT FROM {})", table.name());
        if !replace && transaction.query_one(&has_rows, &[]).await?.get(0) {
            return Err(Error::NotEmpty { table: table.name() });
        }
    }
    let row = transaction.query_one(version_row(SqlDialect::Postgres), &[]).await?;
    let version = DataVersion::from_row(SqlRow::Postgres(&row))?.data;
    // Totals of the rows that go would be wrong for those that come.
    transaction.batch_execute(DROP_TOTALS).await?;
    for table in TABLES.iter().rev() {
        transaction.batch_execute(&format!("DROP TABLE {}", table.name.name())).await?;
    }
    Ok(i32::try_from(version + 1).unwrap_or_default())
}

/// Statistics and visibility map: autovacuum would make them in the middle of a measurement.
pub(crate) async fn settle(client: &Client) -> Result<(), tokio_postgres::Error> {
    for table in TABLES {
        client.batch_execute(&format!("VACUUM (ANALYZE) {}", table.name.name())).await?;
    }
    Ok(())
}
