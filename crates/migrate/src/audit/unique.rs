//! Unique keys over values that SQLite keeps apart and a PostgreSQL type makes equal: a UUID in
//! both letter cases, the number 1 and the text `'1'`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use indicatif::ProgressBar;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use xxhash_rust::xxh3::xxh3_128;

use super::TableReport;
use super::text_form::{WrittenForm, may_vary};
use crate::ddl::index_predicate;
use crate::display::{ShownValue, thousands};
use crate::finding::{Example, Finding, RefusedValues, Severity};
use crate::source::{SourceFile, SourceSchema, SourceTable};
use crate::value::{PostgresType, TargetField, comparable};
use crate::{Error, TaskControl};

/// A unique key that is carried over.
struct UniqueKey<'a> {
    table: &'a SourceTable,
    fields: &'a [TargetField],
    columns: Vec<usize>,
    /// Its condition, as SQLite writes it.
    predicate: Option<&'a str>,
}

/// The rows that PostgreSQL's unique keys would refuse although SQLite's did not.
pub fn findings(
    source: &SourceFile,
    schema: &SourceSchema,
    fields: &[Vec<TargetField>],
    reports: &[TableReport],
    control: TaskControl<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for (table, (fields, report)) in schema.tables.iter().zip(fields.iter().zip(reports)) {
        let profile = |column: usize| &report.columns[column].profile;
        for key in keys(table, fields) {
            let varies = |column: &usize| may_vary(&fields[*column], profile(*column));
            let varying: Vec<usize> =
                key.columns.iter().copied().filter(|column| varies(column)).collect();
            if varying.is_empty() {
                continue;
            }
            let refused = key.made_equal(source, control)?;
            if refused.count > 0 {
                // As text, different texts stay different.
                let cure = match varying[..] {
                    [column] if profile(column).only_texts() => Some(column),
                    _ => None,
                };
                findings.push(key.finding(refused, cure));
            }
        }
    }
    Ok(findings)
}

/// `true` if a unique key would hold equal values after `column` has become `postgres_type`.
pub fn would_collide(
    source: &SourceFile,
    table: &SourceTable,
    fields: &[TargetField],
    column: usize,
    postgres_type: PostgresType,
    control: TaskControl<'_>,
) -> Result<bool, Error> {
    let mut fields = fields.to_vec();
    fields[column].postgres_type = postgres_type;
    for key in keys(table, &fields).iter().filter(|key| key.columns.contains(&column)) {
        if key.made_equal(source, control)?.count > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn keys<'a>(table: &'a SourceTable, fields: &'a [TargetField]) -> Vec<UniqueKey<'a>> {
    let key = |columns: Vec<usize>, predicate: Option<&'a str>| UniqueKey {
        table,
        fields,
        columns,
        predicate,
    };
    let mut keys = vec![key(table.primary_key.clone(), None)];
    for index in table.indexes.iter().filter(|index| index.unique) {
        let Some(columns) = index.columns() else { continue };
        if !index.partial {
            keys.push(key(columns, None));
        } else if index_predicate(index, table, fields).is_some() {
            keys.push(key(columns, index.predicate.as_deref()));
        }
    }
    keys
}

impl UniqueKey<'_> {
    /// Rows with the key of another. Of two such rows at least one has another spelling than the
    /// first row: only keys of those are kept in memory.
    fn made_equal(
        &self,
        source: &SourceFile,
        control: TaskControl<'_>,
    ) -> Result<RefusedValues, Error> {
        // These rows have been counted.
        let hidden = ProgressBar::hidden();
        let control = TaskControl { progress: &hidden, interrupted: control.interrupted };
        let condition = format!("({}\n) IS TRUE", self.predicate.unwrap_or("true"));
        let sql = self.table.select_also(&self.columns, &[condition]);
        let mut ways: Vec<WrittenForm> = Vec::new();
        let mut kept: HashMap<u128, i64> = HashMap::new();
        let mut refused = RefusedValues::default();
        for keeps in [true, false] {
            if !keeps && kept.is_empty() {
                break;
            }
            let mut place = 0;
            let look = |row: &Row<'_>| -> Result<(), Error> {
                place += 1;
                let read = self.read(row, &mut ways).map_err(|error| source.explain(error))?;
                let Some((hash, _)) = read.filter(|(_, is_other)| *is_other == keeps) else {
                    return Ok(());
                };
                let address = self.table.address(row, place);
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
            };
            source.with(|connection| source.each_row_of(connection, &sql, control, look))?;
        }
        Ok(refused)
    }

    /// A hash of the row's key as PostgreSQL compares it, and whether its spelling differs from the
    /// first. `None` if a part is NULL or does not fit, or the row is not in the index.
    fn read(
        &self,
        row: &Row<'_>,
        ways: &mut Vec<WrittenForm>,
    ) -> rusqlite::Result<Option<(u128, bool)>> {
        if row.get_ref(self.columns.len() + 1)? != ValueRef::Integer(1) {
            return Ok(None);
        }
        let (mut bytes, mut values) = (Vec::new(), Vec::new());
        for (place, column) in self.columns.iter().enumerate() {
            let value = row.get_ref(place + 1)?;
            if value == ValueRef::Null
                || comparable(&self.fields[*column], value, &mut bytes).is_err()
            {
                return Ok(None);
            }
            values.push(value);
        }
        if ways.is_empty() {
            ways.extend(values.iter().map(|value| WrittenForm::of(*value)));
        }
        let types = self.columns.iter().map(|column| &self.fields[*column].postgres_type);
        let mut parts = types.zip(values).zip(ways.iter());
        let is_other = parts.any(|((each, value), way)| !way.is_way_of(each, value));
        Ok(Some((xxh3_128(&bytes), is_other)))
    }

    /// Both rows by their names, the first first.
    fn example(&self, row: &Row<'_>, address: i64, other: i64) -> Example {
        let values = (1..=self.columns.len()).filter_map(|place| row.get_ref(place).ok());
        let values: Vec<String> = values.map(|value| ShownValue(value).to_string()).collect();
        let name = |address: i64| self.table.address_name(address);
        let both = format!("{} and {}", name(address.min(other)), name(address.max(other)));
        Example { row: both, value: values.join(", ") }
    }

    /// `cure`: the column that would keep all rows apart as text.
    fn finding(&self, refused: RefusedValues, cure: Option<usize>) -> Finding {
        let name = |column: usize| self.table.columns[column].name.as_str();
        let becomes =
            |column: &usize| format!("{} as {}", name(*column), self.fields[*column].postgres_type);
        let columns: Vec<String> = self.columns.iter().map(becomes).collect();
        let message = format!(
            "{} {} the key of another, which SQLite keeps apart: PostgreSQL's unique key is ({})",
            thousands(refused.count),
            if refused.count == 1 { "row has" } else { "rows have" },
            columns.join(", ")
        );
        let rule = cure.map(|column| format!("{}.{}=text", self.table.name, name(column)));
        let fix = match &rule {
            Some(rule) => format!("repair them, or keep the texts: --map '{rule}'"),
            None => "repair them".to_owned(),
        };
        let (severity, kind) = (Severity::Blocker, "unique_violation");
        let finding = Finding::on_table(severity, kind, &self.table.name, message, fix);
        finding.counted(refused.count, refused.examples).cured_by(rule).about_rows()
    }
}
