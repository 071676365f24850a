//! The look-up of the keys of filters.

use sea_query::{Expr, ExprTrait as _, Query};

use super::Statement;
use crate::database::Dialect;
use crate::query::Filter;
use crate::schema::{Column, DimensionPlace};

/// Key and id of every key of `filter` that exists.
#[must_use]
pub fn ids(filter: &Filter, dialect: Dialect) -> Statement {
    let DimensionPlace { table, key, .. } = filter.dimension.place();
    let statement = Query::select()
        .columns([key, Column::Id])
        .from(table)
        .and_where(Expr::col(key).is_in(filter.keys.iter().map(String::as_str)))
        .take();
    Statement::build(&statement, dialect)
}
