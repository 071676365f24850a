//! The proof of the totals: every one is summed from the facts once more, by statements that
//! share nothing with what made them, and compared.

use std::collections::HashMap;

use serde::Serialize;

use super::calendar::Grain;
use super::connection::Connection;
use super::definition::{Definition, Dimension, TABLES, grain_number};
use super::{Error, Work, days_with_traffic, statements};
use crate::query::{Day, Period};
use crate::schema::Table;

/// What the proof found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Totals compared.
    pub totals: u64,
    /// The first difference of each table and kind of span; none where all is right.
    pub differences: Vec<Difference>,
}

/// A total that is not what the facts add up to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The table.
    pub table: &'static str,
    /// The columns of its key that tell the row, then its sums.
    pub row: String,
}

type Sums = HashMap<Vec<i64>, Vec<i64>>;

pub(super) fn verify(connection: &Connection<'_>, work: Work<'_>) -> Result<Verification, Error> {
    if !connection.has_totals()? {
        return Err(Error::Missing);
    }
    let mut found = Verification::default();
    article_days(connection, work, &mut found)?;
    let period = days_with_traffic(connection)?;
    let spans = [
        (Table::ArticleMonths, Grain::Month),
        (Table::ArticleYears, Grain::Year),
        (Table::CountryQuarters, Grain::Quarter),
    ];
    for (table, grain) in spans {
        let definition = TABLES.iter().find(|definition| definition.table == table);
        if let (Some(definition), Some(period)) = (definition, period) {
            by_span(connection, work, definition, (grain, period), &mut found)?;
        }
    }
    for dimension in Dimension::ALL {
        work.go_on()?;
        by_dimension(connection, work, dimension, &mut found)?;
    }
    Ok(found)
}

fn article_days(
    connection: &Connection<'_>,
    work: Work<'_>,
    found: &mut Verification,
) -> Result<(), Error> {
    work.progress.set_message("proving article_days");
    connection.rows("SELECT count(*) FROM article_days", &[], |row| {
        found.totals += row.first().and_then(|count| u64::try_from(*count).ok()).unwrap_or(0);
    })?;
    let mut differing = None;
    for sql in statements::article_days_differences() {
        connection.rows(&sql, &[], |row| differing = Some(row.to_vec()))?;
    }
    let table = Table::ArticleDays.name();
    found.differences.extend(differing.map(|row| Difference { table, row: format!("{row:?}") }));
    Ok(())
}

fn by_span(
    connection: &Connection<'_>,
    work: Work<'_>,
    definition: &Definition,
    (grain, period): (Grain, Period),
    found: &mut Verification,
) -> Result<(), Error> {
    let table = definition.table.name();
    work.progress.set_message(format!("proving {table}"));
    let count = format!("SELECT count(*) FROM {table}");
    let mut stored = 0;
    connection.rows(&count, &[], |row| stored = row.first().copied().unwrap_or_default())?;
    let mut seen = 0;
    for span in grain.spans(period) {
        work.go_on()?;
        let ends = [span.start().number(), span.end().number()];
        let expected = read(connection, &statements::from_facts(definition), &ends)?;
        let actual = read(connection, &statements::stored(definition), &ends[..1])?;
        seen += actual.len();
        compare(table, &format!("{} ", span.start()), &expected, &actual, found);
    }
    if i64::try_from(seen).ok() != Some(stored) {
        let row = format!("{stored} rows, of which {seen} belong to days with traffic");
        found.differences.push(Difference { table, row });
    }
    Ok(())
}

fn read(connection: &Connection<'_>, sql: &str, parameters: &[i32]) -> Result<Sums, Error> {
    let mut sums = Sums::new();
    connection.rows(sql, parameters, |row| {
        let (key, values) = row.split_at(row.len().saturating_sub(3));
        sums.insert(key.to_vec(), values.to_vec());
    })?;
    Ok(sums)
}

/// Notes the first difference.
fn compare(
    table: &'static str,
    place: &str,
    expected: &Sums,
    actual: &Sums,
    found: &mut Verification,
) {
    found.totals += expected.len() as u64;
    let wrong = expected.iter().find(|(key, sums)| actual.get(*key) != Some(sums));
    let superfluous = || actual.iter().find(|(key, _)| !expected.contains_key(*key));
    if let Some((key, _)) = wrong.or_else(superfluous) {
        let (facts, stored) = (expected.get(key), actual.get(key));
        let row = format!("{place}{key:?}: the facts give {facts:?}, stored is {stored:?}");
        found.differences.push(Difference { table, row });
    }
}

/// A dimension's totals of days, months and years, all from one sum by day.
fn by_dimension(
    connection: &Connection<'_>,
    work: Work<'_>,
    dimension: Dimension,
    found: &mut Verification,
) -> Result<(), Error> {
    work.progress.set_message(format!("proving totals by {dimension:?}"));
    let mut expected = Sums::new();
    connection.rows(&statements::dimension_from_facts(dimension), &[], |row| {
        let &[day, blog, key, ref sums @ ..] = row else { return };
        let key = match dimension {
            Dimension::PublicationYear => start(Grain::Year, key),
            _ => key,
        };
        for grain in [Grain::Day, Grain::Month, Grain::Year] {
            let row = vec![i64::from(grain_number(grain)), start(grain, day), blog, key];
            let total = expected.entry(row).or_insert_with(|| vec![0; sums.len()]);
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
    })?;
    let actual = read(connection, &statements::stored_dimension(dimension), &[])?;
    let place = format!("{dimension:?} ");
    compare(Table::DimensionTotals.name(), &place, &expected, &actual, found);
    Ok(())
}

fn start(grain: Grain, day: i64) -> i64 {
    let day_of = |number| Day::from_number(i32::try_from(number).ok()?);
    let span = day_of(day).and_then(|day| grain.span(day));
    span.map_or(day, |span| span.start().number().into())
}
