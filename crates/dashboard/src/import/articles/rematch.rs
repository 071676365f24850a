//! Unmatched traffic that becomes facts once an article has its URL.

use std::collections::{BTreeMap, BTreeSet};

use super::ImportedArticles;
use crate::database::{CommandTransaction, SqlValue};
use crate::import::facts::{facts_of_day, replace_day};
use crate::import::matching::ArticleUrls;
use crate::import::owner::{DayOwner, Owners};
use crate::import::url::normal_form;
use crate::import::{Error, quote};
use crate::imported_days::{self, DayState};
use crate::query::Day;
use crate::rollup::maintain::TotalsKeeper;
use crate::rollup::page::{PageEntry, TotalSums, collect};

/// Traffic that has found its article: the form of its URL, and the fact that it becomes.
type WaitingTraffic = (String, PageEntry);

/// Gives unmatched traffic to the articles that there are now, with its totals. Days on which a
/// blog's hosts had traffic were imported for the blog.
pub(super) fn rematch(
    transaction: &CommandTransaction<'_>,
    keeper: &mut TotalsKeeper,
    today: Day,
    imported: &mut ImportedArticles,
) -> Result<(), Error> {
    let articles = ArticleUrls::read(transaction)?;
    let owners = Owners::read(transaction)?;
    let mut found: BTreeMap<i32, Vec<WaitingTraffic>> = BTreeMap::new();
    let mut days: BTreeSet<(DayOwner, i32)> = BTreeSet::new();
    let all = "SELECT day, url, country_id, pageviews, sessions, engagement_seconds \
               FROM unmatched_traffic";
    transaction.rows(all, &[], |row| {
        let url = row.text(1)?;
        // Earlier programs stored other forms.
        let form = normal_form(url);
        let article = articles.of(&form);
        let owner = article.map_or_else(|| owners.of_form(&form), |id| owners.of_article(id));
        days.insert((owner, row.small(0)?));
        if let Some(article) = article {
            let metrics = [row.integer(3)?, row.integer(4)?, row.integer(5)?];
            let key = (article, row.small(2)?);
            let fact = PageEntry { key, sums: TotalSums { facts: 1, metrics } };
            found.entry(row.small(0)?).or_default().push((url.to_owned(), fact));
        }
        Ok::<_, Error>(())
    })?;
    let of_blogs = days.into_iter().filter_map(|(owner, number)| {
        let (DayOwner::Blog(blog), day) = (owner, Day::from_number(number)?) else { return None };
        Some((blog, day, DayState::of(day, today)))
    });
    imported_days::mark_unknown(transaction, of_blogs)?;
    for (number, of_day) in found {
        let Some(day) = Day::from_number(number) else { continue };
        imported.matched_days += 1;
        let pageviews = of_day.iter().map(|(_, fact)| fact.sums.metrics[0]);
        imported.matched_pageviews += pageviews.sum::<i64>();
        add_to_day(transaction, keeper, day, &of_day)?;
    }
    Ok(())
}

fn add_to_day(
    transaction: &CommandTransaction<'_>,
    keeper: &mut TotalsKeeper,
    day: Day,
    found: &[WaitingTraffic],
) -> Result<(), Error> {
    let day_value = || SqlValue::from(day.number());
    let mut facts: Vec<PageEntry> = found.iter().map(|(_, fact)| *fact).collect();
    facts.extend(facts_of_day(transaction, day)?);
    let mut facts = collect(facts);
    facts.iter_mut().for_each(|fact| fact.sums.facts = 1);
    for (url, waited) in found {
        let place = facts.binary_search_by_key(&waited.key, |fact| fact.key);
        let fact = place.ok().and_then(|place| facts.get(place));
        if fact.is_some_and(|fact| fact.sums.metrics.iter().any(|sum| *sum > i64::from(i32::MAX))) {
            return Err(Error::TooMuch { url: quote::name(url), day });
        }
        let remove =
            "DELETE FROM unmatched_traffic WHERE day = $1 AND url = $2 AND country_id = $3";
        transaction.execute(remove, &[day_value(), url.as_str().into(), waited.key.1.into()])?;
    }
    replace_day(transaction, keeper, day, facts)
}
