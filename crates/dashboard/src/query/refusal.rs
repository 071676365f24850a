//! Refusals of a query: always an error of the request that names its parameter (HTTP 400).

use super::{Day, FILTER_VALUES_MAX};

/// Errors of a request's parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryRefusal {
    /// A parameter that has to be given.
    #[error("{name} is required: a date such as 2021-01-31")]
    Missing { name: &'static str },
    /// A parameter that the API does not have.
    #[error("there is no parameter {}{suggestion}", quoted(name))]
    Unknown {
        name: String,
        /// ` (did you mean ...?)` or nothing.
        suggestion: String,
    },
    /// A parameter that may be given once only.
    #[error("{name} is given twice")]
    Twice { name: String },
    /// A date that is none.
    #[error(
        "{name} is not a date: {}; write it as 2021-01-31 (0001-01-01 to 9999-12-31)",
        quoted(value)
    )]
    NotADate { name: &'static str, value: String },
    /// A period that ends before it starts.
    #[error("end ({end}) is before start ({start}); both days count")]
    EndBeforeStart { start: Day, end: Day },
    /// A value that the parameter does not take.
    #[error("{name} cannot be {}; it is {expected}", quoted(value))]
    Value { name: &'static str, value: String, expected: String },
    /// Days of publication that end before they start.
    #[error("{to} ({last}) is before {from} ({first}); both days count")]
    ToBeforeFrom {
        /// The parameter of the first day.
        from: &'static str,
        /// The parameter of the last day.
        to: &'static str,
        first: Day,
        last: Day,
    },
    /// A key that is not in the database.
    #[error("{name} names {}, which is not there; {} lists what is", quoted(key), listing(name))]
    UnknownKey { name: &'static str, key: String },
    /// More filter values than a statement can hold.
    #[error("{count} filter values are too many; at most {FILTER_VALUES_MAX} are taken")]
    TooManyValues { count: usize },
    #[error("split=country splits each row by country, and /api/query/countries has no other")]
    SplitTwice,
    #[error(
        "states=1 adds the states of days beside the rows, and format=csv has rows only; leave one of them out"
    )]
    StatesInCsv,
    /// A period of comparison before the calendar begins.
    #[error("compare needs an earlier period, and that one would begin before 0001-01-01")]
    NothingEarlier,
}

/// The route that lists the keys of a filter's dimension.
fn listing(parameter: &str) -> String {
    format!("/api/values/{}", parameter.strip_prefix("not_").unwrap_or(parameter))
}

impl QueryRefusal {
    /// The parameter that is at fault.
    #[must_use]
    pub fn parameter(&self) -> &str {
        match self {
            Self::Missing { name }
            | Self::NotADate { name, .. }
            | Self::Value { name, .. }
            | Self::UnknownKey { name, .. }
            | Self::ToBeforeFrom { to: name, .. } => name,
            Self::Unknown { name, .. } | Self::Twice { name } => name,
            Self::EndBeforeStart { .. } => "end",
            Self::TooManyValues { .. } => "filters",
            Self::SplitTwice => "split",
            Self::StatesInCsv => "states",
            Self::NothingEarlier => "compare",
        }
    }
}

/// A client's text in quotes, control characters escaped, cut where it is very long.
pub(crate) fn quoted(text: &str) -> String {
    let shown = clipped(text);
    if shown.len() < text.len() { format!("{shown:?} and so on") } else { format!("{text:?}") }
}

/// The beginning of a client's text.
pub(crate) fn clipped(text: &str) -> String {
    const LONGEST_CHARACTERS: usize = 80;
    text.chars().take(LONGEST_CHARACTERS).collect()
}
