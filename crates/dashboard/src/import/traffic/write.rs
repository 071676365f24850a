//! The writer of traffic: the facts of a day, its unmatched traffic and all totals that it belongs
//! to, in one transaction.

use std::collections::HashMap;

use tokio_postgres::types::Type;

use super::ImportedTraffic;
use super::gather::{Gather, merged};
use super::spill::TrafficRecord;
use crate::database::{CommandConnection, CommandTransaction, SqlValue};
use crate::import::facts::{columns, replace_day};
use crate::import::{Error, country, is_interrupted, make_durable};
use crate::query::Day;
use crate::rollup::CommandWork;
use crate::rollup::maintain::TotalsKeeper;
use crate::rollup::page::{PageEntry, TotalSums, collect};
use crate::schema::DataVersion;

pub(super) struct TrafficWriter<'a> {
    gather: Gather<'a>,
    keeper: TotalsKeeper,
    /// The ids of the countries met, once they are known.
    countries: Vec<i32>,
    /// The version of the data that articles were read from, then that which the last day left.
    version: i64,
    imported: ImportedTraffic,
}

impl<'a> TrafficWriter<'a> {
    /// For what was gathered from data of that version.
    pub fn new(gather: Gather<'a>, version: DataVersion) -> Self {
        let imported = ImportedTraffic {
            rows: gather.rows,
            days: 0,
            first_day: None,
            last_day: None,
            facts: 0,
            pageviews: 0,
            unmatched_urls: gather.unmatched.len(),
            unmatched_pageviews: 0,
            notes: gather.notes.clone(),
        };
        let (keeper, countries) = (TotalsKeeper::new(), Vec::new());
        Self { gather, keeper, countries, version: version.data, imported }
    }

    pub fn write(
        mut self,
        connection: &mut CommandConnection<'_>,
        work: CommandWork<'_>,
    ) -> Result<ImportedTraffic, Error> {
        let days = self.gather.spill.days();
        work.progress.set_position(0);
        work.progress.set_length(days.len() as u64);
        work.progress.set_message("days");
        for number in &days {
            let Some(day) = Day::from_number(*number) else { continue };
            if is_interrupted(work) {
                make_durable(connection)?;
                return Err(Error::Interrupted { days: self.imported.days, of: days.len() });
            }
            // Nothing clashes: it was checked.
            let records =
                merged(self.gather.spill.day(*number)?).map_err(|clash| clash.explain(&[]))?;
            connection.write(|transaction| self.day(transaction, day, &records))?;
            self.imported.days += 1;
            self.imported.first_day = self.imported.first_day.or(Some(day));
            self.imported.last_day = Some(day);
            work.progress.inc(1);
        }
        make_durable(connection)?;
        Ok(self.imported)
    }

    fn day(
        &mut self,
        transaction: &CommandTransaction<'_>,
        day: Day,
        records: &[TrafficRecord],
    ) -> Result<(), Error> {
        if self.keeper.begin(transaction)? != self.version {
            return Err(Error::Changed { days: self.imported.days });
        }
        if self.countries.is_empty() {
            self.countries = country_ids(transaction, &self.gather.codes)?;
        }
        let day_value = || SqlValue::from(day.number());
        transaction.execute("DELETE FROM unmatched_traffic WHERE day = $1", &[day_value()])?;
        let unmatched = records.iter().filter(|record| record.unmatched);
        let rows = unmatched.map(|record| {
            let url = self.gather.unmatched.get(record.target as usize).map_or("", String::as_str);
            let [pageviews, sessions, seconds] =
                record.counts.map(|count| SqlValue::Integer(count.into()));
            [day_value(), url.into(), self.country(record).into(), pageviews, sessions, seconds]
        });
        transaction.insert("unmatched_traffic", columns("url", Type::VARCHAR), rows)?;
        let facts = self.facts(records);
        self.imported.facts += facts.len() as u64;
        self.imported.pageviews += pageviews(records, false);
        self.imported.unmatched_pageviews += pageviews(records, true);
        replace_day(transaction, &mut self.keeper, day, facts)?;
        self.version = self.keeper.finish(transaction)?;
        Ok(())
    }

    /// In the order of the ids.
    fn facts(&self, records: &[TrafficRecord]) -> Vec<PageEntry> {
        let matched = records.iter().filter(|record| !record.unmatched);
        let fact = |record: &TrafficRecord| PageEntry {
            key: (record.target, self.country(record)),
            sums: TotalSums { facts: 1, metrics: record.counts.map(i64::from) },
        };
        collect(matched.map(fact).collect())
    }

    fn country(&self, record: &TrafficRecord) -> i32 {
        self.countries.get(record.country as usize).copied().unwrap_or_default()
    }
}

fn pageviews(records: &[TrafficRecord], unmatched: bool) -> u64 {
    let of = records.iter().filter(|record| record.unmatched == unmatched);
    of.map(|record| u64::from(record.counts[0])).sum()
}

/// The ids of countries by their codes; those that are not there are made.
fn country_ids(transaction: &CommandTransaction<'_>, codes: &[&str]) -> Result<Vec<i32>, Error> {
    let mut ids = HashMap::new();
    let mut last = 0;
    transaction.rows("SELECT id, code FROM countries", &[], |row| {
        let id = row.small(0)?;
        last = last.max(id);
        ids.insert(row.text(1)?.to_owned(), id);
        Ok::<_, Error>(())
    })?;
    let mut found = Vec::with_capacity(codes.len());
    for code in codes {
        if let Some(id) = ids.get(*code) {
            found.push(*id);
            continue;
        }
        last += 1;
        let insert = "INSERT INTO countries (id, code, name) VALUES ($1, $2, $3)";
        transaction.execute(insert, &[last.into(), (*code).into(), country::name(code).into()])?;
        found.push(last);
    }
    Ok(found)
}
