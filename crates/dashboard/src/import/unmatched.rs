//! Unmatched traffic: kept with its URL, listed by volume, given to an article as soon as one has
//! that URL.

use engine::DatabaseUrl;
use serde::Serialize;

use super::{Error, open_to_read};
use crate::query::Day;
use crate::rollup::CommandWork;

/// The traffic of a URL that matches no article.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unmatched {
    /// In the form in which URLs are compared.
    pub url: String,
    pub pageviews: i64,
    pub sessions: i64,
    /// The first day with traffic.
    pub first_day: Day,
    pub last_day: Day,
}

const LIST: &str = "SELECT url, CAST(sum(pageviews) AS bigint), CAST(sum(sessions) AS bigint), \
     min(day), max(day) FROM unmatched_traffic GROUP BY url";

/// The URLs with the most unmatched page views, at most `limit` of them, and how many there are.
pub fn unmatched(
    target: &DatabaseUrl,
    limit: usize,
    work: CommandWork<'_>,
) -> Result<(Vec<Unmatched>, usize), Error> {
    let mut all = Vec::new();
    open_to_read(target, work)?.read(|transaction| {
        transaction.rows(LIST, &[], |row| {
            let day = |place| Ok::<_, Error>(Day::from_number(row.small(place)?));
            if let (Some(first_day), Some(last_day)) = (day(3)?, day(4)?) {
                let (pageviews, sessions) = (row.integer(1)?, row.integer(2)?);
                let url = row.text(0)?.to_owned();
                all.push(Unmatched { url, pageviews, sessions, first_day, last_day });
            }
            Ok::<_, Error>(())
        })
    })?;
    let count = all.len();
    all.sort_by(|one, other| (other.pageviews, &one.url).cmp(&(one.pageviews, &other.url)));
    all.truncate(limit);
    Ok((all, count))
}
