//! Rows of an answer: their sums, and their written form.

use serde::Serialize;

use crate::query::{DistinctCount, Query};

/// One row as it came from the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerRow<'a> {
    /// Names the row for programs.
    pub key: &'a str,
    /// Names the row for people.
    pub label: &'a str,
    /// The ISO code of its country, if rows are split.
    pub country: Option<&'a str>,
    pub sums: RowSums,
    /// Rows of the database that were added up.
    pub rows_read: i64,
}

/// Sums over a row or over all rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RowSums {
    pub pageviews: i64,
    pub sessions: i64,
    pub engagement_seconds: i64,
    /// Distinct articles with traffic, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub articles: Option<i64>,
}

impl RowSums {
    pub(super) fn zero(query: &Query) -> Self {
        Self { articles: query.count.map(|DistinctCount::Articles| 0), ..Self::default() }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.pageviews += other.pageviews;
        self.sessions += other.sessions;
        self.engagement_seconds += other.engagement_seconds;
        if let (Some(total), Some(articles)) = (&mut self.articles, other.articles) {
            *total += articles;
        }
    }
}

/// Sums with those of the earlier period beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct ComparedSums {
    #[serde(flatten)]
    pub sums: RowSums,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<RowSums>,
}

/// A row as written: the names of its fields are the contract's.
#[derive(Serialize)]
pub(super) struct WrittenRow<'a> {
    pub key: &'a str,
    pub label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<&'a str>,
    pub pageviews: i64,
    pub sessions: i64,
    pub engagement_seconds: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub articles: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<RowSums>,
}
