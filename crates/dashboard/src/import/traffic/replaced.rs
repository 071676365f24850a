//! Days that an import replaces, with their page views before and after.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::database::{self, CommandTransaction, SqlValue};
use crate::import::owner::{DayOwner, Owners};
use crate::import::url::normal_form;
use crate::query::Day;

/// A day of a blog that was there before the import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplacedDay {
    /// Its blog; of traffic whose host no article has, the host.
    pub blog: String,
    pub day: Day,
    /// With those of URLs that match no article.
    pub pageviews_before: u64,
    pub pageviews_after: u64,
    /// Those of URLs that match an article, which the dashboard shows.
    pub matched_pageviews_before: u64,
    pub matched_pageviews_after: u64,
}

/// Smaller days fall by chance.
pub(super) const LEAST_PAGEVIEWS: u64 = 100;

impl ReplacedDay {
    /// Whether more than half is lost of all page views or of those of articles, so that the file may
    /// hold a part of the day only, or another blog's paths.
    #[must_use]
    pub fn is_halved(&self) -> bool {
        self.is_halved_in_all()
            || is_halved(self.matched_pageviews_before, self.matched_pageviews_after)
    }

    /// Whether that is so whatever its URLs match.
    pub(in crate::import) fn is_halved_in_all(&self) -> bool {
        is_halved(self.pageviews_before, self.pageviews_after)
    }
}

fn is_halved(before: u64, after: u64) -> bool {
    before >= LEAST_PAGEVIEWS && 2 * after < before
}

/// The page views of one owner on one day.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DayPageviews {
    pub all: u64,
    /// Those of URLs that match an article.
    pub matched: u64,
    /// Whether some are of a file that left rows out.
    pub in_part: bool,
}

impl DayPageviews {
    pub fn add(&mut self, pageviews: u64, is_matched: bool) {
        self.all += pageviews;
        self.matched += if is_matched { pageviews } else { 0 };
    }
}

/// The page views of the owners that an import has rows of.
pub(super) type OwnerPageviews = BTreeMap<DayOwner, DayPageviews>;

/// The replacement of one day.
#[derive(Debug, Default)]
pub(super) struct DayReplacement {
    /// Owners of the rows that go.
    pub owners: BTreeSet<DayOwner>,
    /// Those of them of which a file left rows out.
    pub in_part: BTreeSet<DayOwner>,
    /// Whether rows of other owners are there, which stay.
    pub keeps_others: bool,
}

/// The replacement of a day by rows of these owners, and what it changes.
pub(super) fn plan(
    transaction: &CommandTransaction<'_>,
    known: &Owners,
    day: Day,
    after: &OwnerPageviews,
) -> Result<(DayReplacement, Vec<ReplacedDay>), database::Error> {
    let mut before = stored(transaction, known, day)?;
    let mut owners: BTreeSet<DayOwner> = after.keys().cloned().collect();
    if !after.contains_key(&DayOwner::NO_HOST)
        && let Some(blog) = only_blog(transaction, day, &owners, &before)?
        && let Some(waiting) = before.remove(&DayOwner::NO_HOST)
    {
        // Otherwise the same traffic would wait twice, with a host and without one.
        before.entry(blog).or_default().add(waiting.all, false);
        owners.insert(DayOwner::NO_HOST);
    }
    let replaced = after.iter().filter_map(|(owner, after)| {
        let before = before.get(owner)?;
        Some(ReplacedDay {
            blog: known.name(owner),
            day,
            pageviews_before: before.all,
            pageviews_after: after.all,
            matched_pageviews_before: before.matched,
            matched_pageviews_after: after.matched,
        })
    });
    let replaced = replaced.collect();
    let keeps_others = before.keys().any(|owner| !owners.contains(owner));
    let in_part = after.iter().filter(|(_, it)| it.in_part).map(|(owner, _)| owner.clone());
    let in_part = in_part.collect();
    Ok((DayReplacement { owners, in_part, keeps_others }, replaced))
}

/// The page views of a day as stored, by their owners.
fn stored(
    transaction: &CommandTransaction<'_>,
    known: &Owners,
    day: Day,
) -> Result<OwnerPageviews, database::Error> {
    let mut found = OwnerPageviews::new();
    let values = [SqlValue::from(day.number())];
    let facts = "SELECT blog_id, CAST(sum(pageviews) AS bigint) FROM traffic \
                 JOIN articles ON articles.id = article_id WHERE day = $1 GROUP BY blog_id";
    transaction.rows(facts, &values, |row| {
        let owner = DayOwner::Blog(row.small(0)?);
        let pageviews = u64::try_from(row.integer(1)?).unwrap_or_default();
        found.entry(owner).or_default().add(pageviews, true);
        Ok::<_, database::Error>(())
    })?;
    let unmatched = "SELECT url, CAST(sum(pageviews) AS bigint) FROM unmatched_traffic \
                     WHERE day = $1 GROUP BY url";
    transaction.rows(unmatched, &values, |row| {
        let owner = known.of_form(&normal_form(row.text(0)?));
        let pageviews = u64::try_from(row.integer(1)?).unwrap_or_default();
        found.entry(owner).or_default().add(pageviews, false);
        Ok::<_, database::Error>(())
    })?;
    Ok(found)
}

/// The only blog that has the day, before the import and after it.
fn only_blog(
    transaction: &CommandTransaction<'_>,
    day: Day,
    owners: &BTreeSet<DayOwner>,
    before: &OwnerPageviews,
) -> Result<Option<DayOwner>, database::Error> {
    let mut blogs: BTreeSet<DayOwner> = owners.iter().chain(before.keys()).cloned().collect();
    let imported = "SELECT blog_id FROM imported_days WHERE day = $1";
    transaction.rows(imported, &[day.number().into()], |row| {
        blogs.insert(DayOwner::Blog(row.small(0)?));
        Ok::<_, database::Error>(())
    })?;
    let mut blogs = blogs.into_iter().filter(|owner| matches!(owner, DayOwner::Blog(_)));
    Ok(blogs.next().filter(|only| blogs.next().is_none() && owners.contains(only)))
}
