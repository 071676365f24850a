//! A grouping as parts of a statement: joins, GROUP BY, key and label.

use sea_query::{Expr, ExprTrait as _};

use super::dialect::{Span, by_bytes, constant};
use crate::database::SqlDialect;
use crate::query::{Grouping, GroupingKind};
use crate::schema::{Column, Dimension, DimensionPlace, Table};

/// A grouping as parts of a statement over `traffic`.
pub(super) struct GroupedBy {
    /// The table that names the key: its `id` equals the column of the table given here.
    pub named_by: Option<(Table, (Table, Column))>,
    /// Whether the articles are needed to get there.
    pub needs_articles: bool,
    /// The same in all rows of one key.
    pub group_by: Expr,
    /// The key: text, or for days and weeks the day's number.
    pub key: Expr,
    /// The label, where it is not the key itself.
    pub label: Option<Expr>,
}

impl GroupedBy {
    pub(super) fn of(grouping: Grouping, dialect: SqlDialect) -> Self {
        let day = || Expr::col((Table::Traffic, Column::Day));
        match grouping.kind() {
            GroupingKind::Dimension(dimension) => Self::dimension(dimension),
            GroupingKind::Days => Self::computed(day(), false),
            GroupingKind::Weeks => Self::computed(monday(day()), false),
            GroupingKind::Months => Self::span(Span::Month, day(), false, dialect),
            GroupingKind::Years => Self::span(Span::Year, day(), false, dialect),
            GroupingKind::ArticleYears => {
                let published = Expr::col((Table::Articles, Column::Published));
                Self::span(Span::Year, published, true, dialect)
            }
        }
    }

    /// Grouped by the number, not the key: shorter keys to sort, and as an ORM groups entities.
    fn dimension(dimension: Dimension) -> Self {
        let place = dimension.place();
        let DimensionPlace { table, key, label, refers, .. } = place;
        Self {
            named_by: (table != refers.0).then_some((table, refers)),
            needs_articles: place.is_of_articles(),
            group_by: Expr::col((table, Column::Id)),
            key: Expr::col((table, key)),
            label: place.has_label().then(|| Expr::col((table, label))),
        }
    }

    fn computed(key: Expr, needs_articles: bool) -> Self {
        Self { named_by: None, needs_articles, group_by: key.clone(), key, label: None }
    }

    fn span(span: Span, day: Expr, needs_articles: bool, dialect: SqlDialect) -> Self {
        let (group_by, key) = span.of(day, dialect);
        Self { group_by, ..Self::computed(key, needs_articles) }
    }

    /// The key as rows are ordered by it: numbers as numbers, text by its bytes.
    pub(super) fn key_order(&self, grouping: Grouping, dialect: SqlDialect) -> Expr {
        if key_is_day(grouping) { self.key.clone() } else { by_bytes(self.key.clone(), dialect) }
    }

    /// The label as rows are ordered by it.
    pub(super) fn label_order(&self, grouping: Grouping, dialect: SqlDialect) -> Expr {
        match &self.label {
            Some(label) => by_bytes(label.clone(), dialect),
            None => self.key_order(grouping, dialect),
        }
    }
}

/// Whether the statement gives the key as a day's number instead of text.
pub(crate) fn key_is_day(grouping: Grouping) -> bool {
    matches!(grouping, Grouping::Days | Grouping::Weeks)
}

/// Whether the statement gives a label beside the key.
pub(super) fn has_label(grouping: Grouping) -> bool {
    match grouping.kind() {
        GroupingKind::Dimension(dimension) => dimension.place().has_label(),
        GroupingKind::Days
        | GroupingKind::Weeks
        | GroupingKind::Months
        | GroupingKind::Years
        | GroupingKind::ArticleYears => false,
    }
}

/// The Monday of the ISO week. 1970-01-01 was a Thursday, three days after one; the remainder is
/// brought to 0..7 because both engines give negative ones for days before that.
fn monday(day: Expr) -> Expr {
    let seven = || constant("7");
    let weekday = day.clone().add(constant("3")).modulo(seven()).add(seven()).modulo(seven());
    day.sub(weekday)
}
