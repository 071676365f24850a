//! The look-up of the keys of filters.

use sea_query::{Expr, ExprTrait as _, Query};

use super::QueryStatement;
use crate::database::SqlDialect;
use crate::query::DimensionFilter;
use crate::schema::{Column, DimensionPlace};

/// Key and id of every key of `filter` that exists.
#[must_use]
pub fn ids(filter: &DimensionFilter, dialect: SqlDialect) -> QueryStatement {
    let DimensionPlace { table, key, .. } = filter.dimension.place();
    let statement = Query::select()
        .columns([key, Column::Id])
        .from(table)
        .and_where(Expr::col(key).is_in(filter.keys.iter().map(String::as_str)))
        .take();
    QueryStatement::build(&statement, dialect)
}
