//! The statement of an answer in the `daily` design, as an ORM writes it: join, group, order, over
//! the facts of each day.

use sea_query::{
    Alias, Asterisk, Expr, ExprTrait as _, Func, IntoTableRef as _, Order, Query as Select,
    SelectStatement,
};

use super::dialect::{by_bytes, join};
use super::grouped_by::GroupedBy;
use super::{Conditions, QueryStatement};
use crate::database::SqlDialect;
use crate::query::{DistinctCount, Period, Query, SortBy, Split, Translations};
use crate::schema::{Column, Table};

/// The metrics, in the order of the columns.
const METRICS: [Column; 3] = [Column::Pageviews, Column::Sessions, Column::EngagementSeconds];

/// All rows of the answer in their order: key, label (where it differs from the key), the sums, the
/// number of rows summed. The number of distinct articles and the country's code follow if the query
/// has them.
#[must_use]
pub fn rows(
    query: &Query,
    period: Period,
    conditions: &Conditions,
    dialect: SqlDialect,
) -> QueryStatement {
    let grouped = GroupedBy::of(query.grouping, dialect);
    let mut select = traffic(query, period, grouped.needs_articles, conditions, dialect);
    if let Some((table, refers)) = grouped.named_by {
        let id = Expr::col((table, Column::Id));
        join(&mut select, table, id.equals(refers), dialect);
    }
    if query.split == Some(Split::Country) {
        let id = Expr::col((Table::Countries, Column::Id));
        let refers = (Table::Traffic, Column::CountryId);
        join(&mut select, Table::Countries, id.equals(refers), dialect);
    }
    select.expr_as(grouped.key.clone(), Alias::new("key"));
    if let Some(label) = &grouped.label {
        select.expr_as(label.clone(), Alias::new("label"));
    }
    for metric in METRICS {
        select.expr_as(Expr::col((Table::Traffic, metric)).sum(), metric);
    }
    select.expr_as(Expr::col(Asterisk).count(), Alias::new("rows_read"));
    if query.count == Some(DistinctCount::Articles) {
        select.expr_as(distinct_articles(query), Alias::new("articles"));
    }
    select.add_group_by([grouped.group_by.clone()]);
    if query.split == Some(Split::Country) {
        select.expr_as(Expr::col((Table::Countries, Column::Code)), Alias::new("country"));
        select.add_group_by([Expr::col((Table::Countries, Column::Id))]);
    }
    order(&mut select, query, &grouped, dialect);
    QueryStatement::build(&select, dialect)
}

/// The order that was asked for; ties by key, then by country.
fn order(select: &mut SelectStatement, query: &Query, grouped: &GroupedBy, dialect: SqlDialect) {
    let order = if query.sort.descending { Order::Desc } else { Order::Asc };
    let key = grouped.key_order(query.grouping, dialect);
    let by = match query.sort.by {
        SortBy::Pageviews => Expr::col(Column::Pageviews),
        SortBy::Sessions => Expr::col(Column::Sessions),
        SortBy::EngagementSeconds => Expr::col(Column::EngagementSeconds),
        SortBy::Label => grouped.label_order(query.grouping, dialect),
        SortBy::Key => key.clone(),
    };
    select.order_by_expr(by, order);
    if query.sort.by != SortBy::Key {
        select.order_by_expr(key, Order::Asc);
    }
    if query.split == Some(Split::Country) {
        let code = Expr::col((Table::Countries, Column::Code));
        select.order_by_expr(by_bytes(code, dialect), Order::Asc);
    }
}

/// The number of distinct articles over all rows. Needed where an article can have traffic in
/// several rows; a second statement, because a window cannot count distinct values.
#[must_use]
pub fn all_articles(
    query: &Query,
    period: Period,
    conditions: &Conditions,
    dialect: SqlDialect,
) -> QueryStatement {
    let mut select = traffic(query, period, false, conditions, dialect);
    select.expr(distinct_articles(query));
    QueryStatement::build(&select, dialect)
}

fn distinct_articles(query: &Query) -> Expr {
    let article = match query.translations {
        Translations::Separate => (Table::Traffic, Column::ArticleId),
        Translations::Grouped => (Table::Articles, Column::Id),
    };
    Expr::col(article).count_distinct()
}

/// The rows that count, with their articles where something asks for them.
fn traffic(
    query: &Query,
    period: Period,
    needs_articles: bool,
    conditions: &Conditions,
    dialect: SqlDialect,
) -> SelectStatement {
    let day = Expr::col((Table::Traffic, Column::Day));
    let mut select = Select::select()
        .from(Table::Traffic)
        .and_where(day.between(period.start().number(), period.end().number()))
        .take();
    let refers = (Table::Traffic, Column::ArticleId);
    match query.translations {
        Translations::Grouped => originals(&mut select, refers, dialect),
        Translations::Separate if needs_articles || conditions.need_articles() => {
            let article = Expr::col((Table::Articles, Column::Id));
            join(&mut select, Table::Articles, article.equals(refers), dialect);
        }
        Translations::Separate => {}
    }
    conditions.add_to(&mut select);
    select
}

/// Joins to each fact the original of its article, which then stands for it in every respect. An
/// original is its own; a translation of a translation does not exist in this schema.
fn originals(select: &mut SelectStatement, refers: (Table, Column), dialect: SqlDialect) {
    let own = Alias::new("own_article");
    let id = Expr::col((own.clone(), Column::Id));
    let own_articles = Table::Articles.into_table_ref().alias(own.clone());
    join(select, own_articles, id.equals(refers), dialect);
    let original = Func::coalesce([
        Expr::col((own.clone(), Column::OriginalId)),
        Expr::col((own, Column::Id)),
    ]);
    let id = Expr::col((Table::Articles, Column::Id));
    join(select, Table::Articles, id.eq(original), dialect);
}
