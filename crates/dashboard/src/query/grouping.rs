//! The thirteen groupings of rows: eight by a dimension, five by time.

use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::schema::Dimension;

/// The subject of a row of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToSchema)]
#[schema(rename_all = "snake_case")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Grouping {
    Articles,
    Days,
    Weeks,
    Months,
    Years,
    Products,
    Teams,
    Authors,
    Languages,
    HumanLanguages,
    Countries,
    /// By the year of publication.
    ArticleYears,
    Blogs,
}

/// The kind of a grouping's keys: values of a dimension, or spans of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupingKind {
    Dimension(Dimension),
    Days,
    Weeks,
    Months,
    Years,
    /// By the year of publication.
    ArticleYears,
}

impl Grouping {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The grouping of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|grouping| grouping.name() == name)
    }

    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    #[must_use]
    pub const fn kind(self) -> GroupingKind {
        match self {
            Self::Days => GroupingKind::Days,
            Self::Weeks => GroupingKind::Weeks,
            Self::Months => GroupingKind::Months,
            Self::Years => GroupingKind::Years,
            Self::ArticleYears => GroupingKind::ArticleYears,
            Self::Articles => GroupingKind::Dimension(Dimension::Article),
            Self::Products => GroupingKind::Dimension(Dimension::Product),
            Self::Teams => GroupingKind::Dimension(Dimension::Team),
            Self::Authors => GroupingKind::Dimension(Dimension::Author),
            Self::Languages => GroupingKind::Dimension(Dimension::Language),
            Self::HumanLanguages => GroupingKind::Dimension(Dimension::HumanLanguage),
            Self::Countries => GroupingKind::Dimension(Dimension::Country),
            Self::Blogs => GroupingKind::Dimension(Dimension::Blog),
        }
    }

    /// Whether an article belongs to exactly one row, so that counts of distinct articles add up.
    #[must_use]
    pub fn partitions_articles(self) -> bool {
        match self.kind() {
            GroupingKind::Dimension(dimension) => dimension.place().is_of_articles(),
            GroupingKind::ArticleYears => true,
            GroupingKind::Days
            | GroupingKind::Weeks
            | GroupingKind::Months
            | GroupingKind::Years => false,
        }
    }
}

impl Serialize for Grouping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
