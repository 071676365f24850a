//! Which tables of the source take part (`--table`, `--exclude`), and about how many rows they have.

use rusqlite::{Connection, OptionalExtension as _};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::inspect::{Schema, Table, quoted};
use crate::mapping::matches;

/// Patterns of table names, `*` matching anything.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Selection {
    /// Only these; all if empty.
    pub tables: Vec<String>,
    /// Not these.
    pub excluded: Vec<String>,
}

impl Selection {
    /// Leaves only the selected tables in `schema`.
    ///
    /// # Errors
    /// [`Error::NoSuchTable`] for a pattern that fits nothing.
    pub fn apply(&self, mut schema: Schema) -> Result<Schema, Error> {
        for pattern in self.tables.iter().chain(&self.excluded) {
            if !schema.tables.iter().any(|table| matches(pattern, &table.name)) {
                let names: Vec<&str> =
                    schema.tables.iter().map(|table| table.name.as_str()).collect();
                let known = if names.is_empty() { "no tables".into() } else { names.join(", ") };
                return Err(Error::NoSuchTable { name: pattern.clone(), known });
            }
        }
        let any = |patterns: &[String], table: &Table| {
            patterns.iter().any(|pattern| matches(pattern, &table.name))
        };
        schema.tables.retain(|table| {
            (self.tables.is_empty() || any(&self.tables, table)) && !any(&self.excluded, table)
        });
        Ok(schema)
    }
}

/// About how many rows each table has, from what costs nothing to read: ANALYZE's statistics, or
/// the span of its rowids. Zero where neither tells.
pub fn estimated_rows(connection: &Connection, schema: &Schema) -> Vec<u64> {
    schema.tables.iter().map(|table| estimate(connection, table).unwrap_or(0)).collect()
}

fn estimate(connection: &Connection, table: &Table) -> Option<u64> {
    let analysed = connection
        .query_row(
            "SELECT max(CAST(stat AS INTEGER)) FROM main.sqlite_stat1 WHERE tbl = ?1",
            [&table.name],
            |row| row.get::<_, Option<i64>>(0),
        )
        .optional()
        .ok()
        .flatten()
        .flatten();
    let span = || {
        let rowid = table.rowid_expression()?;
        let name = quoted(&table.name);
        let sql = format!(
            "SELECT (SELECT max({rowid}) FROM main.{name}) - (SELECT min({rowid}) FROM main.{name})"
        );
        connection.query_row(&sql, [], |row| row.get::<_, Option<i64>>(0)).ok().flatten()
    };
    let rows = match analysed {
        Some(rows) => Some(rows),
        None => span().map(|span| span.saturating_add(1)),
    };
    rows.and_then(|rows| u64::try_from(rows).ok())
}
