//! Every grouping, random periods, blogs, orders and pages: both engines give the same bytes, and
//! they say what the raw rows add up to.

use dashboard::generate::Generate;
use dashboard::query::{Grouping, Query};
use dashboard::store::Store;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Deserialize;

use crate::brute_force::{Line, RawRows};
use crate::database::{TestDatabase, both, both_generated};
use crate::rows::{BLOGS, Rows};

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Body {
    query: serde_json::Value,
    totals: Sums,
    row_count: usize,
    rows: Vec<BodyRow>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Sums {
    pageviews: i64,
    sessions: i64,
    engagement_seconds: i64,
    articles: Option<usize>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct BodyRow {
    key: String,
    label: String,
    #[serde(flatten)]
    sums: Sums,
}

struct Judge {
    raw: RawRows,
    stores: [Store; 2],
}

impl Judge {
    async fn new(databases: &[TestDatabase; 2]) -> Self {
        let engine::DatabaseUrl::Sqlite(path) = &databases[0].url else { panic!("no file") };
        let raw = RawRows::read(&engine::sqlite::open_read_only(path).unwrap());
        Self { raw, stores: [databases[0].store().await, databases[1].store().await] }
    }

    async fn check(&self, query: &Query) -> Result<(), TestCaseError> {
        let [first, second] = &self.stores;
        let body = first.answer(query.clone()).await.unwrap().body;
        for store in [second, first, second] {
            let other = store.answer(query.clone()).await.unwrap().body;
            let (one, other) = (String::from_utf8_lossy(&body), String::from_utf8_lossy(&other));
            prop_assert_eq!(one, other, "{} differs", store.engine());
        }
        let found: Body = serde_json::from_slice(&body).unwrap();
        prop_assert_eq!(&found.query, &serde_json::to_value(query).unwrap());
        let (lines, totals) = self.raw.answer(query);
        prop_assert_eq!(found.row_count, lines.len());
        prop_assert_eq!(found.totals, sums(&totals, query));
        let skipped = usize::try_from(query.offset.unwrap_or(0)).unwrap();
        let taken = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
        let expected = lines.iter().skip(skipped).take(taken);
        let expected: Vec<_> = expected
            .map(|line| BodyRow {
                key: line.key.clone(),
                label: line.label.clone(),
                sums: sums(line, query),
            })
            .collect();
        prop_assert_eq!(found.rows, expected);
        Ok(())
    }
}

fn sums(line: &Line, query: &Query) -> Sums {
    Sums {
        pageviews: line.pageviews,
        sessions: line.sessions,
        engagement_seconds: line.engagement_seconds,
        articles: query.count.map(|_| line.articles.len()),
    }
}

fn query(grouping: Grouping, parameters: &[(&str, String)]) -> Query {
    let pairs: Vec<_> =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Query::parse(grouping, &pairs).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_grouping_with_and_without_blog_and_count_is_what_the_raw_rows_say() {
    let databases = both(&Rows::nasty()).await;
    let judge = Judge::new(&databases).await;
    assert!(judge.raw.facts() > 2_000);
    let (first, last) = judge.raw.days();
    for (_, grouping) in Grouping::ALL {
        for blog in [None, Some(BLOGS[0]), Some(BLOGS[1]), Some("empty")] {
            for count in [None, Some("articles")] {
                let mut parameters = vec![("start", first.to_string()), ("end", last.to_string())];
                parameters.extend(blog.map(|blog| ("blog", blog.to_owned())));
                parameters.extend(count.map(|count| ("count", count.to_owned())));
                judge.check(&query(grouping, &parameters)).await.unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_generated_dataset_is_answered_as_its_raw_rows_say() {
    let wish = Generate { articles: 80, rows: 20_000, ..Generate::default() };
    let databases = both_generated(wish).await;
    let judge = Judge::new(&databases).await;
    assert_eq!(judge.raw.facts(), 20_000);
    for (_, grouping) in Grouping::ALL {
        for (start, end) in [("2021-01-01", "2021-01-31"), ("2020-05-07", "2022-03-18")] {
            for blog in [None, Some("twilio"), Some("sendgrid")] {
                let mut parameters = vec![("start", start.to_owned()), ("end", end.to_owned())];
                parameters.push(("count", "articles".to_owned()));
                parameters.extend(blog.map(|blog| ("blog", blog.to_owned())));
                judge.check(&query(grouping, &parameters)).await.unwrap();
            }
        }
    }
}

/// Any question over the days of `Rows::nasty` and some beyond.
fn questions() -> impl Strategy<Value = Query> {
    let grouping = prop::sample::select(Grouping::ALL.to_vec());
    let start = prop_oneof![-15..20_i32, 18_300..18_340_i32, 18_600..19_020_i32];
    let length = prop_oneof![0..40_i32, 0..20_000_i32];
    let blog = prop::option::of(prop::sample::select(BLOGS.to_vec()));
    let sort = prop::option::of("-?(pageviews|sessions|engagement_seconds|key|label)");
    let page = (prop::option::of(0..30_u64), prop::option::of(0..30_u64));
    (grouping, start, length, blog, any::<bool>(), sort, page).prop_map(
        |((_, grouping), start, length, blog, count, sort, (limit, offset))| {
            let day = |number| dashboard::query::Day::from_number(number).unwrap().to_string();
            let mut parameters = vec![("start", day(start)), ("end", day(start + length))];
            parameters.extend(blog.map(|blog| ("blog", blog.to_owned())));
            parameters.extend(count.then(|| ("count", "articles".to_owned())));
            parameters.extend(sort.map(|sort| ("sort", sort)));
            parameters.extend(limit.map(|limit| ("limit", limit.to_string())));
            parameters.extend(offset.map(|offset| ("offset", offset.to_string())));
            query(grouping, &parameters)
        },
    )
}

/// The number of random questions; the seed is fixed, so the same are asked everywhere.
const QUESTIONS: u32 = 400;

#[test]
fn random_questions_are_answered_alike_and_rightly() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let databases = runtime.block_on(both(&Rows::nasty()));
    let judge = runtime.block_on(Judge::new(&databases));
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { failure_persistence: None, ..Config::with_cases(QUESTIONS) };
    let mut runner = TestRunner::new_with_rng(config, random);
    runner.run(&questions(), |query| runtime.block_on(judge.check(&query))).unwrap();
}
