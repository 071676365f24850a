//! The writer of an answer: each row goes into the bytes of the body as it arrives, so no row is
//! held as a value of its own.

use serde::Serialize;

use crate::query::{AnswerFormat, DistinctCount, Query};

use super::{AnswerDesign, Earlier, Error, csv, json};
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
    /// WrittenRows of the database that were added up.
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
    sums: RowSums,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<RowSums>,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryAnswer {
    pub content_type: &'static str,
    /// The bytes; nothing in them varies between engines or repetitions.
    pub body: Vec<u8>,
    /// WrittenRows of the database that were added up.
    pub rows_read: i64,
    pub design: AnswerDesign,
}

/// An answer in the making. WrittenRows are pushed in their order; offset and limit are applied here,
/// where the totals over all rows are known anyway.
#[derive(Debug)]
pub struct AnswerWriter {
    query: Query,
    totals: RowSums,
    row_count: u64,
    rows_read: i64,
    rows: WrittenRows,
    earlier: Option<Earlier>,
}

#[derive(Debug)]
enum WrittenRows {
    Json(json::JsonRows),
    Csv(Box<csv::CsvRows>),
}

impl AnswerWriter {
    /// An answer to `query` without rows as yet. `earlier` holds the rows of the period that it
    /// is compared with, if it is.
    pub fn new(query: Query, earlier: Option<Earlier>) -> Result<Self, Error> {
        let rows = match query.format {
            AnswerFormat::Json => WrittenRows::Json(json::JsonRows::default()),
            AnswerFormat::Csv => WrittenRows::Csv(Box::new(csv::CsvRows::new(&query)?)),
        };
        let rows_read = earlier.as_ref().map_or(0, |earlier| earlier.rows_read);
        Ok(Self { totals: RowSums::zero(&query), query, row_count: 0, rows_read, rows, earlier })
    }

    pub fn push(&mut self, row: &AnswerRow<'_>) -> Result<(), Error> {
        self.totals.add(&row.sums);
        self.rows_read += row.rows_read;
        let place = self.row_count;
        self.row_count += 1;
        let offset = self.query.offset.unwrap_or(0);
        let past_limit =
            self.query.limit.is_some_and(|limit| place >= offset.saturating_add(limit));
        if place < offset || past_limit {
            return Ok(());
        }
        let RowSums { pageviews, sessions, engagement_seconds, articles } = row.sums;
        let written = WrittenRow {
            key: row.key,
            label: row.label,
            country: row.country,
            pageviews,
            sessions,
            engagement_seconds,
            articles,
            previous: self.earlier.as_ref().map(|earlier| earlier.beside(row)),
        };
        match &mut self.rows {
            WrittenRows::Json(rows) => rows.push(&written),
            WrittenRows::Csv(rows) => rows.push(&written),
        }
    }

    /// Replaces the sum of the rows' counts where articles are in several rows.
    pub fn set_total_articles(&mut self, articles: i64) {
        self.totals.articles = Some(articles);
    }

    /// The finished answer, whose rows came from `design`.
    pub fn finish(self, design: AnswerDesign) -> Result<QueryAnswer, Error> {
        let rows_read = self.rows_read;
        let totals = ComparedSums {
            sums: self.totals,
            previous: self.earlier.map(|earlier| earlier.totals),
        };
        let (content_type, body) = match self.rows {
            WrittenRows::Json(rows) => {
                ("application/json", rows.finish(&self.query, &totals, self.row_count)?)
            }
            WrittenRows::Csv(rows) => ("text/csv; charset=utf-8", rows.finish()?),
        };
        Ok(QueryAnswer { content_type, body, rows_read, design })
    }
}
