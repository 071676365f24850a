//! Answers of the `daily` design: from the facts of each day, by the statements of `statement`.

use std::collections::HashMap;

use super::{AnswerDesign, AnswerRow, AnswerWriter, Earlier, Error, QueryAnswer, RowSums};
use crate::database::{self, Snapshot};
use crate::query::{Day, DimensionFilter, Period, Query, QueryRefusal};
use crate::statement::{self, Conditions, RowColumns};

pub(crate) async fn answer<S: Snapshot>(snapshot: &S, query: Query) -> Result<QueryAnswer, Error> {
    let conditions = conditions(snapshot, &query).await?;
    let mut earlier = None;
    if let Some(comparison) = query.comparison {
        let period = comparison.earlier(query.period)?;
        let mut rows = Earlier::new(&query, period);
        let push = |row: &AnswerRow<'_>| {
            rows.push(row);
            Ok(())
        };
        read_rows(snapshot, &query, period, &conditions, push).await?;
        if query.counts_articles_across_rows() {
            rows.set_total_articles(all_articles(snapshot, &query, period, &conditions).await?);
        }
        earlier = Some(rows);
    }
    let mut writer = AnswerWriter::new(query.clone(), earlier)?;
    let period = query.period;
    read_rows(snapshot, &query, period, &conditions, |row| writer.push(row)).await?;
    if query.counts_articles_across_rows() {
        writer.set_total_articles(all_articles(snapshot, &query, period, &conditions).await?);
    }
    writer.finish(AnswerDesign::Daily)
}

/// The filters with their keys looked up.
async fn conditions<S: Snapshot>(snapshot: &S, query: &Query) -> Result<Conditions, Error> {
    let mut ids = Vec::new();
    for filter in &query.filters.values {
        let lookup = statement::ids(filter, S::DIALECT);
        let mut found = HashMap::new();
        let each = |row: database::SqlRow<'_>| {
            found.insert(row.text(0)?.to_owned(), row.small(1)?);
            Ok::<_, Error>(())
        };
        snapshot.rows(&lookup.sql, &lookup.values, each).await?;
        ids.push(if query.filters.allows_unknown {
            found.into_values().collect()
        } else {
            known_ids(filter, &found)?
        });
    }
    Ok(Conditions::new(&query.filters, ids))
}

/// The ids of all keys of `filter`, of which `found` are there.
fn known_ids(
    filter: &DimensionFilter,
    found: &HashMap<String, i32>,
) -> Result<Vec<i32>, QueryRefusal> {
    let id = |key: &String| {
        let unknown = || QueryRefusal::UnknownKey { name: filter.parameter(), key: key.clone() };
        found.get(key).copied().ok_or_else(unknown)
    };
    filter.keys.iter().map(id).collect()
}

async fn all_articles<S: Snapshot>(
    snapshot: &S,
    query: &Query,
    period: Period,
    conditions: &Conditions,
) -> Result<i64, Error> {
    let all = statement::answer::all_articles(query, period, conditions, S::DIALECT);
    let mut articles = 0;
    let each = |row: database::SqlRow<'_>| {
        articles = row.integer(0)?;
        Ok::<_, Error>(())
    };
    snapshot.rows(&all.sql, &all.values, each).await?;
    Ok(articles)
}

/// Hands every row of the period to `push`.
async fn read_rows<S: Snapshot>(
    snapshot: &S,
    query: &Query,
    period: Period,
    conditions: &Conditions,
    mut push: impl FnMut(&AnswerRow<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let statement = statement::answer::rows(query, period, conditions, S::DIALECT);
    let key_is_day = statement::key_is_day(query.grouping);
    let columns = RowColumns::of(query);
    let each = |row: database::SqlRow<'_>| {
        let date;
        let key = if key_is_day {
            date = Day::stored(row.small(0)?)?.to_string();
            date.as_str()
        } else {
            row.text(0)?
        };
        push(&AnswerRow {
            key,
            label: columns.label.map_or(Ok(key), |column| row.text(column))?,
            country: columns.country.map(|column| row.text(column)).transpose()?,
            sums: RowSums {
                pageviews: row.integer(columns.metrics)?,
                sessions: row.integer(columns.metrics + 1)?,
                engagement_seconds: row.integer(columns.metrics + 2)?,
                articles: columns.articles.map(|column| row.integer(column)).transpose()?,
            },
            rows_read: row.integer(columns.rows_read)?,
        })
    };
    snapshot.rows(&statement.sql, &statement.values, each).await
}
