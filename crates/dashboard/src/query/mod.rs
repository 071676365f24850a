//! A question asked of the dashboard: the query API's parameters as typed values.
//! What is wrong with a request is found here, so that everything behind works on valid values.

mod day;
mod grouping;
mod parameter;
mod refusal;
mod sort;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use day::{Day, Period};
pub use grouping::Grouping;
pub use refusal::Refusal;
pub(crate) use refusal::{clipped, quoted};
pub use sort::{Sort, SortBy};

/// One question. Serialised, it is the `query` of the answer: what was asked, with its defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Query {
    /// What each row stands for.
    pub grouping: Grouping,
    /// The days that count.
    #[serde(flatten)]
    pub period: Period,
    /// Only this blog; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blog: Option<String>,
    /// What is counted beside the sums.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Count>,
    /// The order of the rows; ties by key.
    pub sort: Sort,
    /// At most so many rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// So many rows are left out first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The form of the answer.
    #[serde(skip)]
    pub format: Format,
}

/// What can be counted beside the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Count {
    /// Distinct articles with traffic.
    Articles,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Query, totals and rows.
    #[default]
    Json,
    /// The rows under a header line.
    Csv,
}

impl Query {
    /// Reads the parameters of a request, each at most once.
    ///
    /// # Errors
    /// The first parameter that is missing, unknown, given twice or has an impossible value.
    pub fn parse(grouping: Grouping, pairs: &[(String, String)]) -> Result<Self, Refusal> {
        let given = parameter::Parameters::check(pairs)?;
        let start = given.required("start")?;
        let end = given.required("end")?;
        Ok(Self {
            grouping,
            period: Period::new(start, end)?,
            blog: given.get("blog").map(blog_name).transpose()?,
            count: given.one_of("count", &[("articles", Count::Articles)])?,
            sort: given.read("sort", Sort::read)?.unwrap_or_default(),
            limit: given.read("limit", parameter::whole_number)?,
            offset: given.read("offset", parameter::whole_number)?,
            format: given
                .one_of("format", &[("json", Format::Json), ("csv", Format::Csv)])?
                .unwrap_or_default(),
        })
    }
}

/// PostgreSQL refuses a NUL in any text, so no blog can have one in its name.
fn blog_name(text: &str) -> Result<String, Refusal> {
    let name = text.to_owned();
    if name.contains('\0') { Err(Refusal::UnknownBlog { name }) } else { Ok(name) }
}
