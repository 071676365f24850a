//! Finding and dropping the table of totals, which may be absent.

use super::SqlDialect;

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
