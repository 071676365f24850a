//! The independent judge: reads the raw rows and sums them with plain maps, knowing nothing of
//! the statements under test.

use std::collections::{BTreeMap, BTreeSet};

use dashboard::query::{Count, Day, Grouping, Query, SortBy};
use jiff::ToSpan as _;
use jiff::civil::Date;
use rusqlite::Connection;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pub key: String,
    pub label: String,
    pub pageviews: i64,
    pub sessions: i64,
    pub engagement_seconds: i64,
    pub articles: BTreeSet<i32>,
}

struct Article {
    uuid: String,
    title: String,
    published: i32,
    /// Name by grouping.
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
        let (start, end) = (query.period.start().number(), query.period.end().number());
        let mut lines = BTreeMap::<String, Line>::new();
        let mut totals = Line::default();
        for fact in &self.facts {
            let article = &self.articles[&fact.article];
            let in_blog = query.blog.as_ref().is_none_or(|blog| article.names["blogs"] == *blog);
            if fact.day < start || fact.day > end || !in_blog {
                continue;
            }
            let (key, label) = self.key_and_label(query.grouping, fact);
            let line = lines.entry(key.clone()).or_insert(Line { key, label, ..Line::default() });
            for sums in [line, &mut totals] {
                sums.pageviews += fact.sums[0];
                sums.sessions += fact.sums[1];
                sums.engagement_seconds += fact.sums[2];
                if query.count == Some(Count::Articles) {
                    sums.articles.insert(fact.article);
                }
            }
        }
        // In the order of their keys by the map; a stable sort keeps it for ties.
        let mut lines: Vec<_> = lines.into_values().collect();
        lines.sort_by(|one, other| {
            let order = match query.sort.by {
                SortBy::Pageviews => one.pageviews.cmp(&other.pageviews),
                SortBy::Sessions => one.sessions.cmp(&other.sessions),
                SortBy::EngagementSeconds => one.engagement_seconds.cmp(&other.engagement_seconds),
                SortBy::Key => one.key.cmp(&other.key),
                SortBy::Label => one.label.cmp(&other.label),
            };
            if query.sort.descending { order.reverse() } else { order }
        });
        (lines, totals)
    }

    fn key_and_label(&self, grouping: Grouping, fact: &Fact) -> (String, String) {
        let article = &self.articles[&fact.article];
        let day = date(fact.day);
        let key = match grouping {
            Grouping::Articles => return (article.uuid.clone(), article.title.clone()),
            Grouping::Countries => return self.countries[&fact.country].clone(),
            Grouping::Days => day.to_string(),
            Grouping::Weeks => {
                let since_monday = i32::from(day.weekday().to_monday_zero_offset());
                day.checked_sub(since_monday.days()).unwrap().to_string()
            }
            Grouping::Months => day.to_string()[..7].to_owned(),
            Grouping::Years => day.to_string()[..4].to_owned(),
            Grouping::ArticleYears => date(article.published).to_string()[..4].to_owned(),
            _ => article.names[grouping.name()].clone(),
        };
        (key.clone(), key)
    }
}

fn date(number: i32) -> Date {
    jiff::civil::date(1970, 1, 1).checked_add(number.days()).unwrap()
}
