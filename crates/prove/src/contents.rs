//! Contents of a database, as one number of rows and one digest for each table or day: compared
//! with the expected contents after a fault.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::ensure;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use xxhash_rust::xxh3::xxh3_128;

use crate::damage::Damage;
use crate::postgres::LEFT_OUT;
use crate::site::FaultSite;

/// Rows and a digest that does not depend on their order, by table or by day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents(BTreeMap<String, (u64, u128)>);

impl Contents {
    /// Damage of `self`, where `expected` should be.
    pub fn damage(&self, expected: &Self) -> Damage {
        let missing = (0, 0);
        let of = |contents: &Self, name: &String| *contents.0.get(name).unwrap_or(&missing);
        let names =
            expected.0.keys().chain(self.0.keys().filter(|it| !expected.0.contains_key(*it)));
        names.map(|name| Damage::of_rows(of(expected, name), of(self, name))).sum()
    }

    /// Damage of `self`, where each part should be that of `before` or that of `after`.
    pub fn damage_of_parts(&self, before: &Self, after: &Self) -> Damage {
        let is_whole = |name: &&String| {
            let found = self.0.get(*name);
            found != before.0.get(*name) && found != after.0.get(*name)
        };
        let all = before.0.keys().chain(after.0.keys().filter(|it| !before.0.contains_key(*it)));
        let broken = all.filter(is_whole);
        let of = |contents: &Self, name: &String| *contents.0.get(name).unwrap_or(&(0, 0));
        broken.map(|name| Damage::of_rows(of(before, name), of(self, name))).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tables of the site's database.
    pub fn of(site: &FaultSite) -> anyhow::Result<Self> {
        match site.postgres() {
            None => Self::of_file(&site.file()),
            Some(postgres) => Ok(Self(postgres.tables()?)),
        }
    }

    /// The rows of one table of the site's database, by their column `day`.
    pub fn by_day(site: &FaultSite, table: &str) -> anyhow::Result<Self> {
        match site.postgres() {
            None => {
                let connection = sound(&site.file())?;
                let mut days = BTreeMap::new();
                each_row(&connection, table, |row, digest| {
                    let day: i64 = row.get("day")?;
                    add(days.entry(day.to_string()).or_default(), digest);
                    Ok(())
                })?;
                Ok(Self(days))
            }
            Some(postgres) => Ok(Self(postgres.days(table)?)),
        }
    }

    /// The tables of a SQLite file, which must be sound.
    pub fn of_file(path: &Path) -> anyhow::Result<Self> {
        let connection = sound(path)?;
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
        let names: Result<Vec<String>, _> =
            connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect();
        let mut tables = BTreeMap::new();
        for name in names?.into_iter().filter(|name| !LEFT_OUT.contains(&name.as_str())) {
            let mut sum = (0, 0);
            each_row(&connection, &name, |_, digest| {
                add(&mut sum, digest);
                Ok(())
            })?;
            tables.insert(name, sum);
        }
        Ok(Self(tables))
    }
}

fn add((rows, sum): &mut (u64, u128), digest: u128) {
    *rows += 1;
    *sum = sum.wrapping_add(digest);
}

fn sound(path: &Path) -> anyhow::Result<Connection> {
    let connection = connect::sqlite::open_existing(path)?;
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    ensure!(verdict == "ok", "{}: {verdict}", path.display());
    Ok(connection)
}

fn each_row(
    connection: &Connection,
    table: &str,
    mut each: impl FnMut(&rusqlite::Row<'_>, u128) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\""))?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut bytes = Vec::new();
    while let Some(row) = rows.next()? {
        bytes.clear();
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Null => bytes.push(0),
                ValueRef::Integer(number) => {
                    bytes.push(1);
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
                ValueRef::Real(number) => {
                    bytes.push(2);
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
                ValueRef::Text(text) | ValueRef::Blob(text) => {
                    bytes.push(3);
                    bytes.extend_from_slice(&text.len().to_le_bytes());
                    bytes.extend_from_slice(text);
                }
            }
        }
        each(row, xxh3_128(&bytes))?;
    }
    Ok(())
}

impl Extend<(String, (u64, u128))> for Contents {
    fn extend<I: IntoIterator<Item = (String, (u64, u128))>>(&mut self, parts: I) {
        self.0.extend(parts);
    }
}
