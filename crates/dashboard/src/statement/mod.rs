//! The statements of the dashboard, built by sea-query for both engines from one description and
//! run with bound values by `store`.

mod bind;
pub mod daily;
mod dialect;
mod dimension;
pub mod key;
mod lookup;
#[cfg(test)]
mod tests;

pub use bind::Bound;
pub(crate) use dimension::{has_label, key_is_day};
pub use lookup::{any_row, blog_id};

use sea_query::{PostgresQueryBuilder, QueryStatementWriter, SqliteQueryBuilder, Value};

use crate::schema::Dialect;

/// How the database answers: which tables the statements read. One variant for each design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Design {
    /// From the daily facts, with the statements an ORM writes.
    #[default]
    Daily,
}

impl Design {
    /// Every design with its name on the command line and in the header `Crossover-Design`.
    pub const ALL: [(&'static str, Self); 1] = [("daily", Self::Daily)];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Daily => "daily",
        }
    }
}

/// SQL with its bound values, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The text, with `?` (SQLite) or `$1` (PostgreSQL) where values go.
    pub sql: String,
    /// The values.
    pub values: Vec<Value>,
}

impl Statement {
    fn build(statement: &impl QueryStatementWriter, dialect: Dialect) -> Self {
        let (sql, values) = match dialect {
            Dialect::Sqlite => statement.build(SqliteQueryBuilder),
            Dialect::Postgres => statement.build(PostgresQueryBuilder),
        };
        Self { sql, values: values.0 }
    }

    /// The values as both clients take them.
    pub fn bound(&self) -> impl ExactSizeIterator<Item = Bound<'_>> {
        self.values.iter().map(Bound)
    }
}
