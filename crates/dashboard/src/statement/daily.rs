//! The `daily` design: every answer summed from the facts of each day by one statement as an ORM
//! writes it (join, group, order).

use sea_query::{Alias, Expr, ExprTrait as _, Order, Query as Select, SelectStatement};

use super::Statement;
use super::dialect::join;
use super::dimension::Dimension;
use crate::query::{Count, Query, SortBy};
use crate::schema::{Column, Dialect, Table};

/// The metrics, in the order of the columns.
const METRICS: [Column; 3] = [Column::Pageviews, Column::Sessions, Column::EngagementSeconds];

/// All rows of the answer in their order: key, label (where it differs from the key), the sums,
/// then the number of distinct articles if it was asked for.
#[must_use]
pub fn rows(query: &Query, blog_id: Option<i32>, dialect: Dialect) -> Statement {
    let dimension = Dimension::of(query.grouping, dialect);
    let mut select = facts(query, dimension.needs_articles, blog_id, dialect);
    if let Some((table, refers)) = dimension.named_by {
        let id = Expr::col((table, Column::Id));
        join(&mut select, table, id.equals(refers), dialect);
    }
    select.expr_as(dimension.key.clone(), Alias::new("key"));
    if let Some(label) = &dimension.label {
        select.expr_as(label.clone(), Alias::new("label"));
    }
    for metric in METRICS {
        select.expr_as(Expr::col((Table::Traffic, metric)).sum(), metric);
    }
    if query.count == Some(Count::Articles) {
        select.expr_as(distinct_articles(), Alias::new("articles"));
    }
    select.add_group_by([dimension.group_by.clone()]);
    let order = if query.sort.descending { Order::Desc } else { Order::Asc };
    let key = dimension.key_order(query.grouping, dialect);
    let by = match query.sort.by {
        SortBy::Pageviews => Expr::col(Column::Pageviews),
        SortBy::Sessions => Expr::col(Column::Sessions),
        SortBy::EngagementSeconds => Expr::col(Column::EngagementSeconds),
        SortBy::Label => dimension.label_order(query.grouping, dialect),
        SortBy::Key => key.clone(),
    };
    select.order_by_expr(by, order);
    if query.sort.by != SortBy::Key {
        select.order_by_expr(key, Order::Asc);
    }
    Statement::build(&select, dialect)
}

/// The number of distinct articles over all rows. Needed where an article can have traffic in
/// several rows; a second statement, because a window cannot count distinct values.
#[must_use]
pub fn all_articles(query: &Query, blog_id: Option<i32>, dialect: Dialect) -> Statement {
    let mut select = facts(query, false, blog_id, dialect);
    select.expr(distinct_articles());
    Statement::build(&select, dialect)
}

fn distinct_articles() -> Expr {
    Expr::col((Table::Traffic, Column::ArticleId)).count_distinct()
}

/// The facts of the period and the blog, with their articles where something asks for them.
fn facts(
    query: &Query,
    needs_articles: bool,
    blog_id: Option<i32>,
    dialect: Dialect,
) -> SelectStatement {
    let (start, end) = (query.period.start().number(), query.period.end().number());
    let mut select = Select::select()
        .from(Table::Traffic)
        .and_where(Expr::col((Table::Traffic, Column::Day)).between(start, end))
        .take();
    if needs_articles || blog_id.is_some() {
        let article = Expr::col((Table::Articles, Column::Id));
        let refers = (Table::Traffic, Column::ArticleId);
        join(&mut select, Table::Articles, article.equals(refers), dialect);
    }
    if let Some(blog_id) = blog_id {
        select.and_where(Expr::col((Table::Articles, Column::BlogId)).eq(blog_id));
    }
    select
}
