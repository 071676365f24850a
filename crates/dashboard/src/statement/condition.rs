//! Filters as conditions of a statement: their keys are ids by then.

use sea_query::{Expr, ExprTrait as _, SelectStatement};

use crate::query::{Day, Filters, Publication};
use crate::schema::{Column, Dimension, Table};

/// The filters of a question with their keys looked up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    /// By the values of dimensions.
    pub values: Vec<Condition>,
    pub published: Publication,
    pub not_published: Publication,
    pub not_days: Vec<Day>,
}

/// One filter with the ids that its keys stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub dimension: Dimension,
    /// Whether the values are left out instead of let in.
    pub exclude: bool,
    pub ids: Vec<i32>,
}

impl Conditions {
    /// The conditions of `filters`, whose values have the ids `ids`, in the same order.
    #[must_use]
    pub fn new(filters: &Filters, ids: Vec<Vec<i32>>) -> Self {
        let with_ids = filters.values.iter().zip(ids);
        Self {
            values: with_ids
                .map(|(filter, ids)| Condition {
                    dimension: filter.dimension,
                    exclude: filter.exclude,
                    ids,
                })
                .collect(),
            published: filters.published,
            not_published: filters.not_published,
            not_days: filters.not_days.clone(),
        }
    }

    /// Whether one of them looks at an article's own columns.
    pub(super) fn need_articles(&self) -> bool {
        self.values.iter().any(|condition| condition.dimension.place().is_of_articles())
            || !self.published.is_open()
            || !self.not_published.is_open()
    }

    /// Adds them all to a statement over `traffic` and `articles`.
    pub(super) fn add_to(&self, select: &mut SelectStatement) {
        for condition in &self.values {
            let column = Expr::col(condition.dimension.place().refers);
            let ids = condition.ids.iter().copied();
            select.and_where(if condition.exclude {
                column.is_not_in(ids)
            } else {
                column.is_in(ids)
            });
        }
        if !self.not_days.is_empty() {
            let day = Expr::col((Table::Traffic, Column::Day));
            select.and_where(day.is_not_in(self.not_days.iter().map(|day| day.number())));
        }
        for within in within(self.published) {
            select.and_where(within);
        }
        if let Some(inside) = within(self.not_published).into_iter().reduce(Expr::and) {
            select.and_where(inside.not());
        }
    }
}

fn within(publication: Publication) -> Vec<Expr> {
    let published = || Expr::col((Table::Articles, Column::Published));
    let from = publication.from.map(Day::number).map(|day| published().gte(day));
    let to = publication.to.map(Day::number).map(|day| published().lte(day));
    from.into_iter().chain(to).collect()
}
