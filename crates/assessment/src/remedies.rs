//! Remedies for contents of a file that PostgreSQL refuses, so that the copies are comparable: a
//! wider or right type where one holds every value. Otherwise the refused rows, and tables that it
//! cannot have at all, are left out on both sides.

use std::collections::BTreeMap;
use std::path::Path;

use migrate::{
    AuditReport, MapRules, MigrateOptions, Rowid, Selection, Severity, SourceSchema, SourceTable,
    TypeChoice, TypeRule,
};
use rusqlite::config::DbConfig;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A table that lost more of its rows than this is not measured.
const MOST_REFUSED: f64 = 0.01;

/// Changes to the copies so that both engines hold the same.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Remedies {
    /// Rules of `--map`, a type each that holds every value of its column.
    pub mappings: Vec<String>,
    /// Tables that PostgreSQL cannot have; they are not moved.
    pub tables_left_out: Vec<String>,
    /// Whether rows remain that it refuses.
    #[serde(skip)]
    pub refuses_rows: bool,
    /// How many rows of a table are left out on both sides.
    pub refused_rows: BTreeMap<String, u64>,
    /// Tables of which too many rows were refused for a measurement.
    pub tables_not_measured: Vec<String>,
}

/// The types of copies, which are made without a person: values have a say in them.
pub fn types() -> TypeChoice {
    TypeChoice { rule: TypeRule::ByValues, ..TypeChoice::default() }
}

impl Remedies {
    /// The changes that the findings of an audit ask for.
    pub fn of(audit: &AuditReport) -> Self {
        let mut remedies = Self::default();
        let blockers = audit.findings.iter().filter(|each| each.severity == Severity::Blocker);
        let left_behind = audit.not_carried_over.rows.keys().cloned();
        remedies.tables_left_out.extend(left_behind);
        let mut mapped: Vec<(&str, Option<&str>)> = Vec::new();
        for finding in blockers {
            let place = (finding.table.as_str(), finding.column.as_deref());
            match &finding.mapping {
                // One type per column: it was chosen to hold all values, whatever was wrong.
                Some(rule) if !mapped.contains(&place) => {
                    mapped.push(place);
                    remedies.mappings.push(rule.clone());
                }
                Some(_) => {}
                None if finding.is_about_rows => remedies.refuses_rows = true,
                None if !remedies.tables_left_out.contains(&finding.table) => {
                    remedies.tables_left_out.push(finding.table.clone());
                }
                None => {}
            }
        }
        remedies
    }

    /// How `migrate` carries them out.
    pub fn options(&self) -> Result<MigrateOptions> {
        let rules = self.mappings.iter().map(|rule| Ok(rule.parse()?)).collect::<Result<_>>()?;
        Ok(MigrateOptions {
            rules: MapRules(rules),
            types: types(),
            selection: Selection { excluded: self.tables_left_out.clone(), ..Selection::default() },
            ..MigrateOptions::default()
        })
    }

    /// Whether statements on this table may be measured.
    pub fn may_be_measured(&self, table: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name.eq_ignore_ascii_case(table));
        !named(&self.tables_left_out) && !named(&self.tables_not_measured)
    }

    /// Notes what was refused, by table with all its rows.
    pub fn note_refused(&mut self, refused: BTreeMap<String, u64>, audit: &AuditReport) {
        for (table, count) in &refused {
            let rows = audit.tables.iter().find(|each| each.name == *table);
            let rows = rows.map_or(0, |each| each.rows).max(1);
            if *count as f64 > rows as f64 * MOST_REFUSED {
                self.tables_not_measured.push(table.clone());
            }
        }
        self.refused_rows = refused;
    }
}

/// A line of a reject file, as far as needed here.
#[derive(Deserialize)]
struct RejectedRow {
    table: String,
    row: String,
    values: serde_json::Map<String, serde_json::Value>,
}

impl RejectedRow {
    fn error(&self, problem: &str) -> Error {
        Error::Refused(format!("{}, {}: {problem}", self.table, self.row))
    }
}

/// Deletes the rows that a reject file names from the SQLite copy; how many, by table.
pub fn delete_refused(
    copy: &Path,
    reject_file: &Path,
    schema: &SourceSchema,
) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    let connection = connect::sqlite::open_existing(copy)?;
    // The rows go, and nothing else happens: no trigger, no cascade.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.execute_batch("PRAGMA foreign_keys = off; PRAGMA synchronous = off; BEGIN")?;
    let text = std::fs::read_to_string(reject_file).map_err(Error::io("read", reject_file))?;
    for line in text.lines() {
        let refused: RejectedRow = serde_json::from_str(line)
            .map_err(|error| Error::Refused(format!("{}: {error}", reject_file.display())))?;
        let table =
            schema.table(&refused.table).ok_or_else(|| refused.error("an unknown table"))?;
        let deleted = delete(&connection, table, &refused)?;
        if deleted != 1 {
            return Err(refused.error("not found in the copy"));
        }
        *counts.entry(refused.table).or_insert(0) += 1;
    }
    connection.execute_batch("COMMIT")?;
    Ok(counts)
}

fn delete(
    connection: &rusqlite::Connection,
    table: &SourceTable,
    refused: &RejectedRow,
) -> Result<usize> {
    let quoted = connect::sqlite::quote_identifier;
    let name = quoted(&table.name);
    let column = |place: usize| table.columns.get(place).map(|column| column.name.as_str());
    let rowid = match &table.rowid {
        Rowid::Alias(alias) => column(*alias).map(quoted),
        Rowid::Hidden(rowid) => Some((*rowid).to_owned()),
        Rowid::Unreadable | Rowid::None => None,
    };
    if let (Some(rowid), Some(number)) = (rowid, refused.row.strip_prefix("rowid ")) {
        let sql = format!("DELETE FROM {name} WHERE {rowid} = ?1");
        let number: i64 = number.parse().map_err(|_| refused.error("not a rowid"))?;
        return Ok(connection.prepare_cached(&sql)?.execute([number])?);
    }
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    for column in table.primary_key.iter().filter_map(|place| column(*place)) {
        let value = refused.values.get(column).and_then(plain);
        values.push(value.ok_or_else(|| refused.error("a key that cannot be told apart"))?);
        conditions.push(format!("{} IS ?{}", quoted(column), values.len()));
    }
    if conditions.is_empty() {
        let remedy = "a row without rowid or key cannot be left out; repair it first \
                      (crossover audit)";
        return Err(refused.error(remedy));
    }
    let sql = format!("DELETE FROM {name} WHERE {}", conditions.join(" AND "));
    Ok(connection.prepare_cached(&sql)?.execute(rusqlite::params_from_iter(values))?)
}

/// A value of a reject file that is plain text or a number.
fn plain(value: &serde_json::Value) -> Option<rusqlite::types::Value> {
    match value {
        serde_json::Value::String(text) => Some(text.clone().into()),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(integer) => Some(integer.into()),
            None => number.as_f64().map(Into::into),
        },
        _ => None,
    }
}
