//! Statements that read facts, write pages, and verify them. All of them are the same text for both
//! engines; numbers are bound.

use super::definition::TotalsKind;

pub(crate) const ARTICLES: &str = "SELECT id, blog_id FROM articles";

/// First and last day with traffic; NULL where there is none.
pub(crate) const DAYS: &str =
    "SELECT (SELECT min(day) FROM traffic), (SELECT max(day) FROM traffic)";

/// The facts of the days from `$1` to `$2`, in the order of their key.
pub(crate) const FACTS: &str = "SELECT day, article_id, country_id, pageviews, sessions, \
     engagement_seconds FROM traffic WHERE day BETWEEN $1 AND $2 \
     ORDER BY day, article_id, country_id";

/// The pages of kind `$1` and length `$2` that begin from day `$3` to day `$4`.
pub(crate) const PAGES: &str = "SELECT day, content FROM totals \
     WHERE kind = $1 AND grain = $2 AND day BETWEEN $3 AND $4 ORDER BY day";

/// Writes the page `$4` of kind `$1`, length `$2`, first day `$3`.
pub(crate) const WRITE_PAGE: &str = "INSERT INTO totals (kind, grain, day, content) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (kind, grain, day) DO UPDATE SET content = excluded.content";

/// Removes the page of kind `$1`, length `$2`, first day `$3`.
pub(crate) const REMOVE_PAGE: &str =
    "DELETE FROM totals WHERE kind = $1 AND grain = $2 AND day = $3";

/// Notes that the totals are those of the data.
pub(crate) const TOTALS_AGREE: &str = "UPDATE schema_version SET totals_version = data_version";

/// The version of the data, as `schema::version_row` gives it; keeps other writers waiting until
/// the end of the transaction, where the engine would not.
pub(crate) const LOCK: &str =
    "SELECT data_version, totals_version, tableoid::bigint FROM schema_version FOR UPDATE";

/// Totals straight from the facts of the days from `$1` to `$2`: both parts of the key, the number
/// of facts, the sums. Written apart from what makes pages, so as to judge them.
pub(crate) fn from_facts(kind: TotalsKind) -> String {
    let (first, second, articles) = match kind {
        TotalsKind::BlogCountry => {
            ("blog_id", "country_id", " JOIN articles ON articles.id = article_id")
        }
        TotalsKind::Article => ("article_id", "0", ""),
        TotalsKind::ArticleCountry => ("article_id", "country_id", ""),
    };
    let group = if second == "0" { first.to_owned() } else { format!("{first}, {second}") };
    format!(
        "SELECT {first}, {second}, count(*), CAST(sum(pageviews) AS bigint), \
         CAST(sum(sessions) AS bigint), CAST(sum(engagement_seconds) AS bigint) \
         FROM traffic{articles} WHERE day BETWEEN $1 AND $2 GROUP BY {group}"
    )
}
