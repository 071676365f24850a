//! Kinds of totals, and the pages of them that the table `totals` holds.
//!
//! A row of the table is one page of totals (see `page`): of one kind, over one span of days.
//!
//! | kind | a total for each | of days | of months | of years |
//! |---|---|---|---|---|
//! | `BlogCountry` | blog and country | x | x | x |
//! | `Article` | article | | x | x |
//! | `ArticleCountry` | article and country | x | x | |
//!
//! An article's totals of a day are the sum over its countries, so they need no page; those of a
//! year with the country are as quickly added up from its months. Rows instead of pages were tried
//! first: they need three times the room and a hundred times as many writes for an import.

use super::calendar::Grain;

/// The two parts of a total's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum TotalsKind {
    BlogCountry,
    /// Article; the other part is 0.
    Article,
    ArticleCountry,
}

impl TotalsKind {
    /// Its number in the table.
    pub fn number(self) -> i32 {
        match self {
            Self::BlogCountry => 0,
            Self::Article => 1,
            Self::ArticleCountry => 2,
        }
    }

    /// The kind to read for totals of this kind over spans of `grain`.
    pub fn kept_as(self, grain: Grain) -> Self {
        match (self, grain) {
            (Self::Article, Grain::Day) => Self::ArticleCountry,
            _ => self,
        }
    }

    /// The lengths of span that totals of this kind can be read for, from long to short.
    pub fn grains(self) -> &'static [Grain] {
        match self {
            Self::ArticleCountry => &[Grain::Month, Grain::Day],
            _ => &[Grain::Year, Grain::Month, Grain::Day],
        }
    }
}

/// All pages that are kept.
pub(crate) const KEPT: [(TotalsKind, Grain); 7] = [
    (TotalsKind::BlogCountry, Grain::Day),
    (TotalsKind::BlogCountry, Grain::Month),
    (TotalsKind::BlogCountry, Grain::Year),
    (TotalsKind::Article, Grain::Month),
    (TotalsKind::Article, Grain::Year),
    (TotalsKind::ArticleCountry, Grain::Day),
    (TotalsKind::ArticleCountry, Grain::Month),
];

/// The number of a length in the table.
pub(crate) fn grain_number(grain: Grain) -> i32 {
    match grain {
        Grain::Day => 0,
        Grain::Month => 1,
        Grain::Year => 2,
    }
}
