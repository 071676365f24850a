//! A query of the API: its parameters as typed values. All errors of a request are found here, so
//! the code behind works on valid values.

mod comparison;
mod day;
mod filter;
mod grouping;
mod parameter;
mod refusal;
mod sort;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use comparison::{Pairing, PeriodComparison};
pub use day::{Day, Period};
pub use filter::{DimensionFilter, FILTER_VALUES_MAX, Filters, Publication};
pub use grouping::{Grouping, GroupingKind};
pub use refusal::QueryRefusal;
pub(crate) use refusal::{clipped, quoted};
pub use sort::{Sort, SortBy};

/// One question. Serialised, it is the `query` of the answer: what was asked, with its defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Query {
    pub grouping: Grouping,
    #[serde(flatten)]
    pub period: Period,
    #[serde(flatten)]
    pub filters: Filters,
    #[serde(skip_serializing_if = "Translations::is_separate")]
    pub translations: Translations,
    /// A second breakdown of each row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// An earlier period beside this one.
    #[serde(rename = "compare", skip_serializing_if = "Option::is_none")]
    pub comparison: Option<PeriodComparison>,
    /// A count beside the sums.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<DistinctCount>,
    /// Whether the states of days are beside the rows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub states: bool,
    /// The order of the rows; ties by key.
    pub sort: Sort,
    /// The most rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Rows left out first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The form of the answer.
    #[serde(skip)]
    pub format: AnswerFormat,
}

/// Counts beside the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum DistinctCount {
    Articles,
}

/// The article that a translation's traffic counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Translations {
    /// The translation itself, an article like any other.
    #[default]
    Separate,
    /// Its original, in every respect: its author, its team, its language, its publication.
    Grouped,
}

impl Translations {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    fn is_separate(&self) -> bool {
        *self == Self::Separate
    }
}

/// A second breakdown of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Split {
    /// One row for each country.
    Country,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum AnswerFormat {
    #[default]
    Json,
    /// The rows under a header line.
    Csv,
}

impl Query {
    /// Reads the parameters of a request; those of filters may be repeated.
    pub fn parse(grouping: Grouping, pairs: &[(String, String)]) -> Result<Self, QueryRefusal> {
        let given = parameter::ParameterValues::check(pairs)?;
        let period = Period::new(given.required("start")?, given.required("end")?)?;
        let allows_unknown = given.read("unknown_values", parameter::only("allowed"))?;
        let mut filters = Filters::read(pairs, allows_unknown.unwrap_or_default())?;
        filters.published = given.publication("published_from", "published_to")?;
        filters.not_published = given.publication("not_published_from", "not_published_to")?;
        let comparison = given.one_of::<PeriodComparison>("compare")?;
        if let Some(comparison) = comparison {
            comparison.earlier(period)?;
        }
        let split = given.one_of::<Split>("split")?;
        if split.is_some() && grouping == Grouping::Countries {
            return Err(QueryRefusal::SplitTwice);
        }
        let states = given.read("states", parameter::only("1"))?.unwrap_or_default();
        let format = given.one_of::<AnswerFormat>("format")?.unwrap_or_default();
        if states && format == AnswerFormat::Csv {
            return Err(QueryRefusal::StatesInCsv);
        }
        Ok(Self {
            grouping,
            period,
            filters,
            translations: given.one_of::<Translations>("translations")?.unwrap_or_default(),
            split,
            comparison,
            count: given.one_of::<DistinctCount>("count")?,
            states,
            sort: given.read("sort", Sort::read)?.unwrap_or_default(),
            limit: given.read("limit", parameter::whole_number)?,
            offset: given.read("offset", parameter::whole_number)?,
            format,
        })
    }

    /// Whether the number of distinct articles over all rows needs a statement of its own: where
    /// an article can have traffic in several rows.
    #[must_use]
    pub fn counts_articles_across_rows(&self) -> bool {
        self.count == Some(DistinctCount::Articles)
            && (self.split.is_some() || !self.grouping.partitions_articles())
    }
}
