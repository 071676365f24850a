//! Refusal of a value that its target's type cannot hold, with the remedy.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::load::TableLoad;
use super::matching::MatchedColumn;
use crate::Error;
use crate::display::{ShownValue, flag};
use crate::error::BadRow;
use crate::source::{SourceFile, quoted};
use crate::value::{NoOutput, TargetField, Unfit, ValueReading, encode};

/// The refusal of one value of a row with these columns of the source.
pub fn of_value(
    load: &TableLoad,
    target: &MatchedColumn,
    row: &Row<'_>,
    columns: &[usize],
    value: ValueRef<'_>,
    unfit: Unfit,
) -> Error {
    let name = &load.table.columns[target.source].name;
    let own = &target.field.postgres_type;
    let fix = match unfit {
        Unfit::TooLong { characters, .. } => format!(
            "widen it in the target: ALTER TABLE {} ALTER COLUMN {} TYPE varchar({})",
            load.matched.relation,
            quoted(&target.name),
            characters.next_power_of_two()
        ),
        Unfit::Unreadable(_) if let Some(reading) = duration_reading(value, &target.field) => {
            let rule = format!("{}.{name} using {}", load.table.name, reading.name());
            format!("if it is a duration of {}: {}", reading.unit(), flag("--map", &rule))
        }
        _ => "repair the value, or alter the column in the target: crossover audit --target \
              lists every such value and the type that fits"
            .to_owned(),
    };
    Error::Row(Box::new(BadRow {
        table: load.table.name.clone(),
        row: load.table.row_name(row, columns),
        column: name.clone(),
        value: ShownValue(value).to_string(),
        reason: unfit.explain(&own.to_string()),
        fix,
    }))
}

/// The refusal of a number with the rule that reads it in this unit, if all of its column are probably
/// moments in it.
pub fn with_unit(error: Error, load: &TableLoad, source: &SourceFile, unit: ValueReading) -> Error {
    let Error::Row(mut bad) = error else { return error };
    let mut written = load.matched.written();
    let target = written.find(|each| load.table.columns[each.source].name == bad.column);
    if let Some(target) = target
        && is_only_unit(load, source, &bad.column, unit).unwrap_or(false)
    {
        let (own, reading) = (&target.field.postgres_type, unit.name());
        let rule = format!("{}.{}={own} using {reading}", bad.table, bad.column);
        bad.fix = format!("probably {}: {}", unit.unit(), flag("--map", &rule));
    }
    Error::Row(bad)
}

fn is_only_unit(
    load: &TableLoad,
    source: &SourceFile,
    column: &str,
    unit: ValueReading,
) -> Result<bool, Error> {
    let Some((first, end)) = unit.likely_numbers() else { return Ok(false) };
    let (table, column) = (quoted(&load.table.name), quoted(column));
    let sql = format!(
        "SELECT NOT EXISTS (SELECT 1 FROM main.{table} NOT INDEXED WHERE typeof({column}) IN \
         ('integer', 'real') AND NOT ({column} >= {first} AND {column} < {end}))"
    );
    source.with(|connection| {
        connection.query_row(&sql, [], |row| row.get(0)).map_err(|error| source.explain(error))
    })
}

/// The unit of a number in a column of dates or times that the column then takes.
pub fn likely_unit(value: ValueRef<'_>, field: &TargetField) -> Option<ValueReading> {
    let number = match value {
        ValueRef::Integer(number) => number as f64,
        ValueRef::Real(number) => number,
        _ => return None,
    };
    ValueReading::likely(number).filter(|unit| fits_with(*unit, value, field))
}

fn fits_with(reading: ValueReading, value: ValueRef<'_>, field: &TargetField) -> bool {
    let read = TargetField { reading: Some(reading), ..field.clone() };
    reading.suits(&field.postgres_type) && encode(&read, value, &mut NoOutput).is_ok()
}

/// The reading of a duration as Django or SQLAlchemy stores it.
fn duration_reading(value: ValueRef<'_>, field: &TargetField) -> Option<ValueReading> {
    let readings = [ValueReading::Microseconds, ValueReading::Since1970];
    readings.into_iter().find(|reading| fits_with(*reading, value, field))
}
