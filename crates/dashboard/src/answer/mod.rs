//! The body of an answer, written while the rows arrive: each row goes into the bytes at once, so
//! that no row is ever held as a value of its own.

mod csv;
mod json;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::query::{Count, Format, Query};

/// One row as it came from the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Row<'a> {
    /// Names the row for programs.
    pub key: &'a str,
    /// Names the row for people.
    pub label: &'a str,
    /// Page views.
    pub pageviews: i64,
    /// Sessions.
    pub sessions: i64,
    /// Seconds in which somebody read.
    pub engagement_seconds: i64,
    /// Distinct articles with traffic, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub articles: Option<i64>,
}

/// The sums over all rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Page views.
    pub pageviews: i64,
    /// Sessions.
    pub sessions: i64,
    /// Seconds in which somebody read.
    pub engagement_seconds: i64,
    /// Distinct articles with traffic, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub articles: Option<i64>,
}

/// A finished answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What `body` is.
    pub content_type: &'static str,
    /// The bytes; nothing in them varies between engines or repetitions.
    pub body: Vec<u8>,
}

/// An answer in the making. Rows are pushed in their order; offset and limit are applied here,
/// where the totals over all rows are known anyway.
#[derive(Debug)]
pub struct AnswerWriter {
    query: Query,
    totals: Totals,
    row_count: u64,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Json(json::Rows),
    Csv(Box<csv::Rows>),
}

/// What can go wrong while writing into memory; not seen in practice.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the answer: {0}")]
pub struct Error(Box<dyn std::error::Error + Send + Sync>);

impl AnswerWriter {
    /// An answer to `query` without rows as yet.
    ///
    /// # Errors
    /// [`Error`].
    pub fn new(query: Query) -> Result<Self, Error> {
        let articles = query.count.map(|Count::Articles| 0);
        let rows = match query.format {
            Format::Json => Rows::Json(json::Rows::default()),
            Format::Csv => Rows::Csv(Box::new(csv::Rows::new(query.count)?)),
        };
        Ok(Self { query, totals: Totals { articles, ..Totals::default() }, row_count: 0, rows })
    }

    /// Takes the next row.
    ///
    /// # Errors
    /// [`Error`].
    pub fn push(&mut self, row: &Row<'_>) -> Result<(), Error> {
        self.totals.pageviews += row.pageviews;
        self.totals.sessions += row.sessions;
        self.totals.engagement_seconds += row.engagement_seconds;
        if let (Some(total), Some(articles)) = (&mut self.totals.articles, row.articles) {
            *total += articles;
        }
        let place = self.row_count;
        self.row_count += 1;
        let offset = self.query.offset.unwrap_or(0);
        let past_limit =
            self.query.limit.is_some_and(|limit| place >= offset.saturating_add(limit));
        if place < offset || past_limit {
            return Ok(());
        }
        match &mut self.rows {
            Rows::Json(rows) => rows.push(row),
            Rows::Csv(rows) => rows.push(row),
        }
    }

    /// Replaces the sum of the rows' counts where articles are in several rows.
    pub fn set_total_articles(&mut self, articles: i64) {
        self.totals.articles = Some(articles);
    }

    /// The finished answer.
    ///
    /// # Errors
    /// [`Error`].
    pub fn finish(self) -> Result<Answer, Error> {
        match self.rows {
            Rows::Json(rows) => Ok(Answer {
                content_type: "application/json",
                body: rows.finish(&self.query, &self.totals, self.row_count)?,
            }),
            Rows::Csv(rows) => {
                Ok(Answer { content_type: "text/csv; charset=utf-8", body: rows.finish()? })
            }
        }
    }
}
