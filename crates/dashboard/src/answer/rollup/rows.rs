//! The rows of an answer: cells with their keys and labels, in the order that was asked for.

use super::Summation;
use super::cells::Cell;
use crate::answer::{self, Error, Row};
use crate::database::{self, Deadline};
use crate::query::{Count, Field, Grouping, SortBy, Split};

/// A cell on its way into the order of the answer: what it is sorted by, then its place.
type Sorted = (i64, u32, u32, u32);

/// So many rows are written in about a millisecond: then the clock is looked at.
const ROWS_BETWEEN_LOOKS: usize = 4_096;

impl Summation {
    /// Hands all rows to `push` in their order; the number of distinct articles, if it was asked
    /// for.
    pub fn finish(
        self,
        deadline: &Deadline,
        push: &mut dyn FnMut(&Row<'_>) -> Result<(), Error>,
    ) -> Result<Option<i64>, Error> {
        let Self { query, dictionary, cells, .. } = self;
        let (cells, articles) = cells.finish();
        let keys = Keys { grouping: query.grouping, dictionary: &dictionary };
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
            push(&Row {
                key,
                label,
                country: query
                    .split
                    .map(|Split::Country| dictionary.countries.keys.text(cell.country)),
                sums: answer::Sums {
                    pageviews,
                    sessions,
                    engagement_seconds,
                    articles: query.count.map(|Count::Articles| cell.articles),
                },
                rows_read: cell.totals,
            })?;
        }
        Ok(query.counts_articles_across_rows().then_some(articles))
    }
}

/// What rows of a grouping are called.
struct Keys<'a> {
    grouping: Grouping,
    dictionary: &'a super::Dictionary,
}

impl<'a> Keys<'a> {
    fn field(&self) -> Option<Field> {
        match self.grouping {
            Grouping::Blogs => Some(Field::Blog),
            Grouping::Authors => Some(Field::Author),
            Grouping::Teams => Some(Field::Team),
            Grouping::Products => Some(Field::Product),
            Grouping::Languages => Some(Field::Language),
            Grouping::HumanLanguages => Some(Field::HumanLanguage),
            _ => None,
        }
    }

    /// The key of a row of time as it is written.
    fn time(&self, cell: &Cell) -> Result<Option<String>, Error> {
        let length = match self.grouping {
            Grouping::Days | Grouping::Weeks => "2021-01-01".len(),
            Grouping::Months => "2021-01".len(),
            Grouping::Years | Grouping::ArticleYears => "2021".len(),
            _ => return Ok(None),
        };
        let day = database::day(cell.row)?;
        let mut text = day.to_string();
        text.truncate(length);
        Ok(Some(text))
    }

    fn key_and_label(&self, cell: &Cell) -> (&'a str, &'a str) {
        let dictionary = self.dictionary;
        let place = cell.row as u32;
        match (self.grouping, self.field()) {
            (Grouping::Countries, _) => (
                dictionary.countries.keys.text(cell.country),
                dictionary.country_names.text(cell.country),
            ),
            (_, Some(field)) => {
                let names = dictionary.field(field);
                let name = names.map_or("", |(_, names)| names.keys.text(place));
                (name, name)
            }
            _ => (dictionary.articles.ids.keys.text(place), dictionary.articles.titles.text(place)),
        }
    }

    /// The rank of its key among all keys, by bytes.
    fn rank(&self, cell: &Cell) -> u32 {
        let dictionary = self.dictionary;
        let place = cell.row as u32;
        match (self.grouping, self.field()) {
            (Grouping::Countries, _) => dictionary.countries.keys.rank(cell.country),
            (Grouping::Articles, _) => dictionary.articles.ids.keys.rank(place),
            (_, Some(field)) => {
                dictionary.field(field).map_or(0, |(_, names)| names.keys.rank(place))
            }
            // Days in the order of their numbers, whatever their sign.
            _ => place ^ (1 << 31),
        }
    }

    /// The rank of its label among all labels, by bytes; that of its key where they are the same.
    fn label_rank(&self, cell: &Cell) -> u32 {
        match self.grouping {
            Grouping::Countries => self.dictionary.country_names.rank(cell.country),
            Grouping::Articles => self.dictionary.articles.titles.rank(cell.row as u32),
            _ => self.rank(cell),
        }
    }
}
