//! The table of totals: the `rollup` design's part of the schema. It holds nothing that the facts
//! do not, so it can be dropped and made again at any time.

use sea_query::{ColumnDef, Index, PostgresQueryBuilder, SqliteQueryBuilder, Table as Statement};

use super::{Column, SqlDialect, Table};

/// The statements that create the table of totals, empty.
pub(crate) fn create_totals(dialect: SqlDialect) -> Vec<String> {
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
        SqlDialect::Sqlite => vec![statement.extra("WITHOUT ROWID").build(SqliteQueryBuilder)],
        // Pages are packed already: PostgreSQL would try to compress them, slowly and without gain.
        SqlDialect::Postgres => vec![
            statement.build(PostgresQueryBuilder),
            "ALTER TABLE totals ALTER COLUMN content SET STORAGE EXTERNAL".to_owned(),
        ],
    }
}

/// The statement that gives a row if the table is there.
pub(crate) const fn find_totals(dialect: SqlDialect) -> &'static str {
    match dialect {
        SqlDialect::Sqlite => {
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'totals'"
        }
        SqlDialect::Postgres => "SELECT 1 WHERE to_regclass('totals') IS NOT NULL",
    }
}

/// Removes the totals, whether there are any or not. Those of earlier programs were rows.
pub(crate) const DROP_TOTALS: &str = "DROP TABLE IF EXISTS totals";
