//! Scan of a table: every value is counted and tried against the type of its column, every row
//! against the CHECKs of its table.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::structure::MOST_COLUMNS;
use crate::display::ShownValue;
use crate::finding::{Example, RefusedValues};
use crate::mapping::Candidate;
use crate::source::{SourceFile, SourceTable};
use crate::value::{NoOutput, PostgresType, Profile, TargetField, encode};
use crate::{Error, Task};

#[derive(Default)]
pub struct Scan {
    pub profiles: Vec<Profile>,
    /// Rows that violate a CHECK, by its place in the table. SQLite does not look at rows that were
    /// there before it, nor at any under `PRAGMA ignore_check_constraints`.
    pub violations: Vec<(usize, RefusedValues)>,
    /// CHECKs that cannot be computed outside their table or for some row, with the reason.
    pub untested: Vec<(usize, String)>,
}

/// Reads `table` once. If one of its CHECKs cannot be computed for some row, reads it again without
/// them and then for each of them alone.
pub fn scan(
    source: &SourceFile,
    connection: &Connection,
    table: &SourceTable,
    candidates: &[Candidate],
    task: Task<'_>,
) -> Result<Scan, Error> {
    let (checks, untested) = checks(connection, table);
    let scan = match read(source, connection, table, candidates, &checks, task) {
        Err(Error::Sqlite { .. }) if !checks.is_empty() => {
            let mut scan = read(source, connection, table, candidates, &[], task)?;
            for (place, condition) in &checks {
                match violators(source, connection, table, condition, task) {
                    Ok(refused) => scan.violations.push((*place, refused)),
                    Err(Error::Sqlite { source: error, .. }) => {
                        scan.untested.push((*place, reason(error)));
                    }
                    Err(error) => return Err(error),
                }
            }
            scan
        }
        done => done?,
    };
    let violations = scan.violations.into_iter().filter(|(_, refused)| refused.count > 0).collect();
    let untested = untested.into_iter().chain(scan.untested).collect();
    Ok(Scan { profiles: scan.profiles, violations, untested })
}

fn read(
    source: &SourceFile,
    connection: &Connection,
    table: &SourceTable,
    candidates: &[Candidate],
    checks: &[(usize, String)],
    task: Task<'_>,
) -> Result<Scan, Error> {
    let columns = columns_read(table);
    let mut profiles = vec![Profile::default(); table.columns.len()];
    let text = TargetField {
        postgres_type: PostgresType::Text,
        reading: None,
        not_null: false,
        may_convert: false,
    };
    let mut refused = vec![RefusedValues::default(); checks.len()];
    let conditions: Vec<String> = checks.iter().map(|(_, condition)| condition.clone()).collect();
    source.each_row_of(connection, &table.select_also(&columns, &conditions), task, |row| {
        let read = profiles.iter_mut().take(columns.len()).enumerate();
        for ((position, profile), candidate) in read.zip(candidates) {
            let value = row.get_ref(position + 1).map_err(|error| source.explain(error))?;
            profile.add(value);
            let example = || Example {
                row: table.row_name(row, &columns),
                value: ShownValue(value).to_string(),
            };
            if let ValueRef::Real(number) = value
                && number.is_infinite()
            {
                profile.infinities.add(example);
            }
            if let ValueRef::Blob(blob) = value
                && !candidate.is_for_bytes()
            {
                profile.look_into(blob);
            }
            match candidate.field.as_ref().map(|field| encode(field, value, &mut NoOutput)) {
                Some(Err(unfit)) => profile.unfits.entry(unfit.kind()).or_default().add(|| {
                    let Example { row, value } = example();
                    Example { row, value: value + &unfit.place() }
                }),
                Some(Ok(conversions)) => {
                    for kind in conversions.kinds() {
                        profile.conversions.entry(kind).or_default().add(example);
                    }
                }
                None => {}
            }
            let is_text = |field: &TargetField| field.postgres_type.is_text();
            if !candidate.field.as_ref().is_some_and(is_text)
                && let ValueRef::Text(_) | ValueRef::Real(_) = value
            {
                // Only what text itself refuses: NUL, broken UTF-8, infinity.
                if let Err(unfit) = encode(&text, value, &mut NoOutput) {
                    profile.text_unfits.entry(unfit.kind()).or_default().add(example);
                }
            }
        }
        for (place, refused) in refused.iter_mut().enumerate() {
            if is_violated(row, columns.len() + 1 + place) {
                let row = || Example { row: table.row_name(row, &columns), value: String::new() };
                refused.add(row);
            }
        }
        Ok(())
    })?;
    let violations = checks.iter().map(|(place, _)| *place).zip(refused).collect();
    Ok(Scan { profiles, violations, untested: Vec::new() })
}

fn violators(
    source: &SourceFile,
    connection: &Connection,
    table: &SourceTable,
    condition: &str,
    task: Task<'_>,
) -> Result<RefusedValues, Error> {
    let columns = columns_read(table);
    let mut refused = RefusedValues::default();
    let sql = table.select_also(&columns, &[condition.to_owned()]);
    source.each_row_of(connection, &sql, task.uncounted(), |row| {
        if is_violated(row, columns.len() + 1) {
            let row = || Example { row: table.row_name(row, &columns), value: String::new() };
            refused.add(row);
        }
        Ok(())
    })?;
    Ok(refused)
}

/// All columns, of tables that PostgreSQL can have: SQLite returns no more than 2,000 at once, a row's
/// address among them.
fn columns_read(table: &SourceTable) -> Vec<usize> {
    (0..table.columns.len().min(MOST_COLUMNS)).collect()
}

/// CHECKs by their place in the table, each with its condition or with the reason why it has none.
type Checks = Vec<(usize, String)>;

/// The conditions for rows that violate a CHECK, and the CHECKs that cannot be computed outside
/// their table.
fn checks(connection: &Connection, table: &SourceTable) -> (Checks, Checks) {
    let (mut checks, mut untested) = (Vec::new(), Vec::new());
    for (place, check) in table.checks.iter().enumerate() {
        let condition = format!("NOT ({}\n)", check.expression);
        let sql = table.select_also(&[], std::slice::from_ref(&condition));
        let prepared = connection.prepare(&sql);
        match prepared.map(drop) {
            Ok(()) => checks.push((place, condition)),
            Err(error) => untested.push((place, reason(error))),
        }
    }
    (checks, untested)
}

/// SQLite's message without the generated statement.
fn reason(error: rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        other => other.to_string(),
    }
}

fn is_violated(row: &Row<'_>, place: usize) -> bool {
    matches!(row.get_ref(place), Ok(ValueRef::Integer(1)))
}
