//! The small statements around a question: what a filter's key stands for, and whether the
//! database answers at all.

use sea_query::{Expr, ExprTrait as _, Query};

use super::Statement;
use crate::schema::{Column, Dialect, Table};

/// `id` of the blog of that name; no row if there is none.
#[must_use]
pub fn blog_id(name: &str, dialect: Dialect) -> Statement {
    let statement = Query::select()
        .column(Column::Id)
        .from(Table::Blogs)
        .and_where(Expr::col(Column::Name).eq(name))
        .take();
    Statement::build(&statement, dialect)
}

/// A row that every dashboard has: reading it shows that the database answers.
#[must_use]
pub fn any_row(dialect: Dialect) -> Statement {
    let statement = Query::select().column(Column::Version).from(Table::SchemaVersion).take();
    Statement::build(&statement, dialect)
}
