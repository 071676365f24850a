//! One pass over a table: every value is counted and tried against the type its column would get,
//! every row against the CHECKs of its table.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::profile::{Example, Profile, Refused};
use crate::copy::{Field, encode};
use crate::inspect::{Shown, Source, Table};
use crate::mapping::{Candidate, PostgresType};
use crate::{Error, Watch};

/// What one pass over a table has found.
#[derive(Default)]
pub struct Scan {
    /// The evidence on each column, in order.
    pub profiles: Vec<Profile>,
    /// Rows that violate a CHECK, by its place in the table. SQLite does not look at rows that were
    /// there before it, nor at any under `PRAGMA ignore_check_constraints`.
    pub violations: Vec<(usize, Refused)>,
}

/// Reads `table` once; twice if one of its CHECKs cannot be computed for some row, which is then
/// left to PostgreSQL.
pub fn scan(
    source: &Source,
    connection: &Connection,
    table: &Table,
    candidates: &[Candidate],
    watch: Watch<'_>,
) -> Result<Scan, Error> {
    let checks = checks(connection, table);
    let has_checks = !checks.is_empty();
    match read(source, connection, table, candidates, checks, watch) {
        Err(Error::Sqlite { .. }) if has_checks => {
            read(source, connection, table, candidates, Vec::new(), watch)
        }
        done => done,
    }
}

fn read(
    source: &Source,
    connection: &Connection,
    table: &Table,
    candidates: &[Candidate],
    checks: Vec<(usize, String)>,
    watch: Watch<'_>,
) -> Result<Scan, Error> {
    let columns: Vec<usize> = (0..table.columns.len()).collect();
    let mut profiles = vec![Profile::default(); columns.len()];
    let text = Field { postgres_type: PostgresType::Text, reading: None, not_null: false };
    let mut refused = vec![Refused::default(); checks.len()];
    let conditions: Vec<String> = checks.iter().map(|(_, condition)| condition.clone()).collect();
    let mut scratch = Vec::new();
    source.each_row_of(connection, &table.select_with(&conditions), watch, |row| {
        for ((position, profile), candidate) in profiles.iter_mut().enumerate().zip(candidates) {
            let value = row.get_ref(position + 1).map_err(|error| source.explain(error))?;
            profile.add(value);
            let example =
                || Example { row: table.row_name(row, &columns), value: Shown(value).to_string() };
            if let Some(field) = &candidate.field
                && let Err(misfit) = encode(field, value, &mut scratch)
            {
                profile.misfits.entry(misfit.kind()).or_default().add(example);
            }
            if candidate.may_fall_back
                && let ValueRef::Text(_) | ValueRef::Real(_) = value
            {
                // Only what text itself refuses: NUL, broken UTF-8, infinity.
                scratch.clear();
                if let Err(misfit) = encode(&text, value, &mut scratch) {
                    profile.text_misfits.entry(misfit.kind()).or_default().add(example);
                }
            }
            scratch.clear();
        }
        for (place, refused) in refused.iter_mut().enumerate() {
            if is_violated(row, columns.len() + 1 + place) {
                let row = || Example { row: table.row_name(row, &columns), value: String::new() };
                refused.add(row);
            }
        }
        Ok(())
    })?;
    let violations = checks.iter().map(|(place, _)| *place).zip(refused);
    let violations = violations.filter(|(_, refused)| refused.count > 0).collect();
    Ok(Scan { profiles, violations })
}

/// The CHECKs that can be computed apart from their table, with their places; others are left to
/// their owner.
fn checks(connection: &Connection, table: &Table) -> Vec<(usize, String)> {
    let conditions = table.checks.iter().map(|check| format!("NOT ({}\n)", check.expression));
    let runs = |condition: &String| {
        connection.prepare(&table.select_with(std::slice::from_ref(condition))).is_ok()
    };
    conditions.enumerate().filter(|(_, condition)| runs(condition)).collect()
}

fn is_violated(row: &Row<'_>, place: usize) -> bool {
    matches!(row.get_ref(place), Ok(ValueRef::Integer(1)))
}
