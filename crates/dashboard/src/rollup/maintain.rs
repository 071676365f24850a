//! Totals that follow an import: the old totals of a day are subtracted and its new ones added, in
//! the transaction that replaces its facts.

use std::collections::HashMap;

use super::calendar::Grain;
use super::definition::{KEPT, TotalsKind, grain_number};
use super::fold::{Blogs, DayTotals, Page};
use super::page::{self, PageEntry, combine};
use super::{Error, blogs, statements, write_page};
use crate::database::{CommandTransaction, SqlDialect, SqlRow};
use crate::query::Day;
use crate::schema::{DataVersion, version_row};

/// Keeps totals in step with the facts. The pages of longer spans stay in memory from day to day,
/// as long as no other process changes the data.
pub(crate) struct TotalsKeeper {
    blogs: Blogs,
    open: HashMap<(TotalsKind, Grain), Page>,
    version: Option<i64>,
}

impl TotalsKeeper {
    pub fn new() -> Self {
        Self { blogs: Blogs::new(), open: HashMap::new(), version: None }
    }

    /// To be called when a transaction has begun and before it changes anything: makes sure that
    /// the totals agree, and keeps other writers waiting. The version of the data.
    pub fn begin(&mut self, transaction: &CommandTransaction<'_>) -> Result<i64, Error> {
        let version = version(transaction)?;
        match version {
            DataVersion { totals: None, .. } => return Err(Error::Missing),
            version if !version.agrees() => return Err(Error::Stale),
            _ => {}
        }
        if self.version != Some(version.data) {
            self.open.clear();
            self.blogs = blogs(transaction)?;
            self.version = Some(version.data);
        }
        Ok(version.data)
    }

    /// To be called when articles were added or changed in the transaction.
    pub fn articles_changed(&mut self, transaction: &CommandTransaction<'_>) -> Result<(), Error> {
        self.open.clear();
        self.blogs = blogs(transaction)?;
        Ok(())
    }

    /// Brings all totals in step with the new facts of a day, which are sorted by their keys.
    pub fn replace_day(
        &mut self,
        transaction: &CommandTransaction<'_>,
        day: Day,
        facts: Vec<PageEntry>,
    ) -> Result<(), Error> {
        let old = self.read(transaction, TotalsKind::ArticleCountry, Grain::Day, day)?;
        let old = DayTotals::new(old, &self.blogs);
        let new = DayTotals::new(facts, &self.blogs);
        for (kind, grain) in KEPT {
            if grain == Grain::Day {
                write_page(transaction, &(kind, grain, day, new.of(kind).to_vec()))?;
                continue;
            }
            let Some(start) = grain.span(day).map(|span| span.start()) else { continue };
            let before = match self.open.remove(&(kind, grain)) {
                Some((_, _, open, entries)) if open == start => entries,
                _ => self.read(transaction, kind, grain, start)?,
            };
            let without = combine(&before, old.of(kind), -1);
            let page = (kind, grain, start, combine(&without, new.of(kind), 1));
            write_page(transaction, &page)?;
            self.open.insert((kind, grain), page);
        }
        Ok(())
    }

    /// To be called before the commit, after every other change: gives the data its new version,
    /// to which the totals belong. That version.
    pub fn finish(&mut self, transaction: &CommandTransaction<'_>) -> Result<i64, Error> {
        let raise = "UPDATE schema_version SET data_version = data_version + 1, \
                     totals_version = data_version + 1";
        transaction.execute(raise, &[])?;
        let version = version(transaction)?.data;
        self.version = Some(version);
        Ok(version)
    }

    fn read(
        &self,
        transaction: &CommandTransaction<'_>,
        kind: TotalsKind,
        grain: Grain,
        start: Day,
    ) -> Result<Vec<PageEntry>, Error> {
        let (grain, day) = (grain_number(grain), start.number());
        let values = [kind.number().into(), grain.into(), day.into(), day.into()];
        let mut entries = Vec::new();
        transaction.rows(statements::PAGES, &values, |row: SqlRow<'_>| {
            entries =
                page::decode(row.bytes(1)?).map_err(|page::Damaged| Error::Damaged { day })?;
            Ok::<_, Error>(())
        })?;
        Ok(entries)
    }
}

/// The version of the data; in PostgreSQL it is locked from here on.
pub(crate) fn version(transaction: &CommandTransaction<'_>) -> Result<DataVersion, Error> {
    let sql = match transaction {
        CommandTransaction::Sqlite(_) => version_row(SqlDialect::Sqlite),
        CommandTransaction::Postgres(..) => statements::LOCK,
    };
    let mut version = DataVersion::default();
    transaction.rows(sql, &[], |row| {
        version = DataVersion::from_row(row)?;
        Ok::<_, Error>(())
    })?;
    Ok(version)
}
