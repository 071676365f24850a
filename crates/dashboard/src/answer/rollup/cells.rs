//! Sums by row and country, made when met: most of what could exist has no traffic.

use std::collections::HashMap;

use crate::rollup::dictionary::NONE;
use crate::rollup::page::TotalSums;

/// The sums of a row, or of its part of one country.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    pub sums: TotalSums,
    /// The number of totals.
    pub totals: i64,
    /// The number of the row.
    pub row: i32,
    /// The place of the country, if rows are split.
    pub country: u32,
    /// Distinct articles, if they are counted.
    pub articles: i64,
}

pub(super) struct SumCells {
    countries: usize,
    /// The number of each row in the order in which rows were met.
    numbers: HashMap<i32, u32>,
    rows: Vec<i32>,
    /// The cell of each row and country.
    index: Vec<u32>,
    cells: Vec<Cell>,
    /// Cell and article of each total, if articles are counted: as one number, so that they sort.
    articles: Option<Vec<u64>>,
    /// The number at which they are sorted and duplicates removed.
    limit: usize,
}

/// Articles noted before duplicates are removed.
const NOTED: usize = 1_000_000;

impl SumCells {
    /// None as yet. `countries` is 1 where rows are not split.
    pub fn new(countries: usize, count_articles: bool) -> Self {
        Self {
            countries,
            numbers: HashMap::new(),
            rows: Vec::new(),
            index: Vec::new(),
            cells: Vec::new(),
            articles: count_articles.then(Vec::new),
            limit: NOTED,
        }
    }

    /// The number of the row that `given` stands for.
    pub fn row(&mut self, given: i32) -> u32 {
        let next = self.rows.len() as u32;
        let number = *self.numbers.entry(given).or_insert(next);
        if number == next {
            self.rows.push(given);
            self.index.resize(self.index.len() + self.countries, NONE);
        }
        number
    }

    /// Adds a total to the cell of a row's number and a country's place.
    #[inline]
    pub fn add(&mut self, (row, country): (u32, u32), article: u32, sums: &TotalSums) {
        let place = row as usize * self.countries + country as usize;
        let Some(index) = self.index.get_mut(place) else { return };
        if *index == NONE {
            *index = self.cells.len() as u32;
            let row = self.rows.get(row as usize).copied().unwrap_or_default();
            self.cells.push(Cell { row, country, ..Cell::default() });
        }
        let number = *index;
        if let Some(cell) = self.cells.get_mut(number as usize) {
            cell.sums.add(sums, 1);
            cell.totals += 1;
        }
        if let Some(articles) = &mut self.articles {
            articles.push(u64::from(number) << 32 | u64::from(article));
            if articles.len() > self.limit {
                articles.sort_unstable();
                articles.dedup();
                self.limit = NOTED.max(2 * articles.len());
            }
        }
    }

    /// All cells, with their articles counted, and how many articles there are in all.
    pub fn finish(mut self) -> (Vec<Cell>, i64) {
        let mut pairs = self.articles.unwrap_or_default();
        pairs.sort_unstable();
        pairs.dedup();
        for pair in &pairs {
            if let Some(cell) = self.cells.get_mut((pair >> 32) as usize) {
                cell.articles += 1;
            }
        }
        let mut all: Vec<u32> = pairs.iter().map(|pair| *pair as u32).collect();
        all.sort_unstable();
        all.dedup();
        (self.cells, all.len() as i64)
    }
}
