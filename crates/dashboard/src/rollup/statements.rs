//! The statements that read facts, fill the tables of totals, and prove them. All of them are the
//! same text for both engines; numbers are bound.

use super::definition::{Definition, Dimension, METRICS};
use super::fold::Article;
use crate::schema::{Column, Table};

/// Every article with the columns that totals need.
pub(crate) fn articles() -> String {
    let columns = Article::COLUMNS.map(Column::name).join(", ");
    format!("SELECT id, {columns} FROM articles")
}

/// First and last day with traffic; NULL where there is none.
pub(crate) const DAYS: &str =
    "SELECT (SELECT min(day) FROM traffic), (SELECT max(day) FROM traffic)";

/// The facts of the days from `$1` to `$2`, in the order of days.
pub(crate) const FACTS: &str = "SELECT day, article_id, country_id, pageviews, sessions, engagement_seconds \
     FROM traffic WHERE day BETWEEN $1 AND $2 ORDER BY day";

/// Fills `article_days` in the order of its key, which packs its pages.
pub(crate) fn fill_article_days() -> String {
    format!(
        "INSERT INTO article_days SELECT article_id, day, {} FROM traffic \
         GROUP BY article_id, day ORDER BY article_id, day",
        sums()
    )
}

/// Inserts one row of totals.
pub(crate) fn insert(table: Table, key_length: usize) -> String {
    let values = key_length + METRICS.len();
    let parameters: Vec<String> = (1..=values).map(|place| format!("${place}")).collect();
    format!("INSERT INTO {} VALUES ({})", table.name(), parameters.join(", "))
}

/// The sums of the metrics, as the tables hold them.
fn sums() -> String {
    METRICS.map(|metric| format!("CAST(sum({}) AS bigint)", metric.name())).join(", ")
}

/// The totals of the spans that the days from `$1` to `$2` are, straight from the facts, by the
/// table's key without the day. Written apart from the fold that makes them, so as to judge it.
pub(crate) fn from_facts(definition: &Definition) -> String {
    let keys = definition.key.iter().filter(|column| **column != Column::Day);
    let keys = keys.map(|column| column.name()).collect::<Vec<_>>().join(", ");
    let sums = sums();
    format!("SELECT {keys}, {sums} FROM traffic WHERE day BETWEEN $1 AND $2 GROUP BY {keys}")
}

/// The rows of a table that begin on day `$1`, as [`from_facts`] gives them.
pub(crate) fn stored(definition: &Definition) -> String {
    let keys = definition.key.iter().filter(|column| **column != Column::Day);
    let keys = keys.map(|column| column.name()).collect::<Vec<_>>().join(", ");
    let metrics = METRICS.map(Column::name).join(", ");
    format!("SELECT {keys}, {metrics} FROM {} WHERE day = $1", definition.table.name())
}

/// One dimension's totals by day, blog and key, straight from the facts. The year of publication
/// is still the day of publication.
pub(crate) fn dimension_from_facts(dimension: Dimension) -> String {
    let key = dimension.column().map(Column::name);
    let group = key.map(|key| format!(", {key}")).unwrap_or_default();
    format!(
        "SELECT day, blog_id, {}, {} FROM traffic JOIN articles ON articles.id = article_id \
         GROUP BY day, blog_id{group}",
        key.unwrap_or("0"),
        sums()
    )
}

/// One dimension's totals as they are stored, by grain, day, blog and key.
pub(crate) fn stored_dimension(dimension: Dimension) -> String {
    let metrics = METRICS.map(Column::name).join(", ");
    format!(
        "SELECT grain, day, blog_id, key, {metrics} FROM dimension_totals WHERE dimension = {}",
        dimension.number()
    )
}

/// Rows of `article_days` that the facts do not give, or the other way round.
pub(crate) fn article_days_differences() -> [String; 2] {
    let facts = format!("SELECT article_id, day, {} FROM traffic GROUP BY article_id, day", sums());
    let stored = "SELECT * FROM article_days";
    [(facts.as_str(), stored), (stored, facts.as_str())]
        .map(|(one, other)| format!("SELECT * FROM ({one} EXCEPT {other}) AS differing LIMIT 1"))
}
