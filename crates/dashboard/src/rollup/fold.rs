//! From facts to totals: facts come in the order of their days, and every span's totals are
//! complete when the next span begins.

use std::collections::HashMap;

use super::calendar::Grain;
use super::definition::{Dimension, TABLES, grain_number};
use crate::query::{Day, Period};
use crate::schema::{Column, Table};

/// A fact as it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fact {
    pub day: i32,
    pub article: i32,
    pub country: i32,
    pub sums: [i64; 3],
}

impl Fact {
    /// Day, article, country, sums.
    pub fn from_row(row: &[i64]) -> Option<Self> {
        let &[day, article, country, pageviews, sessions, engagement_seconds] = row else {
            return None;
        };
        Some(Self {
            day: day.try_into().ok()?,
            article: article.try_into().ok()?,
            country: country.try_into().ok()?,
            sums: [pageviews, sessions, engagement_seconds],
        })
    }
}

/// What totals need to know of an article.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Article {
    pub blog: i32,
    pub author: i32,
    pub team: i32,
    pub product: i32,
    pub language: i32,
    pub human_language: i32,
    /// Days since 1970-01-01.
    pub published: i32,
}

impl Article {
    /// The columns of `articles` that it is read from, after the id and in this order.
    pub const COLUMNS: [Column; 7] = [
        Column::BlogId,
        Column::AuthorId,
        Column::TeamId,
        Column::ProductId,
        Column::LanguageId,
        Column::HumanLanguageId,
        Column::Published,
    ];

    pub fn from_values(values: [i32; 7]) -> Self {
        let [blog, author, team, product, language, human_language, published] = values;
        Self { blog, author, team, product, language, human_language, published }
    }

    /// Its key in a dimension; the country is the fact's.
    fn key(&self, dimension: Dimension, country: i32) -> i32 {
        match dimension {
            Dimension::Blog => 0,
            Dimension::Author => self.author,
            Dimension::Team => self.team,
            Dimension::Product => self.product,
            Dimension::Language => self.language,
            Dimension::HumanLanguage => self.human_language,
            Dimension::PublicationYear => first_day_of_year(self.published),
            Dimension::Country => country,
        }
    }
}

/// The first day of the year that a day lies in.
pub(crate) fn first_day_of_year(day: i32) -> i32 {
    let year = Day::from_number(day).and_then(|day| Grain::Year.span(day));
    year.map_or(day, |year| year.start().number())
}

/// A row of a table of totals: its key, as long as the table's, then the sums.
pub(crate) type Key = [i32; 5];

type Totals = HashMap<Key, [i64; 3]>;

/// Totals of the spans that are under way.
pub(crate) struct Fold {
    articles: HashMap<i32, (Article, [i32; Dimension::ALL.len()])>,
    open: Vec<Open>,
}

/// One table's totals of one span.
struct Open {
    table: Table,
    grain: Grain,
    span: Option<Period>,
    totals: Totals,
}

/// Complete totals of a table, in the order of its key.
pub(crate) type Complete = (Table, Vec<(Key, [i64; 3])>);

impl Fold {
    pub fn new(articles: HashMap<i32, Article>) -> Self {
        let with_keys = |(id, article): (i32, Article)| {
            (id, (article, Dimension::ALL.map(|dimension| article.key(dimension, 0))))
        };
        let open = |(table, grain)| Open { table, grain, span: None, totals: Totals::new() };
        let tables = [
            (Table::ArticleMonths, Grain::Month),
            (Table::ArticleYears, Grain::Year),
            (Table::CountryQuarters, Grain::Quarter),
            (Table::DimensionTotals, Grain::Day),
            (Table::DimensionTotals, Grain::Month),
            (Table::DimensionTotals, Grain::Year),
        ];
        Self {
            articles: articles.into_iter().map(with_keys).collect(),
            open: tables.into_iter().map(open).collect(),
        }
    }

    /// Takes the facts of one day and hands out what its beginning completes.
    pub fn day(&mut self, day: Day, facts: &[Fact]) -> Vec<Complete> {
        let mut complete = Vec::new();
        for open in &mut self.open {
            if open.span.is_none_or(|span| span.end() < day) {
                complete.extend(open.take());
                open.span = open.grain.span(day);
            }
            let Some(span) = open.span else { continue };
            for fact in facts {
                let Some(article) = self.articles.get(&fact.article) else { continue };
                open.add(span.start().number(), fact, article);
            }
        }
        complete
    }

    /// What is left when the facts end.
    pub fn finish(&mut self) -> Vec<Complete> {
        self.open.iter_mut().filter_map(Open::take).collect()
    }
}

impl Open {
    fn add(
        &mut self,
        start: i32,
        fact: &Fact,
        (article, keys): &(Article, [i32; Dimension::ALL.len()]),
    ) {
        match self.table {
            Table::CountryQuarters => {
                self.sum([start, fact.country, fact.article, 0, 0], fact.sums);
            }
            Table::DimensionTotals => {
                let grain = grain_number(self.grain);
                for (dimension, key) in Dimension::ALL.into_iter().zip(keys) {
                    let key = if dimension == Dimension::Country { fact.country } else { *key };
                    self.sum([grain, dimension.number(), start, article.blog, key], fact.sums);
                }
            }
            _ => self.sum([start, fact.article, 0, 0, 0], fact.sums),
        }
    }

    fn sum(&mut self, key: Key, sums: [i64; 3]) {
        let total = self.totals.entry(key).or_default();
        for (total, sum) in total.iter_mut().zip(sums) {
            *total += sum;
        }
    }

    fn take(&mut self) -> Option<Complete> {
        let totals = std::mem::take(&mut self.totals);
        let mut rows: Vec<_> = totals.into_iter().collect();
        rows.sort_unstable();
        (!rows.is_empty()).then_some((self.table, rows))
    }
}

/// How many columns the key of a table of totals has.
pub(crate) fn key_length(table: Table) -> usize {
    let definition = TABLES.iter().find(|definition| definition.table == table);
    definition.map_or(0, |definition| definition.key.len())
}
