//! The independent judge of answers: reads the raw rows and sums them with plain maps, without the
//! statements under test.

use std::collections::{BTreeMap, BTreeSet};

use dashboard::query::{
    Day, DistinctCount, Grouping, Period, Publication, Query, SortBy, Translations,
};
use dashboard::schema::Dimension;
use jiff::ToSpan as _;
use jiff::civil::Date;
use rusqlite::Connection;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pub key: String,
    pub label: String,
    pub country: Option<String>,
    pub sums: Sums,
    pub previous: Option<Sums>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    pub pageviews: i64,
    pub sessions: i64,
    pub engagement_seconds: i64,
    pub articles: BTreeSet<i32>,
}

/// Lines by key and country.
type Lines = BTreeMap<(String, Option<String>), Line>;

struct Article {
    uuid: String,
    title: String,
    published: i32,
    original: Option<i32>,
    names: BTreeMap<&'static str, String>,
}

struct Fact {
    day: i32,
    article: i32,
    country: i32,
    sums: [i64; 3],
}

/// Every raw row of a database.
pub struct RawRows {
    articles: BTreeMap<i32, Article>,
    countries: BTreeMap<i32, (String, String)>,
    facts: Vec<Fact>,
}

const NAMED: [(&str, &str); 6] = [
    ("blogs", "blog_id"),
    ("authors", "author_id"),
    ("teams", "team_id"),
    ("products", "product_id"),
    ("languages", "language_id"),
    ("human_languages", "human_language_id"),
];

impl RawRows {
    pub fn read(connection: &Connection) -> Self {
        let mut articles = BTreeMap::new();
        let mut select = connection.prepare("SELECT * FROM articles").unwrap();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let names = NAMED.map(|(table, column)| {
                let id: i32 = row.get(column).unwrap();
                let select = format!("SELECT name FROM {table} WHERE id = {id}");
                (table, connection.query_row(&select, [], |row| row.get(0)).unwrap())
            });
            let article = Article {
                uuid: row.get("uuid").unwrap(),
                title: row.get("title").unwrap(),
                published: row.get("published").unwrap(),
                original: row.get("original_id").unwrap(),
                names: names.into(),
            };
            articles.insert(row.get("id").unwrap(), article);
        }
        let mut select = connection.prepare("SELECT id, code, name FROM countries").unwrap();
        let country = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)));
        let countries = select.query_map([], country).unwrap().map(Result::unwrap).collect();
        let mut select = connection.prepare("SELECT * FROM traffic").unwrap();
        let fact = |row: &rusqlite::Row<'_>| {
            let sums =
                [row.get("pageviews")?, row.get("sessions")?, row.get("engagement_seconds")?];
            let (day, article) = (row.get("day")?, row.get("article_id")?);
            Ok(Fact { day, article, country: row.get("country_id")?, sums })
        };
        let facts = select.query_map([], fact).unwrap().map(Result::unwrap).collect();
        Self { articles, countries, facts }
    }

    pub fn facts(&self) -> usize {
        self.facts.len()
    }

    /// First and last day with traffic.
    pub fn days(&self) -> (Day, Day) {
        let days = || self.facts.iter().map(|fact| fact.day);
        let day = |number: Option<i32>| Day::from_number(number.unwrap()).unwrap();
        (day(days().min()), day(days().max()))
    }

    /// The lines of the answer in order, before limit and offset, and their totals.
    pub fn answer(&self, query: &Query) -> (Vec<Line>, Line) {
        let (mut lines, sums) = self.lines(query, query.period);
        let mut totals = Line { sums, ..Line::default() };
        if let Some(comparison) = query.comparison {
            let earlier = comparison.earlier(query.period).unwrap();
            let (found, sums) = self.lines(query, earlier);
            totals.previous = Some(sums);
            let present = units(query.grouping, query.period);
            let past = units(query.grouping, earlier);
            for ((key, country), line) in &mut lines {
                let key = match present.iter().position(|unit| unit == key) {
                    Some(place) => past.get(place).cloned().unwrap_or_default(),
                    None => key.clone(),
                };
                let beside = found.get(&(key, country.clone()));
                line.previous = Some(beside.map(|line| line.sums.clone()).unwrap_or_default());
            }
        }
        // In the order of keys and countries by the map; a stable sort keeps it for ties.
        let mut lines: Vec<_> = lines.into_values().collect();
        lines.sort_by(|one, other| {
            let (a, b) = (&one.sums, &other.sums);
            let order = match query.sort.by {
                SortBy::Pageviews => a.pageviews.cmp(&b.pageviews),
                SortBy::Sessions => a.sessions.cmp(&b.sessions),
                SortBy::EngagementSeconds => a.engagement_seconds.cmp(&b.engagement_seconds),
                SortBy::Key => one.key.cmp(&other.key),
                SortBy::Label => one.label.cmp(&other.label),
            };
            if query.sort.descending { order.reverse() } else { order }
        });
        (lines, totals)
    }

    /// The lines of one period and their sums over all of it.
    fn lines(&self, query: &Query, period: Period) -> (Lines, Sums) {
        let days = period.start().number()..=period.end().number();
        let mut lines = Lines::new();
        let mut totals = Sums::default();
        for fact in &self.facts {
            let own = &self.articles[&fact.article];
            let article = match query.translations {
                Translations::Grouped => own.original.unwrap_or(fact.article),
                Translations::Separate => fact.article,
            };
            let is_asked = |day: &i32| {
                days.contains(day) && query.filters.not_days.iter().all(|not| not.number() != *day)
            };
            if !is_asked(&fact.day) || !self.counts(query, article, fact.country) {
                continue;
            }
            let (key, label) = self.key_and_label(query.grouping, article, fact);
            let country = query.split.map(|_| self.countries[&fact.country].0.clone());
            let line = lines.entry((key.clone(), country.clone())).or_insert_with(|| Line {
                key,
                label,
                country,
                ..Line::default()
            });
            for sums in [&mut line.sums, &mut totals] {
                sums.pageviews += fact.sums[0];
                sums.sessions += fact.sums[1];
                sums.engagement_seconds += fact.sums[2];
                if query.count == Some(DistinctCount::Articles) {
                    sums.articles.insert(article);
                }
            }
        }
        (lines, totals)
    }

    /// Whether the filters let an article's traffic in a country through.
    fn counts(&self, query: &Query, article: i32, country: i32) -> bool {
        let article = &self.articles[&article];
        let by_values = query.filters.values.iter().all(|filter| {
            let key = match filter.dimension {
                Dimension::Country => &self.countries[&country].0,
                Dimension::Article => &article.uuid,
                Dimension::Blog => &article.names["blogs"],
                Dimension::Author => &article.names["authors"],
                Dimension::Team => &article.names["teams"],
                Dimension::Product => &article.names["products"],
                Dimension::Language => &article.names["languages"],
                Dimension::HumanLanguage => &article.names["human_languages"],
            };
            filter.keys.contains(key) != filter.exclude
        });
        let inside = |range: &Publication| {
            range.from.is_none_or(|from| article.published >= from.number())
                && range.to.is_none_or(|to| article.published <= to.number())
        };
        let published = &query.filters.not_published;
        let is_left_out = (published.from.is_some() || published.to.is_some()) && inside(published);
        by_values && inside(&query.filters.published) && !is_left_out
    }

    fn key_and_label(&self, grouping: Grouping, article: i32, fact: &Fact) -> (String, String) {
        let article = &self.articles[&article];
        let key = match grouping {
            Grouping::Articles => return (article.uuid.clone(), article.title.clone()),
            Grouping::Countries => return self.countries[&fact.country].clone(),
            Grouping::Days | Grouping::Weeks | Grouping::Months | Grouping::Years => {
                unit(grouping, fact.day)
            }
            Grouping::ArticleYears => date(article.published).to_string()[..4].to_owned(),
            _ => article.names[grouping.name()].clone(),
        };
        (key.clone(), key)
    }
}

/// The unit of time that a day lies in.
fn unit(grouping: Grouping, number: i32) -> String {
    let day = date(number);
    match grouping {
        Grouping::Weeks => {
            let since_monday = i32::from(day.weekday().to_monday_zero_offset());
            day.checked_sub(since_monday.days()).unwrap().to_string()
        }
        Grouping::Months => day.to_string()[..7].to_owned(),
        Grouping::Years => day.to_string()[..4].to_owned(),
        _ => day.to_string(),
    }
}

/// All units of time of a period in order; none if rows are not of time.
fn units(grouping: Grouping, period: Period) -> Vec<String> {
    use Grouping::{Days, Months, Weeks, Years};
    if !matches!(grouping, Days | Weeks | Months | Years) {
        return Vec::new();
    }
    let days = period.start().number()..=period.end().number();
    let mut units: Vec<_> = days.map(|day| unit(grouping, day)).collect();
    units.dedup();
    units
}

fn date(number: i32) -> Date {
    jiff::civil::date(1970, 1, 1).checked_add(number.days()).unwrap()
}
