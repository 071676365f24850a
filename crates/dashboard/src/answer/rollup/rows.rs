//! Rows of an answer from totals: cells with their keys and labels, in the order of the query.

use super::Summation;
use super::cells::Cell;
use crate::answer::{self, AnswerRow, Error};
use crate::database::Deadline;
use crate::query::{Day, DistinctCount, GroupingKind, SortBy, Split};
use crate::schema::Dimension;

/// A cell on its way into the order of the answer: what it is sorted by, then its place.
type Sorted = (i64, u32, u32, u32);

/// Rows between two looks at the clock: about a millisecond.
const ROWS_BETWEEN_LOOKS: usize = 4_096;

impl Summation {
    /// Hands all rows to `push` in their order; the number of distinct articles, if it was asked
    /// for.
    pub fn finish(
        self,
        deadline: &Deadline,
        push: &mut dyn FnMut(&AnswerRow<'_>) -> Result<(), Error>,
    ) -> Result<Option<i64>, Error> {
        let Self { query, dictionary, cells, .. } = self;
        let (cells, articles) = cells.finish();
        let keys = RowKeys { kind: query.grouping.kind(), dictionary: &dictionary };
        let mut order: Vec<Sorted> = Vec::with_capacity(cells.len());
        for (place, cell) in (0_u32..).zip(&cells) {
            let rank = keys.rank(cell);
            let [pageviews, sessions, engagement_seconds] = cell.sums.metrics;
            let by = match query.sort.by {
                SortBy::Pageviews => pageviews,
                SortBy::Sessions => sessions,
                SortBy::EngagementSeconds => engagement_seconds,
                SortBy::Key => rank.into(),
                SortBy::Label => keys.label_rank(cell).into(),
            };
            // The complement turns the order round, and has no number that it cannot.
            let by = if query.sort.descending { !by } else { by };
            let country = match query.split {
                Some(Split::Country) => dictionary.countries.keys.rank(cell.country),
                None => 0,
            };
            order.push((by, rank, country, place));
        }
        order.sort_unstable();
        for (number, (_, _, _, place)) in order.into_iter().enumerate() {
            if number % ROWS_BETWEEN_LOOKS == 0 {
                deadline.check()?;
            }
            let Some(cell) = cells.get(place as usize) else { continue };
            let written = keys.time(cell)?;
            let (key, label) = match &written {
                Some(time) => (time.as_str(), time.as_str()),
                None => keys.key_and_label(cell),
            };
            let [pageviews, sessions, engagement_seconds] = cell.sums.metrics;
            push(&AnswerRow {
                key,
                label,
                country: query
                    .split
                    .map(|Split::Country| dictionary.countries.keys.text(cell.country)),
                sums: answer::RowSums {
                    pageviews,
                    sessions,
                    engagement_seconds,
                    articles: query.count.map(|DistinctCount::Articles| cell.articles),
                },
                rows_read: cell.totals,
            })?;
        }
        Ok(query.counts_articles_across_rows().then_some(articles))
    }
}

/// Keys and labels of rows.
struct RowKeys<'a> {
    kind: GroupingKind,
    dictionary: &'a super::Dictionary,
}

impl<'a> RowKeys<'a> {
    /// The key of a row of time as written.
    fn time(&self, cell: &Cell) -> Result<Option<String>, Error> {
        let length = match self.kind {
            GroupingKind::Days | GroupingKind::Weeks => "2021-01-01".len(),
            GroupingKind::Months => "2021-01".len(),
            GroupingKind::Years | GroupingKind::ArticleYears => "2021".len(),
            GroupingKind::Dimension(_) => return Ok(None),
        };
        let day = Day::stored(cell.row)?;
        let mut text = day.to_string();
        text.truncate(length);
        Ok(Some(text))
    }

    /// Both empty for rows of time.
    fn key_and_label(&self, cell: &Cell) -> (&'a str, &'a str) {
        let GroupingKind::Dimension(dimension) = self.kind else { return ("", "") };
        let place = place(dimension, cell);
        let key = self.dictionary.keyed(dimension).keys.text(place);
        (key, self.dictionary.labels(dimension).text(place))
    }

    /// The rank of its key among all keys: by bytes, or of days by their numbers.
    fn rank(&self, cell: &Cell) -> u32 {
        match self.kind {
            GroupingKind::Dimension(dimension) => {
                self.dictionary.keyed(dimension).keys.rank(place(dimension, cell))
            }
            // Whatever their sign.
            GroupingKind::Days
            | GroupingKind::Weeks
            | GroupingKind::Months
            | GroupingKind::Years
            | GroupingKind::ArticleYears => cell.row as u32 ^ (1 << 31),
        }
    }

    /// The rank of its label among all labels, by bytes; that of its key where they are the same.
    fn label_rank(&self, cell: &Cell) -> u32 {
        match self.kind {
            GroupingKind::Dimension(dimension) => {
                self.dictionary.labels(dimension).rank(place(dimension, cell))
            }
            GroupingKind::Days
            | GroupingKind::Weeks
            | GroupingKind::Months
            | GroupingKind::Years
            | GroupingKind::ArticleYears => self.rank(cell),
        }
    }
}

fn place(dimension: Dimension, cell: &Cell) -> u32 {
    if dimension == Dimension::Country { cell.country } else { cell.row as u32 }
}
