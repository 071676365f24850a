//! Unique keys over values that SQLite keeps apart and a PostgreSQL type makes equal: a UUID in
//! both letter cases, the number 1 and the text `'1'`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use notation::thousands;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use xxhash_rust::xxh3::xxh3_128;

use super::TableReport;
use super::made_index::{MadeIndex, made_indexes};
use super::text_form::{ValueSpelling, may_vary};
use crate::ddl::PlannedTable;
use crate::display::{ShownValue, flag, list};
use crate::finding::{Example, Finding, RefusedValues};
use crate::source::SourceFile;
use crate::value::{PostgresType, comparable};
use crate::{Error, Task};

/// The rows that PostgreSQL's unique keys would refuse although SQLite's did not.
pub fn findings(
    source: &SourceFile,
    planned: &[PlannedTable<'_>],
    reports: &[TableReport],
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for (planned, report) in planned.iter().zip(reports) {
        let profile = |column: usize| &report.columns[column].profile;
        for key in keys(*planned) {
            let varies = |column: &usize| may_vary(&planned.fields[*column], profile(*column));
            let varying: Vec<usize> =
                key.columns.iter().copied().filter(|column| varies(column)).collect();
            if varying.is_empty() {
                continue;
            }
            let refused = key.made_equal(source, task)?;
            if refused.count > 0 {
                // As text, different texts stay different.
                let remedy = match varying[..] {
                    [column] if profile(column).only_texts() => Some(column),
                    _ => None,
                };
                findings.push(key.finding(refused, remedy));
            }
        }
    }
    Ok(findings)
}

/// `true` if a unique key would hold equal values after `column` has become `postgres_type`.
pub fn would_collide(
    source: &SourceFile,
    planned: PlannedTable<'_>,
    column: usize,
    postgres_type: PostgresType,
    task: Task<'_>,
) -> Result<bool, Error> {
    let mut fields = planned.fields.to_vec();
    fields[column].postgres_type = postgres_type;
    for key in keys(PlannedTable { fields: &fields, ..planned })
        .filter(|key| key.columns.contains(&column))
    {
        if key.made_equal(source, task)?.count > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn keys(planned: PlannedTable<'_>) -> impl Iterator<Item = MadeIndex<'_>> {
    made_indexes(planned).filter(|made| made.index.is_none_or(|index| index.unique))
}

impl MadeIndex<'_> {
    /// Rows with the key of another. Of two such rows at least one has another spelling than the
    /// first row: only keys of those are kept in memory.
    fn made_equal(&self, source: &SourceFile, task: Task<'_>) -> Result<RefusedValues, Error> {
        let mut spellings: Vec<ValueSpelling> = Vec::new();
        let mut kept: HashMap<u128, i64> = HashMap::new();
        let mut refused = RefusedValues::default();
        for keeps in [true, false] {
            if !keeps && kept.is_empty() {
                break;
            }
            self.each_entry(source, task, |row, address| {
                let read = self.read(row, &mut spellings).map_err(|error| source.explain(error))?;
                let Some((hash, _)) = read.filter(|(_, is_other)| *is_other == keeps) else {
                    return Ok(());
                };
                match kept.entry(hash) {
                    Entry::Occupied(entry) => {
                        refused.add(|| self.example(row, address, *entry.get()));
                    }
                    Entry::Vacant(entry) if keeps => {
                        entry.insert(address);
                    }
                    Entry::Vacant(_) => {}
                }
                Ok(())
            })?;
        }
        Ok(refused)
    }

    /// A hash of the row's key as PostgreSQL compares it, and whether its spelling differs from the
    /// first. `None` if a part is NULL or does not fit.
    fn read(
        &self,
        row: &Row<'_>,
        spellings: &mut Vec<ValueSpelling>,
    ) -> rusqlite::Result<Option<(u128, bool)>> {
        let (mut bytes, mut values) = (Vec::new(), Vec::new());
        for (place, field) in self.types().enumerate() {
            let value = row.get_ref(place + 1)?;
            if value == ValueRef::Null || comparable(field, value, &mut bytes).is_err() {
                return Ok(None);
            }
            values.push(value);
        }
        if spellings.is_empty() {
            spellings.extend(values.iter().map(|value| ValueSpelling::of(*value)));
        }
        let types = self.types().map(|field| &field.postgres_type);
        let mut parts = types.zip(values).zip(spellings.iter());
        let is_other = parts.any(|((each, value), spelling)| !spelling.is_spelling_of(each, value));
        Ok(Some((xxh3_128(&bytes), is_other)))
    }

    /// Both rows by their names, the first first.
    fn example(&self, row: &Row<'_>, address: i64, other: i64) -> Example {
        let values = (1..=self.types().count()).filter_map(|place| row.get_ref(place).ok());
        let values = list(values.map(|value| ShownValue(value).to_string()));
        let name = |address: i64| self.table.address_name(address);
        let both = format!("{} and {}", name(address.min(other)), name(address.max(other)));
        Example { row: both, value: values }
    }

    /// `remedy`: the column that would keep all rows apart as text.
    fn finding(&self, refused: RefusedValues, remedy: Option<usize>) -> Finding {
        let name = |column: usize| self.table.columns[column].name.as_str();
        let becomes =
            |column: &usize| format!("{} as {}", name(*column), self.fields[*column].postgres_type);
        let of_columns = self.columns.iter().map(becomes);
        let written = self.expressions.iter().map(|(expression, _)| expression.clone());
        let columns = list(of_columns.chain(written));
        let message = format!(
            "{} {} the key of another, which SQLite keeps apart: PostgreSQL's unique key is ({})",
            thousands(refused.count),
            if refused.count == 1 { "row has" } else { "rows have" },
            columns
        );
        let rule = remedy.map(|column| format!("{}.{}=text", self.table.name, name(column)));
        let fix = match &rule {
            Some(rule) => format!("repair them, or keep the texts: {}", flag("--map", rule)),
            None => "repair them".to_owned(),
        };
        let finding = Finding::blocker("unique_violation", &self.table.name, message, fix);
        finding.counted(refused.count, refused.examples).with_rule(rule).about_rows()
    }
}
