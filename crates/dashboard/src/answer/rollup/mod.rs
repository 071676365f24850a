//! Answers from totals: the pages to read, the totals in them that count, and the rows that they
//! add up to. The engines only fetch pages; all sums are made here, so both engines give the same
//! answer by construction.

mod cells;
mod narrow;
mod rows;
mod source;

pub(super) use source::answer;

use std::sync::Arc;

use crate::query::{
    Day, DistinctCount, Grouping, GroupingKind, Period, Query, QueryRefusal, Split, Translations,
};
use crate::rollup::calendar::{Grain, parts};
use crate::rollup::definition::{TotalsKind, grain_number};
use crate::rollup::dictionary::{Dictionary, NONE};
use crate::rollup::{Error, page};
use crate::schema::Dimension;
use cells::SumCells;
use narrow::Narrowed;

/// Pages to read: the values of `statements::PAGES`.
pub(crate) type Read = [i32; 4];

/// Adds up the totals of one period.
pub(crate) struct Summation {
    query: Query,
    dictionary: Arc<Dictionary>,
    kind: TotalsKind,
    narrowed: Narrowed,
    /// The number of the row of each article or blog, once it has been met.
    numbers: Vec<u32>,
    cells: SumCells,
}

impl Summation {
    /// Nothing added up as yet.
    pub fn new(query: &Query, dictionary: &Arc<Dictionary>) -> Result<Self, QueryRefusal> {
        let kind = kind(query);
        let narrowed = Narrowed::new(query, dictionary, kind)?;
        let countries = if is_by_country(query) { dictionary.countries.keys.len() } else { 1 };
        Ok(Self {
            kind,
            numbers: vec![NONE; narrowed.len()],
            narrowed,
            cells: SumCells::new(countries, query.count == Some(DistinctCount::Articles)),
            query: query.clone(),
            dictionary: dictionary.clone(),
        })
    }

    /// The pages that make up a period: the longest spans in the middle, days at the edges.
    pub fn reads(&self, period: Period) -> Vec<Read> {
        let longest = match self.query.grouping.kind() {
            GroupingKind::Days | GroupingKind::Weeks => Grain::Day,
            GroupingKind::Months => Grain::Month,
            GroupingKind::Years | GroupingKind::ArticleYears | GroupingKind::Dimension(_) => {
                Grain::Year
            }
        };
        let grains: Vec<Grain> =
            self.kind.grains().iter().copied().filter(|grain| *grain <= longest).collect();
        let read = |(grain, part): (Grain, Period)| {
            let kind = self.kind.kept_as(grain).number();
            [kind, grain_number(grain), part.start().number(), part.end().number()]
        };
        let periods = period.without(&self.query.filters.not_days);
        periods.into_iter().flat_map(|period| parts(period, &grains)).map(read).collect()
    }

    /// Adds the page of a span that begins on day `day`.
    pub fn add(&mut self, day: i32, content: &[u8]) -> Result<(), Error> {
        let damaged = || Error::Damaged { day };
        let unit = unit(self.query.grouping, Day::from_number(day).ok_or_else(damaged)?);
        let time = unit.map(|unit| self.cells.row(unit));
        let by_country = is_by_country(&self.query);
        let (dictionary, narrowed) = (&*self.dictionary, &self.narrowed);
        let (numbers, cells) = (&mut self.numbers, &mut self.cells);
        let mut before = None;
        let (mut row, mut article) = (NONE, NONE);
        page::each(content, |(first, second), sums| {
            if before != Some(first) {
                before = Some(first);
                let found = narrowed.find(dictionary, first);
                article = found.article;
                row = match (found.row, time) {
                    (NONE, _) => NONE,
                    (_, Some(time)) => time,
                    (given, None) => number(numbers, found.place, || cells.row(given as i32)),
                };
            }
            if row == NONE {
                return;
            }
            let country = match narrowed.uses_country() {
                true => narrowed.country(dictionary, second),
                false => 0,
            };
            if country != NONE {
                cells.add((row, if by_country { country } else { 0 }), article, sums);
            }
        })
        .map_err(|page::Damaged| damaged())
    }
}

/// The number of the row at `place`, made when it is first met.
#[inline]
fn number(numbers: &mut [u32], place: u32, make: impl FnOnce() -> u32) -> u32 {
    match numbers.get_mut(place as usize) {
        Some(number) if *number == NONE => {
            *number = make();
            *number
        }
        Some(number) => *number,
        None => NONE,
    }
}

/// Whether a row, or a part of it, is of one country.
fn is_by_country(query: &Query) -> bool {
    query.split == Some(Split::Country) || query.grouping == Grouping::Countries
}

/// The totals with the fewest numbers that answer a question exactly.
fn kind(query: &Query) -> TotalsKind {
    let of_article = |dimension| !matches!(dimension, Dimension::Blog | Dimension::Country);
    let groups_articles = match query.grouping.kind() {
        GroupingKind::Dimension(dimension) => of_article(dimension),
        GroupingKind::ArticleYears => true,
        GroupingKind::Days | GroupingKind::Weeks | GroupingKind::Months | GroupingKind::Years => {
            false
        }
    };
    let needs_articles = groups_articles
        || query.translations == Translations::Grouped
        || query.count == Some(DistinctCount::Articles)
        || !query.filters.published.is_open()
        || !query.filters.not_published.is_open()
        || query.filters.values.iter().any(|filter| of_article(filter.dimension));
    let needs_countries = query.split.is_some()
        || query.grouping == Grouping::Countries
        || query.filters.values.iter().any(|filter| filter.dimension == Dimension::Country);
    match (needs_articles, needs_countries) {
        (false, _) => TotalsKind::BlogCountry,
        (true, false) => TotalsKind::Article,
        (true, true) => TotalsKind::ArticleCountry,
    }
}

/// The unit of time that a span belongs to, by its first day's number; none where rows are not of
/// time.
fn unit(grouping: Grouping, day: Day) -> Option<i32> {
    let start = |grain: Grain| grain.span(day).map_or(day, |span| span.start()).number();
    match grouping.kind() {
        GroupingKind::Days => Some(day.number()),
        GroupingKind::Weeks => Some(day.monday_number()),
        GroupingKind::Months => Some(start(Grain::Month)),
        GroupingKind::Years => Some(start(Grain::Year)),
        GroupingKind::ArticleYears | GroupingKind::Dimension(_) => None,
    }
}
