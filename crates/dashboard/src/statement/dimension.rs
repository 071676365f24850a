//! Where a grouping lies in the schema: what is joined, what is grouped by, what key and label
//! are.

use sea_query::{Expr, ExprTrait as _};

use super::dialect::{Span, by_bytes, constant};
use crate::database::Dialect;
use crate::query::Grouping;
use crate::schema::{Column, Table};

/// A grouping as parts of a statement over `traffic`.
pub(super) struct Dimension {
    /// The table that names the key: its `id` equals the column of the table given here.
    pub named_by: Option<(Table, (Table, Column))>,
    /// Whether the articles are needed to get there.
    pub needs_articles: bool,
    /// What rows with one key have in common.
    pub group_by: Expr,
    /// The key: text, or for days and weeks the day's number.
    pub key: Expr,
    /// The label, where it is not the key itself.
    pub label: Option<Expr>,
}

impl Dimension {
    pub(super) fn of(grouping: Grouping, dialect: Dialect) -> Self {
        let articles = Table::Articles;
        let day = || Expr::col((Table::Traffic, Column::Day));
        match grouping {
            Grouping::Articles => Self {
                named_by: None,
                needs_articles: true,
                group_by: Expr::col((Table::Articles, Column::Id)),
                key: Expr::col((Table::Articles, Column::Uuid)),
                label: Some(Expr::col((Table::Articles, Column::Title))),
            },
            Grouping::Days => Self::computed(day(), false),
            Grouping::Weeks => Self::computed(monday(day()), false),
            Grouping::Months => Self::span(Span::Month, day(), false, dialect),
            Grouping::Years => Self::span(Span::Year, day(), false, dialect),
            Grouping::ArticleYears => {
                let published = Expr::col((articles, Column::Published));
                Self::span(Span::Year, published, true, dialect)
            }
            Grouping::Countries => Self {
                named_by: Some((Table::Countries, (Table::Traffic, Column::CountryId))),
                needs_articles: false,
                group_by: Expr::col((Table::Countries, Column::Id)),
                key: Expr::col((Table::Countries, Column::Code)),
                label: Some(Expr::col((Table::Countries, Column::Name))),
            },
            Grouping::Products => Self::names(Table::Products, (articles, Column::ProductId)),
            Grouping::Teams => Self::names(Table::Teams, (articles, Column::TeamId)),
            Grouping::Authors => Self::names(Table::Authors, (articles, Column::AuthorId)),
            Grouping::Languages => Self::names(Table::Languages, (articles, Column::LanguageId)),
            Grouping::HumanLanguages => {
                Self::names(Table::HumanLanguages, (articles, Column::HumanLanguageId))
            }
            Grouping::Blogs => Self::names(Table::Blogs, (articles, Column::BlogId)),
        }
    }

    /// Grouped by the number, not the name: shorter keys to sort, and as an ORM groups entities.
    fn names(table: Table, refers: (Table, Column)) -> Self {
        Self {
            named_by: Some((table, refers)),
            needs_articles: true,
            group_by: Expr::col((table, Column::Id)),
            key: Expr::col((table, Column::Name)),
            label: None,
        }
    }

    fn computed(key: Expr, needs_articles: bool) -> Self {
        Self { named_by: None, needs_articles, group_by: key.clone(), key, label: None }
    }

    fn span(span: Span, day: Expr, needs_articles: bool, dialect: Dialect) -> Self {
        let (group_by, key) = span.of(day, dialect);
        Self { group_by, ..Self::computed(key, needs_articles) }
    }

    /// The key as rows are ordered by it: numbers as numbers, text by its bytes.
    pub(super) fn key_order(&self, grouping: Grouping, dialect: Dialect) -> Expr {
        if key_is_day(grouping) { self.key.clone() } else { by_bytes(self.key.clone(), dialect) }
    }

    /// The label as rows are ordered by it.
    pub(super) fn label_order(&self, grouping: Grouping, dialect: Dialect) -> Expr {
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
    matches!(grouping, Grouping::Articles | Grouping::Countries)
}

/// The Monday of the ISO week. 1970-01-01 was a Thursday, three days after one; the remainder is
/// brought to 0..7 because both engines give negative ones for days before that.
fn monday(day: Expr) -> Expr {
    let seven = || constant("7");
    let weekday = day.clone().add(constant("3")).modulo(seven()).add(seven()).modulo(seven());
    day.sub(weekday)
}
