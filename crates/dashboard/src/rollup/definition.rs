//! The table of totals: the `rollup` design's own part of the schema. It holds nothing that the
//! facts do not, so it can be dropped and made again at any time.
//!
//! A row is one page of totals (see `page`): of one kind, over one span of days.
//!
//! | kind | a total for each | of days | of months | of years |
//! |---|---|---|---|---|
//! | `BlogCountry` | blog and country | x | x | x |
//! | `Article` | article | | x | x |
//! | `ArticleCountry` | article and country | x | x | |
//!
//! An article's totals of a day are the sum over its countries, so they need no page; those of a
//! year with the country are as quickly added up from its months. Rows instead of pages were tried
//! first: they need three times the room and a hundred times as many writes for an import.

use sea_query::{ColumnDef, Index, PostgresQueryBuilder, SqliteQueryBuilder, Table as Statement};

use super::calendar::Grain;
use crate::schema::{Column, Dialect, Table};

/// What the two parts of a total's key are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    BlogCountry,
    /// Article; the other part is 0.
    Article,
    ArticleCountry,
}

impl Kind {
    /// Its number in the table.
    pub fn number(self) -> i32 {
        match self {
            Self::BlogCountry => 0,
            Self::Article => 1,
            Self::ArticleCountry => 2,
        }
    }

    /// The kind to read for totals of this kind over spans of `grain`.
    pub fn kept_as(self, grain: Grain) -> Self {
        match (self, grain) {
            (Self::Article, Grain::Day) => Self::ArticleCountry,
            _ => self,
        }
    }

    /// The lengths of span that totals of this kind can be read for, from long to short.
    pub fn grains(self) -> &'static [Grain] {
        match self {
            Self::ArticleCountry => &[Grain::Month, Grain::Day],
            _ => &[Grain::Year, Grain::Month, Grain::Day],
        }
    }
}

/// All pages that are kept.
pub(crate) const KEPT: [(Kind, Grain); 7] = [
    (Kind::BlogCountry, Grain::Day),
    (Kind::BlogCountry, Grain::Month),
    (Kind::BlogCountry, Grain::Year),
    (Kind::Article, Grain::Month),
    (Kind::Article, Grain::Year),
    (Kind::ArticleCountry, Grain::Day),
    (Kind::ArticleCountry, Grain::Month),
];

/// The number of a length in the table.
pub(crate) fn grain_number(grain: Grain) -> i32 {
    match grain {
        Grain::Day => 0,
        Grain::Month => 1,
        Grain::Year => 2,
    }
}

/// The statements that create the table of totals, empty.
pub(crate) fn create(dialect: Dialect) -> Vec<String> {
    let key = [Column::Kind, Column::Grain, Column::Day];
    let mut statement = Statement::create();
    statement.table(Table::Totals);
    for column in key {
        statement.col(ColumnDef::new(column).integer().not_null());
    }
    statement.col(ColumnDef::new(Column::Content).blob().not_null());
    let mut primary = Index::create();
    for column in key {
        primary.col(column);
    }
    statement.primary_key(&mut primary);
    match dialect {
        Dialect::Sqlite => vec![statement.extra("WITHOUT ROWID").build(SqliteQueryBuilder)],
        // Pages are packed already: PostgreSQL would try to compress them, in vain and slowly.
        Dialect::Postgres => vec![
            statement.build(PostgresQueryBuilder),
            "ALTER TABLE totals ALTER COLUMN content SET STORAGE EXTERNAL".to_owned(),
        ],
    }
}

/// Removes the totals, whether there are any or not. Those of earlier programs were rows.
pub(crate) const DROP: &str = "DROP TABLE IF EXISTS totals";
