//! Unique keys under another collation: NOCASE and RTRIM make texts equal that PostgreSQL keeps
//! apart, and their substitutes (citext, lower()) make more of them equal.

use std::collections::{BTreeSet, HashSet};

use notation::{plural, thousands};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use xxhash_rust::xxh3::xxh3_128;

use super::{citext, proposed};
use crate::ddl::{CollatedKey, NocaseRule, is_only_nocase};
use crate::display::ShownValue;
use crate::finding::{Example, Finding, Lost, RefusedValues, Severity};
use crate::mapping::Candidate;
use crate::source::{Affinity, SourceFile, SourceSchema, SourceTable, quoted};
use crate::value::PostgresType;
use crate::{Error, Task};

const SHOWN: usize = 3;

/// `true` if a unique key of the table or one of its columns does not compare texts byte by byte.
pub fn is_concerned(table: &SourceTable) -> bool {
    keys(table).iter().flatten().any(|(column, collation)| {
        collation != "BINARY" || table.columns[*column].collation.is_some()
    })
}

/// The primary key and all unique keys over whole columns, for all rows.
fn keys(table: &SourceTable) -> Vec<CollatedKey> {
    let of_column = |column: &usize| {
        let collation = table.columns[*column].collation.as_deref();
        (*column, collation.unwrap_or("BINARY").to_owned())
    };
    let primary: CollatedKey = table.primary_key.iter().map(of_column).collect();
    let indexes = table.indexes.iter().filter(|index| index.unique && !index.partial);
    let others = indexes.filter_map(|index| {
        let parts = index.parts.iter();
        parts.map(|part| Some((part.column?, part.collation.to_ascii_uppercase()))).collect()
    });
    std::iter::once(primary).chain(others).filter(|key: &CollatedKey| !key.is_empty()).collect()
}

/// Findings on unique keys under other collations.
pub fn findings(
    source: &SourceFile,
    connection: &Connection,
    schema: &SourceSchema,
    table: &SourceTable,
    candidates: &[Candidate],
    nocase: Option<NocaseRule>,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    let is_text = |column: usize| {
        let becomes = candidates[column].field.as_ref().map(|field| &field.postgres_type);
        let text = becomes.is_none_or(PostgresType::is_text);
        text && table.columns[column].affinity == Affinity::Text
    };
    for mut key in keys(table) {
        // No other type is compared by a collation of SQLite.
        for (_, collation) in key.iter_mut().filter(|(column, _)| !is_text(*column)) {
            "BINARY".clone_into(collation);
        }
        let collated = |name: &str| {
            key.iter().any(|(column, collation)| collation == name && is_text(*column))
        };
        let mut duplicates = Vec::new();
        if collated("NOCASE") {
            duplicates.extend(beyond_ascii(source, connection, table, &key, task)?);
        }
        let is_citext = |column: usize| {
            let becomes = candidates[column].field.as_ref().map(|field| &field.postgres_type);
            becomes == Some(&PostgresType::Citext)
        };
        if nocase == Some(NocaseRule::Citext) && key.iter().any(|(column, _)| is_citext(*column)) {
            let found = beyond_ascii(source, connection, table, &key, task)?;
            // Its unique key would refuse them after all rows.
            findings.extend(found.map(|it| Finding { severity: Severity::Blocker, ..it }));
        }
        let ignores_case = |column: usize| {
            table.columns[column].collation.as_deref() == Some("NOCASE") && is_text(column)
        };
        if key.iter().any(|(column, collation)| collation == "BINARY" && ignores_case(*column)) {
            duplicates.extend(without_case(source, connection, table, &key)?);
        }
        let columns: Vec<usize> = key.iter().map(|(column, _)| *column).collect();
        let free = if duplicates.is_empty() { columns.as_slice() } else { &[] };
        // Existing tables have their types.
        let or_citext = match nocase {
            Some(_) => citext::proposal(schema, table, free),
            None => String::new(),
        };
        let pairs = [("NOCASE", "'a' and 'A'", or_citext.as_str()), ("RTRIM", "'a' and 'a '", "")];
        for (name, both, or) in pairs {
            let is_made = nocase == Some(NocaseRule::Index) && is_only_nocase(&key);
            if collated(name) && !is_made {
                findings.push(weaker(table, &key, name, both, or));
            }
        }
        findings.extend(duplicates);
        let known = ["BINARY", "NOCASE", "RTRIM"];
        let foreign: BTreeSet<&str> = key
            .iter()
            .map(|(_, collation)| collation.as_str())
            .filter(|collation| !known.contains(collation))
            .collect();
        findings.extend(foreign.into_iter().map(|collation| unknown(table, &key, collation)));
    }
    Ok(findings)
}

fn names(table: &SourceTable, key: &CollatedKey) -> String {
    table.names(key.iter().map(|(column, _)| *column))
}

/// PostgreSQL's key refuses less than SQLite's.
fn weaker(
    table: &SourceTable,
    key: &CollatedKey,
    collation: &str,
    both: &str,
    or: &str,
) -> Finding {
    let message = format!(
        "the unique key ({}) compares by {collation}; PostgreSQL's compares exactly and would take \
         {both}",
        names(table, key)
    );
    let fix = format!("add the proposed index{or}");
    let finding = Finding::warning("weaker_uniqueness", &table.name, message, fix);
    finding.proposing(proposed::collated_index(table, key, true, None)).losing(Lost::UniqueKey)
}

/// A collation that only the file's application registers.
fn unknown(table: &SourceTable, key: &CollatedKey, collation: &str) -> Finding {
    let message = format!(
        "the unique key ({}) compares by {collation}, a collation that only the file's application \
         knows; PostgreSQL's compares exactly and may take what SQLite refused",
        names(table, key)
    );
    let fix = "add a unique index over an expression that compares alike, as on lower(...)";
    Finding::warning("unknown_collation", &table.name, message, fix).losing(Lost::UniqueKey)
}

/// Texts that NOCASE keeps apart, since it knows only the case of ASCII letters.
fn beyond_ascii(
    source: &SourceFile,
    connection: &Connection,
    table: &SourceTable,
    key: &CollatedKey,
    task: Task<'_>,
) -> Result<Option<Finding>, Error> {
    let columns: Vec<usize> = key.iter().map(|(column, _)| *column).collect();
    let (mut seen, mut refused) = (HashSet::new(), RefusedValues::default());
    source.each_row(connection, table, &columns, None, task.uncounted(), |row| {
        let (mut folded, mut is_beyond) = (String::new(), false);
        for place in 1..=columns.len() {
            match row.get_ref(place).map_err(|error| source.explain(error))? {
                ValueRef::Null => return Ok(()),
                ValueRef::Text(text) => {
                    is_beyond |= !text.is_ascii();
                    folded.push_str(&String::from_utf8_lossy(text).to_lowercase());
                }
                other => folded.push_str(&ShownValue(other).to_string()),
            }
            folded.push('\0');
        }
        // Texts of ASCII alone are different already by SQLite's own key.
        if is_beyond && !seen.insert(xxh3_128(folded.as_bytes())) {
            let value =
                row.get_ref(1).map(ShownValue).map_or_else(|_| String::new(), |it| it.to_string());
            refused.add(|| Example { row: table.row_name(row, &columns), value });
        }
        Ok(())
    })?;
    let message = |count: u64| {
        format!(
            "{} row{} of the unique key ({}) differ{} from others only in the case of letters \
             beyond ASCII: citext or lower(...) in the database's own collation would refuse {}",
            thousands(count),
            plural(count),
            names(table, key),
            if count == 1 { "s" } else { "" },
            if count == 1 { "it" } else { "them" }
        )
    };
    Ok(finding(table, refused, message))
}

/// Texts that only the exact key of a NOCASE column keeps apart.
fn without_case(
    source: &SourceFile,
    connection: &Connection,
    table: &SourceTable,
    key: &CollatedKey,
) -> Result<Option<Finding>, Error> {
    let explain = |error| source.explain(error);
    let columns: Vec<String> =
        key.iter().map(|(column, _)| quoted(&table.columns[*column].target_name)).collect();
    let complete: Vec<String> =
        columns.iter().map(|column| format!("{column} IS NOT NULL")).collect();
    let folded: Vec<String> =
        columns.iter().map(|column| format!("{column} COLLATE NOCASE")).collect();
    let groups = format!(
        "SELECT {} AS value, count(*) AS n FROM main.{} WHERE {} GROUP BY {} HAVING count(*) > 1",
        columns[0],
        quoted(&table.target_name),
        complete.join(" AND "),
        folded.join(", ")
    );
    let sql = format!("SELECT value, n, sum(n - 1) OVER () FROM ({groups}) LIMIT {SHOWN}");
    let mut statement = connection.prepare(&sql).map_err(explain)?;
    let mut rows = statement.query([]).map_err(explain)?;
    let mut refused = RefusedValues::default();
    while let Some(row) = rows.next().map_err(explain)? {
        refused.count = row.get::<_, i64>(2).map_err(explain)?.unsigned_abs();
        let value = ShownValue(row.get_ref(0).map_err(explain)?).to_string();
        let times: i64 = row.get(1).map_err(explain)?;
        refused.examples.push(Example { row: format!("{times} times"), value });
    }
    let message = |count: u64| {
        format!(
            "{} row{} of the unique key ({}) equal{} others without regard to case: the key \
             compares exactly and takes them, as PostgreSQL's will; citext would refuse them",
            thousands(count),
            plural(count),
            names(table, key),
            if count == 1 { "s" } else { "" },
        )
    };
    Ok(finding(table, refused, message))
}

fn finding(
    table: &SourceTable,
    refused: RefusedValues,
    message: impl Fn(u64) -> String,
) -> Option<Finding> {
    if refused.count == 0 {
        return None;
    }
    let fix = "keep the column text, or repair them first";
    let finding =
        Finding::warning("duplicates_under_collation", &table.name, message(refused.count), fix);
    Some(finding.counted(refused.count, refused.examples))
}
