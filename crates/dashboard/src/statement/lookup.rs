//! The look-up of the keys of filters.

use sea_query::{Expr, ExprTrait as _, Query};

use super::Statement;
use crate::database::Dialect;
use crate::query::{Field, Filter};
use crate::schema::{Column, Table};

/// Key and id of every key of `filter` that exists.
#[must_use]
pub fn ids(filter: &Filter, dialect: Dialect) -> Statement {
    let (table, key) = match filter.field {
        Field::Blog => (Table::Blogs, Column::Name),
        Field::Author => (Table::Authors, Column::Name),
        Field::Team => (Table::Teams, Column::Name),
        Field::Product => (Table::Products, Column::Name),
        Field::Language => (Table::Languages, Column::Name),
        Field::HumanLanguage => (Table::HumanLanguages, Column::Name),
        Field::Country => (Table::Countries, Column::Code),
        Field::Article => (Table::Articles, Column::Uuid),
    };
    let statement = Query::select()
        .columns([key, Column::Id])
        .from(table)
        .and_where(Expr::col(key).is_in(filter.keys.iter().map(String::as_str)))
        .take();
    Statement::build(&statement, dialect)
}
