//! `--rejects FILE`: repaired rows are added to the tables, all or none. They pass through a small
//! SQLite file of their own, so that they are read, checked and named like any others.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value as Stored;

use super::reject_file::{Rejected, from_json, read};
use crate::Error;
use crate::inspect::quoted;

/// Makes `database` of the rows in the reject file `path`; a row's rowid is its line in the file.
///
/// # Errors
/// [`Error::RejectFile`] for a line that cannot be read.
pub fn to_database(path: &Path, database: &Path) -> Result<(), Error> {
    let rejects = read(path)?;
    let failed = |source: rusqlite::Error| Error::Sqlite { path: database.to_owned(), source };
    let connection = engine::sqlite::create(database)?;
    connection.execute_batch("BEGIN").map_err(failed)?;
    let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for rejected in &rejects {
        let columns = tables.entry(&rejected.table).or_default();
        for name in rejected.values.keys() {
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
    }
    for (table, columns) in &tables {
        // Without a type a column keeps every value as it is.
        let columns: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
        let sql = format!("CREATE TABLE {} ({})", quoted(table), columns.join(", "));
        connection.execute_batch(&sql).map_err(failed)?;
    }
    for (number, rejected) in rejects.iter().enumerate() {
        insert(&connection, path, number + 1, rejected, failed)?;
    }
    connection.execute_batch("COMMIT").map_err(failed)
}

fn insert(
    connection: &Connection,
    path: &Path,
    number: usize,
    rejected: &Rejected,
    failed: impl Fn(rusqlite::Error) -> Error + Copy,
) -> Result<(), Error> {
    let mut values = vec![Stored::Integer(number as i64)];
    for (name, value) in &rejected.values {
        values.push(from_json(value).ok_or_else(|| Error::RejectFile {
            path: path.to_owned(),
            reason: format!("row {number}: the value of {name} is none that SQLite can hold"),
        })?);
    }
    let names: Vec<String> = rejected.values.keys().map(|name| quoted(name)).collect();
    let places = vec!["?"; values.len()].join(", ");
    let table = quoted(&rejected.table);
    let sql = format!("INSERT INTO {table} (_rowid_, {}) VALUES ({places})", names.join(", "));
    connection.execute(&sql, rusqlite::params_from_iter(values)).map_err(failed)?;
    Ok(())
}
