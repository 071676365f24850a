//! Statements of the `daily` design, built by sea-query for both engines from one description.

pub mod answer;
mod condition;
mod dialect;
mod grouped_by;
mod lookup;
#[cfg(test)]
mod tests;

pub use condition::{Condition, Conditions};
pub(crate) use grouped_by::key_is_day;
pub use lookup::ids;

use sea_query::{PostgresQueryBuilder, QueryStatementWriter, SqliteQueryBuilder};

use crate::database::{SqlDialect, SqlValue};
use crate::query::Query;

/// The places of an answer's columns in a row, counted from 0; the key is always the first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowColumns {
    /// The label, where it is not the key itself.
    pub label: Option<usize>,
    /// Page views, then sessions and seconds.
    pub metrics: usize,
    /// The number of rows summed.
    pub rows_read: usize,
    /// The number of distinct articles, if it was asked for.
    pub articles: Option<usize>,
    /// The country's code, if rows are split.
    pub country: Option<usize>,
}

impl RowColumns {
    pub(crate) fn of(query: &Query) -> Self {
        let has_label = grouped_by::has_label(query.grouping);
        let metrics = 1 + usize::from(has_label);
        let rows_read = metrics + 3;
        let articles = query.count.map(|_| rows_read + 1);
        Self {
            label: has_label.then_some(1),
            metrics,
            rows_read,
            articles,
            country: query.split.map(|_| articles.unwrap_or(rows_read) + 1),
        }
    }
}

/// SQL with its bound values, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryStatement {
    /// The text, with `?` (SQLite) or `$1` (PostgreSQL) where values go.
    pub sql: String,
    pub values: Vec<SqlValue<'static>>,
}

impl QueryStatement {
    fn build(statement: &impl QueryStatementWriter, dialect: SqlDialect) -> Self {
        let (sql, values) = match dialect {
            SqlDialect::Sqlite => statement.build(SqliteQueryBuilder),
            SqlDialect::Postgres => statement.build(PostgresQueryBuilder),
        };
        Self { sql, values: values.0.into_iter().map(SqlValue::from).collect() }
    }
}
