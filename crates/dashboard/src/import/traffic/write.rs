//! The writer of traffic: the facts of a day, its unmatched traffic and all totals that it belongs
//! to, in one transaction.

use std::collections::HashMap;

use tokio_postgres::types::Type;

use super::ImportedTraffic;
use super::gather::Gather;
use super::replaced::DayReplacement;
use super::spill::TrafficRecord;
use crate::database::{CommandConnection, CommandTransaction, SqlValue};
use crate::import::facts::{columns, facts_of_day, replace_day};
use crate::import::owner::DayOwner;
use crate::import::url::normal_form;
use crate::import::{Error, country, is_interrupted, make_durable};
use crate::imported_days::{self, DayState};
use crate::query::Day;
use crate::rollup::CommandWork;
use crate::rollup::maintain::TotalsKeeper;
use crate::rollup::page::{PageEntry, TotalSums, collect};
use crate::schema::DataVersion;

/// The days of an import in their order, with what each replaces.
pub(super) type DayReplacements = Vec<(Day, DayReplacement)>;

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
            replaced: Vec::new(),
            pageviews: 0,
            unmatched_urls: gather.unmatched_urls(),
            unmatched_pageviews: 0,
            notes: gather.notes.clone(),
        };
        let (keeper, countries) = (TotalsKeeper::new(), Vec::new());
        Self { gather, keeper, countries, version: version.data, imported }
    }

    pub fn write(
        mut self,
        connection: &mut CommandConnection<'_>,
        days: &DayReplacements,
        work: CommandWork<'_>,
    ) -> Result<ImportedTraffic, Error> {
        work.progress.set_position(0);
        work.progress.set_length(days.len() as u64);
        work.progress.set_message("days");
        for (day, replacement) in days {
            if is_interrupted(work) {
                make_durable(connection)?;
                return Err(Error::Interrupted { days: self.imported.days, of: days.len() });
            }
            let records = self.gather.merged_day(day.number())?;
            let facts = connection
                .write(|transaction| self.day(transaction, *day, replacement, &records))?;
            self.count(*day, &records, facts);
            work.progress.inc(1);
        }
        make_durable(connection)?;
        Ok(self.imported)
    }

    /// The same figures, without a write.
    pub fn preview(mut self, days: &DayReplacements) -> Result<ImportedTraffic, Error> {
        self.countries = (0..).take(self.gather.codes.len()).collect();
        for (day, _) in days {
            let records = self.gather.merged_day(day.number())?;
            let facts = self.facts(&records).len();
            self.count(*day, &records, facts);
        }
        Ok(self.imported)
    }

    fn count(&mut self, day: Day, records: &[TrafficRecord], facts: usize) {
        self.imported.days += 1;
        self.imported.first_day = self.imported.first_day.or(Some(day));
        self.imported.last_day = Some(day);
        self.imported.facts += facts as u64;
        self.imported.pageviews += pageviews(records, false);
        self.imported.unmatched_pageviews += pageviews(records, true);
    }

    /// Writes a day; the number of facts that this import has of it.
    fn day(
        &mut self,
        transaction: &CommandTransaction<'_>,
        day: Day,
        replacement: &DayReplacement,
        records: &[TrafficRecord],
    ) -> Result<usize, Error> {
        if self.keeper.begin(transaction)? != self.version {
            return Err(Error::Changed { days: self.imported.days });
        }
        if self.countries.is_empty() {
            self.countries = country_ids(transaction, &self.gather.codes)?;
        }
        self.unmatched(transaction, day, replacement, records)?;
        let mut facts = self.facts(records);
        let count = facts.len();
        if replacement.keeps_others {
            let owners = self.gather.owners;
            let is_other = |article| !replacement.owners.contains(&owners.of_article(article));
            facts.extend(
                facts_of_day(transaction, day)?.into_iter().filter(|it| is_other(it.key.0)),
            );
            facts = collect(facts);
        }
        replace_day(transaction, &mut self.keeper, day, facts)?;
        for owner in &replacement.owners {
            if let DayOwner::Blog(blog) = owner {
                let state = match replacement.in_part.contains(owner) {
                    true => DayState::Partial,
                    false => DayState::of(day, self.gather.unfinished_from),
                };
                imported_days::mark(transaction, *blog, day, state)?;
            }
        }
        self.version = self.keeper.finish(transaction)?;
        Ok(count)
    }

    /// Replaces the unmatched traffic of a day by its new rows and those of other owners.
    fn unmatched(
        &self,
        transaction: &CommandTransaction<'_>,
        day: Day,
        replacement: &DayReplacement,
        records: &[TrafficRecord],
    ) -> Result<(), Error> {
        let day_value = || SqlValue::from(day.number());
        let kept = match replacement.keeps_others {
            true => self.unmatched_of_others(transaction, day, replacement)?,
            false => Vec::new(),
        };
        transaction.execute("DELETE FROM unmatched_traffic WHERE day = $1", &[day_value()])?;
        let unmatched = records.iter().filter(|record| record.unmatched);
        let rows = unmatched.map(|record| {
            let url = self.gather.unmatched.get(record.target as usize).map_or("", String::as_str);
            let [pageviews, sessions, seconds] =
                record.counts.map(|count| SqlValue::Integer(count.into()));
            [day_value(), url.into(), self.country(record).into(), pageviews, sessions, seconds]
        });
        transaction.insert("unmatched_traffic", columns("url", Type::VARCHAR), rows.chain(kept))?;
        Ok(())
    }

    fn unmatched_of_others(
        &self,
        transaction: &CommandTransaction<'_>,
        day: Day,
        replacement: &DayReplacement,
    ) -> Result<Vec<[SqlValue<'static>; 6]>, Error> {
        let mut kept = Vec::new();
        let all = "SELECT url, country_id, pageviews, sessions, engagement_seconds \
                   FROM unmatched_traffic WHERE day = $1";
        transaction.rows(all, &[day.number().into()], |row| {
            let url = row.text(0)?;
            let owner = self.gather.owners.of_form(&normal_form(url));
            if !replacement.owners.contains(&owner) {
                let number = |place| row.small(place).map(SqlValue::from);
                let url = SqlValue::from(url).into_owned();
                let [country, pageviews] = [number(1)?, number(2)?];
                let [sessions, seconds] = [number(3)?, number(4)?];
                kept.push([day.number().into(), url, country, pageviews, sessions, seconds]);
            }
            Ok::<_, Error>(())
        })?;
        Ok(kept)
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
