//! The tables of totals: the `rollup` design's own part of the schema. They hold nothing that the
//! facts do not, so they can be dropped and made again at any time.
//!
//! | table | one row for each | answers |
//! |---|---|---|
//! | `article_days` | article and day | edges of periods, rows of time, under any filter |
//! | `article_months`, `article_years` | month or year and article | everything about articles |
//! | `country_quarters` | quarter, country and article | what crosses countries with articles |
//! | `dimension_totals` | length, dimension, span, blog and key | one dimension at a time |
//!
//! A country's totals by month would shrink the facts 2.5 times only, those by quarter 4 times;
//! what is left of a period beyond its quarters is summed from the facts.

use sea_query::{ColumnDef, Index, PostgresQueryBuilder, SqliteQueryBuilder, Table as Statement};

use super::calendar::Grain;
use crate::schema::{Column, Dialect, Table};

/// A table of totals: its key in order, all integers; the sums follow.
pub(crate) struct Definition {
    /// Its name.
    pub table: Table,
    /// The columns of its primary key, in its order.
    pub key: &'static [Column],
}

/// All tables of totals.
pub(crate) static TABLES: [Definition; 5] = [
    Definition { table: Table::ArticleDays, key: &[Column::ArticleId, Column::Day] },
    Definition { table: Table::ArticleMonths, key: &[Column::Day, Column::ArticleId] },
    Definition { table: Table::ArticleYears, key: &[Column::Day, Column::ArticleId] },
    Definition {
        table: Table::CountryQuarters,
        key: &[Column::Day, Column::CountryId, Column::ArticleId],
    },
    Definition {
        table: Table::DimensionTotals,
        key: &[Column::Grain, Column::Dimension, Column::Day, Column::BlogId, Column::Key],
    },
];

/// The sums, in their order after the key.
pub(crate) const METRICS: [Column; 3] =
    [Column::Pageviews, Column::Sessions, Column::EngagementSeconds];

/// The statements that create all tables of totals, empty.
pub(crate) fn create(dialect: Dialect) -> Vec<String> {
    let create = |definition: &Definition| {
        let mut statement = Statement::create();
        statement.table(definition.table);
        for column in definition.key {
            statement.col(ColumnDef::new(*column).integer().not_null());
        }
        for metric in METRICS {
            statement.col(ColumnDef::new(metric).big_integer().not_null());
        }
        let mut key = Index::create();
        for column in definition.key {
            key.col(*column);
        }
        statement.primary_key(&mut key);
        match dialect {
            Dialect::Sqlite => statement.extra("WITHOUT ROWID").build(SqliteQueryBuilder),
            Dialect::Postgres => statement.build(PostgresQueryBuilder),
        }
    };
    TABLES.iter().map(create).collect()
}

/// The statements that remove them, whether they are there or not.
pub(crate) fn drop_totals() -> impl Iterator<Item = String> {
    TABLES.iter().map(|definition| format!("DROP TABLE IF EXISTS {}", definition.table.name()))
}

/// A dimension that has totals of its own: with the blog, what a row of `dimension_totals` is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// The blog alone; the key is 0.
    Blog,
    Author,
    Team,
    Product,
    Language,
    HumanLanguage,
    /// By the year of publication; the key is its first day.
    PublicationYear,
    Country,
}

impl Dimension {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Blog,
        Self::Author,
        Self::Team,
        Self::Product,
        Self::Language,
        Self::HumanLanguage,
        Self::PublicationYear,
        Self::Country,
    ];

    /// Its number in the table.
    pub fn number(self) -> i32 {
        match self {
            Self::Blog => 0,
            Self::Author => 1,
            Self::Team => 2,
            Self::Product => 3,
            Self::Language => 4,
            Self::HumanLanguage => 5,
            Self::PublicationYear => 6,
            Self::Country => 7,
        }
    }

    /// The column of the articles (of the facts for a country) that its key is.
    pub fn column(self) -> Option<Column> {
        match self {
            Self::Blog => None,
            Self::Author => Some(Column::AuthorId),
            Self::Team => Some(Column::TeamId),
            Self::Product => Some(Column::ProductId),
            Self::Language => Some(Column::LanguageId),
            Self::HumanLanguage => Some(Column::HumanLanguageId),
            Self::PublicationYear => Some(Column::Published),
            Self::Country => Some(Column::CountryId),
        }
    }
}

/// The number of a length in `dimension_totals`.
pub(crate) fn grain_number(grain: Grain) -> i32 {
    match grain {
        Grain::Day => 0,
        Grain::Month => 1,
        Grain::Quarter => 2,
        Grain::Year => 3,
    }
}
