//! Traffic that waited for its article: as soon as one has its URL, it becomes facts.

use std::collections::BTreeMap;

use tokio_postgres::types::Type;

use super::ImportedArticles;
use crate::import::Error;
use crate::import::matching::Articles;
use crate::query::Day;
use crate::rollup::maintain::Keeper;
use crate::rollup::page::{Entry, Sums, collect};
use crate::transaction::{Transaction, Value};

/// The traffic of one day that has found its article.
#[derive(Default)]
struct Found {
    facts: Vec<Entry>,
    urls: Vec<(String, i32)>,
}

/// Gives unmatched traffic to the articles that there are now, with its totals.
pub(super) fn rematch(
    transaction: &Transaction<'_>,
    keeper: &mut Keeper,
    imported: &mut ImportedArticles,
) -> Result<(), Error> {
    let articles = Articles::read(transaction)?;
    let mut found: BTreeMap<i32, Found> = BTreeMap::new();
    let all = "SELECT day, url, country_id, pageviews, sessions, engagement_seconds \
               FROM unmatched_traffic";
    transaction.rows(all, &[], |row| {
        let url = row.text(1)?;
        if let Some(article) = articles.of(url) {
            let country = row.small(2)?;
            let metrics = [row.integer(3)?, row.integer(4)?, row.integer(5)?];
            let day = found.entry(row.small(0)?).or_default();
            day.urls.push((url.to_owned(), country));
            day.facts.push(Entry { key: (article, country), sums: Sums { facts: 1, metrics } });
        }
        Ok::<_, Error>(())
    })?;
    for (number, of_day) in found {
        let Some(day) = Day::from_number(number) else { continue };
        imported.matched_days += 1;
        let pageviews = of_day.facts.iter().map(|fact| fact.sums.metrics[0]);
        imported.matched_pageviews += pageviews.sum::<i64>();
        add_to_day(transaction, keeper, day, of_day)?;
    }
    Ok(())
}

fn add_to_day(
    transaction: &Transaction<'_>,
    keeper: &mut Keeper,
    day: Day,
    found: Found,
) -> Result<(), Error> {
    let day_value = Value::from(day.number());
    for (url, country) in &found.urls {
        let remove =
            "DELETE FROM unmatched_traffic WHERE day = $1 AND url = $2 AND country_id = $3";
        let values = [day_value, url.as_str().into(), (*country).into()];
        transaction.execute(remove, &values)?;
    }
    let mut facts = found.facts;
    let known = "SELECT article_id, country_id, pageviews, sessions, engagement_seconds \
                 FROM traffic WHERE day = $1";
    transaction.rows(known, &[day_value], |row| {
        let metrics = [row.integer(2)?, row.integer(3)?, row.integer(4)?];
        let key = (row.small(0)?, row.small(1)?);
        facts.push(Entry { key, sums: Sums { facts: 1, metrics } });
        Ok::<_, Error>(())
    })?;
    let mut facts = collect(facts);
    for fact in &mut facts {
        fact.sums.facts = 1;
        // What fits in two rows need not fit in one.
        for metric in &mut fact.sums.metrics {
            *metric = (*metric).min(i32::MAX.into());
        }
    }
    transaction.execute("DELETE FROM traffic WHERE day = $1", &[day_value])?;
    let columns = [
        ("day", Type::INT4),
        ("article_id", Type::INT4),
        ("country_id", Type::INT4),
        ("pageviews", Type::INT4),
        ("sessions", Type::INT4),
        ("engagement_seconds", Type::INT4),
    ];
    let rows = facts.iter().map(|fact| {
        let [pageviews, sessions, seconds] = fact.sums.metrics.map(Value::Integer);
        [day_value, fact.key.0.into(), fact.key.1.into(), pageviews, sessions, seconds]
    });
    transaction.insert("traffic", columns, rows)?;
    keeper.replace_day(transaction, day, facts)?;
    Ok(())
}
