//! Rows of the earlier period of a comparison, kept until the present rows arrive.

use std::collections::HashMap;

use super::{AnswerRow, RowSums};
use crate::query::{Pairing, Period, Query};

/// Rows of an earlier period, by the keys of the rows that they are beside.
#[derive(Debug)]
pub struct Earlier {
    pairing: Pairing,
    rows: HashMap<String, HashMap<String, RowSums>>,
    zero: RowSums,
    /// Over all rows, also those that are beside none.
    pub(super) totals: RowSums,
    pub(super) rows_read: i64,
}

impl Earlier {
    /// No rows as yet of the period `earlier`.
    #[must_use]
    pub fn new(query: &Query, earlier: Period) -> Self {
        let zero = RowSums::zero(query);
        Self {
            pairing: Pairing::of(query.grouping, query.period, earlier),
            rows: HashMap::new(),
            zero,
            totals: zero,
            rows_read: 0,
        }
    }

    pub fn push(&mut self, row: &AnswerRow<'_>) {
        self.totals.add(&row.sums);
        self.rows_read += row.rows_read;
        let key = self.pairing.present(row.key);
        let countries = match self.rows.get_mut(key.as_ref()) {
            Some(countries) => countries,
            None => self.rows.entry(key.into_owned()).or_default(),
        };
        countries.insert(row.country.unwrap_or_default().to_owned(), row.sums);
    }

    /// Replaces the sum of the rows' counts where articles are in several rows.
    pub fn set_total_articles(&mut self, articles: i64) {
        self.totals.articles = Some(articles);
    }

    /// The sums of the earlier row beside `row`: zeros where there was none.
    pub(super) fn beside(&self, row: &AnswerRow<'_>) -> RowSums {
        let countries = self.rows.get(row.key);
        let sums = countries.and_then(|found| found.get(row.country.unwrap_or_default()));
        sums.copied().unwrap_or(self.zero)
    }
}
