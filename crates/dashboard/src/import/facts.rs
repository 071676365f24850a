//! Facts of a day, replaced together with all totals that they belong to.

use tokio_postgres::types::Type;

use super::Error;
use crate::database::{CommandTransaction, SqlValue};
use crate::query::Day;
use crate::rollup::maintain::TotalsKeeper;
use crate::rollup::page::{PageEntry, TotalSums};

/// Replaces the facts of a day by these, which are sorted by their keys.
pub(super) fn replace_day(
    transaction: &CommandTransaction<'_>,
    keeper: &mut TotalsKeeper,
    day: Day,
    facts: Vec<PageEntry>,
) -> Result<(), Error> {
    let day_value = || SqlValue::from(day.number());
    transaction.execute("DELETE FROM traffic WHERE day = $1", &[day_value()])?;
    let rows = facts.iter().map(|fact| {
        let [pageviews, sessions, seconds] = fact.sums.metrics.map(SqlValue::Integer);
        [day_value(), fact.key.0.into(), fact.key.1.into(), pageviews, sessions, seconds]
    });
    transaction.insert("traffic", columns("article_id", Type::INT4), rows)?;
    Ok(keeper.replace_day(transaction, day, facts)?)
}

/// The facts of a day as stored.
pub(super) fn facts_of_day(
    transaction: &CommandTransaction<'_>,
    day: Day,
) -> Result<Vec<PageEntry>, Error> {
    let mut facts = Vec::new();
    let all = "SELECT article_id, country_id, pageviews, sessions, engagement_seconds \
               FROM traffic WHERE day = $1";
    transaction.rows(all, &[day.number().into()], |row| {
        let metrics = [row.integer(2)?, row.integer(3)?, row.integer(4)?];
        let key = (row.small(0)?, row.small(1)?);
        facts.push(PageEntry { key, sums: TotalSums { facts: 1, metrics } });
        Ok::<_, Error>(())
    })?;
    Ok(facts)
}

/// The columns of both tables of traffic; only what the traffic is of differs.
pub(super) fn columns(of: &str, of_type: Type) -> [(&str, Type); 6] {
    [
        ("day", Type::INT4),
        (of, of_type),
        ("country_id", Type::INT4),
        ("pageviews", Type::INT4),
        ("sessions", Type::INT4),
        ("engagement_seconds", Type::INT4),
    ]
}
