//! Load of repaired rows (`--rejects FILE`), all or none. They pass through a small SQLite file, so
//! that they are read, checked and named like any others.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use notation::thousands;
use rusqlite::Connection;
use rusqlite::types::Value as Stored;

use super::reject_file::{Rejected, from_json, read};
use super::workers::MigrationJob;
use crate::display::list;
use crate::source::{SourceFile, SourceSchema, SourceTable, quoted};
use crate::target::{
    ConstraintProbe, MatchedTable, RowConstraint, TargetSession, existing_constraints,
};
use crate::{Error, Task};

/// By table and rowid of the small file: the row's name in the source.
pub type RowNames = BTreeMap<String, Arc<HashMap<i64, String>>>;

/// Rows named in the message about rows that exist already.
const SHOWN: usize = 5;

/// Makes `database` of the rows in the reject file `path`. Returns the names that they had in the
/// source.
pub fn to_database(path: &Path, database: &Path) -> Result<RowNames, Error> {
    let rejects = read(path)?;
    if rejects.is_empty() {
        let reason = "it holds no row".to_owned();
        return Err(Error::RejectFile { path: path.to_owned(), reason });
    }
    refuse_incomplete(path, &rejects)?;
    let failed = |source: rusqlite::Error| Error::Sqlite { path: database.to_owned(), source };
    let connection = connect::sqlite::create(database)?;
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
        // Without a type a column keeps every value unchanged.
        let columns = list(columns.iter().map(|name| quoted(name)));
        let sql = format!("CREATE TABLE {} ({columns})", quoted(table));
        connection.execute_batch(&sql).map_err(failed)?;
    }
    let mut names: BTreeMap<String, HashMap<i64, String>> = BTreeMap::new();
    for (number, rejected) in rejects.into_iter().enumerate() {
        let rowid = number as i64 + 1;
        insert(&connection, path, rowid, &rejected, failed)?;
        names.entry(rejected.table).or_default().insert(rowid, rejected.row);
    }
    connection.execute_batch("COMMIT").map_err(failed)?;
    Ok(names.into_iter().map(|(table, names)| (table, Arc::new(names))).collect())
}

/// Refuses a row that lacks a column that it had, or that other rows of its table have: it would
/// become NULL.
fn refuse_incomplete(path: &Path, rejects: &[Rejected]) -> Result<(), Error> {
    for rejected in rejects {
        let of_table = rejects.iter().filter(|other| other.table == rejected.table);
        let mut columns = of_table.flat_map(|other| other.values.keys().chain(&other.columns));
        if let Some(column) = columns.find(|column| !rejected.values.contains_key(*column)) {
            let reason = format!(
                "{}, {}: column {column} is missing; write null where it must be NULL",
                rejected.table, rejected.row
            );
            return Err(Error::RejectFile { path: path.to_owned(), reason });
        }
    }
    Ok(())
}

fn insert(
    connection: &Connection,
    path: &Path,
    rowid: i64,
    rejected: &Rejected,
    failed: impl Fn(rusqlite::Error) -> Error + Copy,
) -> Result<(), Error> {
    let mut values = vec![Stored::Integer(rowid)];
    for (name, value) in &rejected.values {
        values.push(from_json(value).ok_or_else(|| Error::RejectFile {
            path: path.to_owned(),
            reason: format!(
                "{}, {}, column {name}: {value} is not a value that SQLite can hold",
                rejected.table, rejected.row
            ),
        })?);
    }
    let names = list(rejected.values.keys().map(|name| quoted(name)));
    let places = vec!["?"; values.len()].join(", ");
    let table = quoted(&rejected.table);
    let sql = format!("INSERT INTO {table} (_rowid_, {names}) VALUES ({places})");
    connection.execute(&sql, rusqlite::params_from_iter(values)).map_err(failed)?;
    Ok(())
}

/// Refuses rows that the target already has where no key would refuse them: a second load must not
/// double them. The target itself is asked, so that an interruption, a copy or a part of the file
/// cannot deceive, and no record of loads is needed.
pub async fn refuse_loaded(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    task: Task<'_>,
) -> Result<(), Error> {
    let mut there = Vec::new();
    for of_table in matched {
        if has_key(session, of_table).await? {
            continue;
        }
        let table = &schema.tables[of_table.source];
        let constraint = RowConstraint::new_row(table, of_table);
        let probe =
            ConstraintProbe::load(session, source, table, of_table, &[&constraint], task).await?;
        let (count, addresses) = probe.count_violations(&constraint, SHOWN).await?;
        probe.drop_table(task).await?;
        if count > 0 {
            there.push(format!("{}, {}", table.name, named(table, count, &addresses)));
        }
    }
    if there.is_empty() {
        return Ok(());
    }
    Err(Error::Target(format!(
        "rows of this reject file are in the target already: {}; it was loaded before, or they are \
         equal to others: take them out of the file, or add them by --add-again",
        there.join("; ")
    )))
}

/// Refuses rows without a row to which they refer, by those foreign keys that the session passes unseen.
/// They are asked for after the load: the rows may refer to each other.
pub async fn refuse_orphans(
    session: &TargetSession,
    job: &MigrationJob,
    task: Task<'_>,
) -> Result<(), Error> {
    let MigrationJob { source, schema, matched, .. } = job;
    let keys = existing_constraints::unwatched_references(&session.client, schema, matched).await?;
    let mut orphans = Vec::new();
    for of_table in matched {
        let own: Vec<&RowConstraint> =
            keys.iter().filter(|key| key.table == of_table.source).collect();
        if own.is_empty() {
            continue;
        }
        let table = &schema.tables[of_table.source];
        let probe = ConstraintProbe::load(session, source, table, of_table, &own, task).await?;
        for key in own {
            let (count, addresses) = probe.count_violations(key, SHOWN).await?;
            if count > 0 {
                let rows = named(table, count, &addresses);
                orphans.push(format!("{}, {rows}: {}", table.name, key.reason()));
            }
        }
        probe.drop_table(task).await?;
    }
    if orphans.is_empty() {
        return Ok(());
    }
    Err(Error::Target(format!(
        "rows of this reject file refer to rows that are not there: {}; the target would take them, \
         since session_replication_role is replica or triggers of the key are disabled: repair them, or \
         add the missing rows",
        orphans.join("; ")
    )))
}

/// The rows at the first `addresses` of `count`.
fn named(table: &SourceTable, count: u64, addresses: &[i64]) -> String {
    let named = list(addresses.iter().map(|address| table.address_name(*address)));
    match count - addresses.len() as u64 {
        0 => named,
        others => format!("{named} and {} more", thousands(others)),
    }
}

/// `true` if a key refuses an existing row: it is unique, its columns are written and never NULL.
async fn has_key(session: &TargetSession, matched: &MatchedTable) -> Result<bool, Error> {
    let written: Vec<&str> = matched.written().map(|column| column.name.as_str()).collect();
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = $1 \
               AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL \
               AND NOT EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = i.indrelid \
                   AND a.attnum = ANY(i.indkey) \
                   AND NOT (a.attnotnull AND a.attname::text = ANY($2))))";
    let failed = Error::postgres(format!("cannot read the keys of {}", matched.relation));
    let row = session.client.query_one(sql, &[&matched.oid, &written]).await.map_err(failed)?;
    Ok(row.get(0))
}
