//! The thirteen groupings: what a row of an answer stands for. A further one is a variant, its
//! name in [`Grouping::ALL`] and its place in the schema in `statement/dimension.rs`.

use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// What a row of the answer stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToSchema)]
#[schema(rename_all = "snake_case")]
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

impl Grouping {
    /// Every grouping with its name in the API, in the order of the contract.
    pub const ALL: [(&'static str, Self); 13] = [
        ("articles", Self::Articles),
        ("days", Self::Days),
        ("weeks", Self::Weeks),
        ("months", Self::Months),
        ("years", Self::Years),
        ("products", Self::Products),
        ("teams", Self::Teams),
        ("authors", Self::Authors),
        ("languages", Self::Languages),
        ("human_languages", Self::HumanLanguages),
        ("countries", Self::Countries),
        ("article_years", Self::ArticleYears),
        ("blogs", Self::Blogs),
    ];

    /// The grouping of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, grouping)| grouping)
    }

    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        let known = Self::ALL.into_iter().find(|(_, grouping)| *grouping == self);
        known.map_or("", |(name, _)| name)
    }

    /// Whether an article belongs to exactly one row, so that counts of distinct articles add up.
    #[must_use]
    pub fn partitions_articles(self) -> bool {
        !matches!(self, Self::Days | Self::Weeks | Self::Months | Self::Years | Self::Countries)
    }
}

impl Serialize for Grouping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
