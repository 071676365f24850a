//! The check of an existing database against the schema, which names the first difference.

use std::collections::HashMap;

use rusqlite::Connection;
use tokio_postgres::GenericClient;

use super::definition::{ColumnType, Declarations, TABLES, TOTALS, Table, TableDefinition};
use super::{Error, SqlDialect, version};
use crate::database::{CommandConnection, CommandTransaction};

/// A column as an engine describes it.
struct FoundColumn {
    name: String,
    /// As declared, in lower case.
    column_type: String,
    nullable: bool,
    /// Place in the primary key, from 1; 0 if it is not part of it.
    key_position: i32,
}

/// The tables found under our names, with their columns in order.
type FoundTables = HashMap<&'static str, Vec<FoundColumn>>;

pub(crate) fn check(session: &CommandConnection<'_>) -> Result<(), Error> {
    match session {
        CommandConnection::Sqlite(connection) => check_sqlite(connection),
        CommandConnection::Postgres(client, runtime) => runtime.block_on(check_postgres(&**client)),
    }
}

/// The same check of the state that a transaction sees.
pub(crate) fn check_within(transaction: &CommandTransaction<'_>) -> Result<(), Error> {
    match transaction {
        CommandTransaction::Sqlite(connection) => check_sqlite(connection),
        CommandTransaction::Postgres(transaction, runtime) => {
            runtime.block_on(check_postgres(*transaction))
        }
    }
}

/// Compares tables, columns, types, nullability and primary keys with the definition.
pub fn check_sqlite(connection: &Connection) -> Result<(), Error> {
    version::of_sqlite(connection)?.require_this_version()?;
    compare(SqlDialect::Sqlite, Declarations::Own, &sqlite_tables(connection)?)
}

/// The declarations that a SQLite database of the dashboard has.
pub fn sqlite_declarations(connection: &Connection) -> Result<Declarations, Error> {
    version::of_sqlite(connection)?.require_this_version()?;
    let found = sqlite_tables(connection)?;
    match compare(SqlDialect::Sqlite, Declarations::AsFound, &found) {
        Ok(()) => Ok(Declarations::AsFound),
        Err(_) => {
            compare(SqlDialect::Sqlite, Declarations::Own, &found).map(|()| Declarations::Own)
        }
    }
}

fn sqlite_tables(connection: &Connection) -> Result<FoundTables, Error> {
    let mut found = FoundTables::new();
    for table in TABLES {
        let mut statement = connection.prepare_cached(
            r#"SELECT name, lower(type), "notnull" = 0 AND pk = 0, pk
               FROM pragma_table_info(?1) ORDER BY cid"#,
        )?;
        let columns = statement
            .query_map([table.name.name()], |row| {
                Ok(FoundColumn {
                    name: row.get(0)?,
                    column_type: row.get(1)?,
                    nullable: row.get(2)?,
                    key_position: row.get(3)?,
                })
            })?
            .collect::<Result<Vec<_>, _>>()?;
        if !columns.is_empty() {
            found.insert(table.name.name(), columns);
        }
    }
    Ok(found)
}

/// Compares tables, columns, types, nullability and primary keys with the definition; a table is
/// looked up along the search path, as in a query.
pub async fn check_postgres(client: &impl GenericClient) -> Result<(), Error> {
    version::of_postgres(client).await?.require_this_version()?;
    let mut found = FoundTables::new();
    for table in TABLES {
        let rows = client
            .query(
                "SELECT attname::text, format_type(atttypid, atttypmod), NOT attnotnull,
                        coalesce(array_position(indkey::int2[], attnum), -1) + 1
                 FROM pg_attribute
                 LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary
                 WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped
                 ORDER BY attnum",
                &[&table.name.name()],
            )
            .await?;
        let columns: Vec<_> = rows
            .iter()
            .map(|row| FoundColumn {
                name: row.get(0),
                column_type: row.get(1),
                nullable: row.get(2),
                key_position: row.get(3),
            })
            .collect();
        if !columns.is_empty() {
            found.insert(table.name.name(), columns);
        }
    }
    compare(SqlDialect::Postgres, Declarations::Own, &found)
}

fn compare(
    dialect: SqlDialect,
    declarations: Declarations,
    found: &FoundTables,
) -> Result<(), Error> {
    if found.is_empty() {
        return Err(Error::Empty);
    }
    TABLES
        .iter()
        .find_map(|table| difference(dialect, declarations, table, found))
        .map_or(Ok(()), |difference| Err(Error::Different { difference }))
}

/// The first difference in one table.
fn difference(
    dialect: SqlDialect,
    declarations: Declarations,
    table: &TableDefinition,
    found: &FoundTables,
) -> Option<String> {
    let table_name = table.name.name();
    let Some(found) = found.get(table_name) else {
        return Some(format!("table {table_name} is missing"));
    };
    for column in table.columns {
        let name = column.name.name();
        let Some(found) = found.iter().find(|found| found.name == name) else {
            return Some(format!("column {table_name}.{name} is missing"));
        };
        let expected = declared_type(dialect, declarations.column_type(table.name, column));
        if found.column_type != expected {
            return Some(format!(
                "column {table_name}.{name} is declared {}, not {expected}",
                found.column_type
            ));
        }
        if found.nullable != column.nullable {
            let (is, should) = if found.nullable {
                ("allows NULL", "must not")
            } else {
                ("is NOT NULL", "must allow NULL")
            };
            return Some(format!("column {table_name}.{name} {is}, but {should}"));
        }
    }
    let unknown = |found: &&FoundColumn| !is_column(table, &found.name);
    if let Some(found) = found.iter().find(unknown) {
        return Some(format!("column {table_name}.{} is unknown", found.name));
    }
    key_difference(table, found)
}

fn is_column(table: &TableDefinition, name: &str) -> bool {
    table.columns.iter().any(|column| column.name.name() == name)
}

fn key_difference(table: &TableDefinition, found: &[FoundColumn]) -> Option<String> {
    let mut key: Vec<_> = found.iter().filter(|column| column.key_position > 0).collect();
    key.sort_by_key(|column| column.key_position);
    let key: Vec<_> = key.iter().map(|column| column.name.as_str()).collect();
    let expected: Vec<_> = table.primary_key.iter().map(|column| column.name()).collect();
    (key != expected).then(|| {
        format!(
            "the primary key of table {} is ({}), not ({})",
            table.name.name(),
            key.join(", "),
            expected.join(", ")
        )
    })
}

/// A type as the engine shows it.
fn declared_type(dialect: SqlDialect, column_type: ColumnType) -> String {
    match (column_type, dialect) {
        (ColumnType::Integer, _) => "integer".to_owned(),
        (ColumnType::BigInteger, _) => "bigint".to_owned(),
        (ColumnType::Varchar(length), SqlDialect::Sqlite) => format!("varchar({length})"),
        (ColumnType::Varchar(length), SqlDialect::Postgres) => {
            format!("character varying({length})")
        }
        (ColumnType::Bytes, SqlDialect::Sqlite) => "blob".to_owned(),
        (ColumnType::Bytes, SqlDialect::Postgres) => "bytea".to_owned(),
    }
}

/// The first of our tables that exists in a SQLite database.
pub(super) fn existing_sqlite_table(connection: &Connection) -> Result<Option<Table>, Error> {
    let mut statement =
        connection.prepare("SELECT count(*) FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE")?;
    for table in TABLES {
        if statement.query_row([table.name.name()], |row| row.get::<_, i64>(0))? > 0 {
            return Ok(Some(table.name));
        }
    }
    Ok(None)
}

/// The first of our tables that exists in a PostgreSQL database.
pub(super) async fn existing_postgres_table(
    client: &impl GenericClient,
) -> Result<Option<Table>, Error> {
    for table in TABLES.iter().chain([&TOTALS]) {
        let row = client
            .query_one("SELECT to_regclass($1::text) IS NOT NULL", &[&table.name.name()])
            .await?;
        if row.get(0) {
            return Ok(Some(table.name));
        }
    }
    Ok(None)
}

/// A table in a SQLite database that is neither the dashboard's nor SQLite's.
pub(crate) fn unknown_sqlite_table(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare(
        "SELECT lower(name) FROM sqlite_schema
         WHERE type = 'table' AND name NOT LIKE 'sqlite^_%' ESCAPE '^'",
    )?;
    let names = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    let ours = || TABLES.iter().map(|table| table.name).chain([Table::Totals]);
    let is_ours = |name: &String| ours().any(|table| table.name() == name);
    Ok(names.into_iter().find(|name| !is_ours(name)))
}

/// Whether a SQLite database is as `dashboard init` leaves it.
pub(crate) fn is_empty_sqlite_dashboard(connection: &Connection) -> bool {
    let is_empty = |table: Table| {
        let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM {})", table.name());
        connection.query_row(&sql, [], |row| row.get(0)).unwrap_or(false)
    };
    let tables = TABLES.iter().map(|table| table.name);
    check_sqlite(connection).is_ok()
        && matches!(unknown_sqlite_table(connection), Ok(None))
        && tables.filter(|&table| table != Table::SchemaVersion).all(is_empty)
}
