//! The statements over the API keys: only their hashes are ever read or written.

use sea_query::{Expr, ExprTrait as _, Func, Order, Query};

use super::Statement;
use crate::schema::{Column, Dialect, Table};

/// The hashes of all keys that are not revoked.
#[must_use]
pub fn valid_hashes(dialect: Dialect) -> Statement {
    let statement = Query::select()
        .column(Column::KeyHash)
        .from(Table::ApiKeys)
        .and_where(Expr::col(Column::RevokedAt).is_null())
        .take();
    Statement::build(&statement, dialect)
}

/// Adds a key under the next free number.
#[must_use]
pub fn add(name: &str, hash: &str, created_at: i32, dialect: Dialect) -> Statement {
    let last_id = Func::coalesce([Expr::col(Column::Id).max(), Expr::val(0)]);
    let values = Query::select()
        .expr(Expr::expr(last_id).add(1))
        .expr(Expr::val(name))
        .expr(Expr::val(hash))
        .expr(Expr::val(created_at))
        .from(Table::ApiKeys)
        .take();
    let mut insert = Query::insert();
    insert.into_table(Table::ApiKeys).columns([
        Column::Id,
        Column::Name,
        Column::KeyHash,
        Column::CreatedAt,
    ]);
    // Fails only if columns and values differ in number.
    let _ = insert.select_from(values);
    Statement::build(&insert, dialect)
}

/// Name, time of creation and of revocation of every key, in the order of creation.
#[must_use]
pub fn list(dialect: Dialect) -> Statement {
    let statement = Query::select()
        .columns([Column::Name, Column::CreatedAt, Column::RevokedAt])
        .from(Table::ApiKeys)
        .order_by(Column::Id, Order::Asc)
        .take();
    Statement::build(&statement, dialect)
}

/// Revokes the key of that name, unless it is revoked already; says how many rows it changed.
#[must_use]
pub fn revoke(name: &str, revoked_at: i32, dialect: Dialect) -> Statement {
    let statement = Query::update()
        .table(Table::ApiKeys)
        .value(Column::RevokedAt, revoked_at)
        .and_where(Expr::col(Column::Name).eq(name))
        .and_where(Expr::col(Column::RevokedAt).is_null())
        .take();
    Statement::build(&statement, dialect)
}
