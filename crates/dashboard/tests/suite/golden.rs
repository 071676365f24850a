//! Every grouping, random periods, filters, orders and pages: both engines give the same bytes in
//! both designs, and they say what the raw rows add up to.

use dashboard::generate::DatasetOptions;
use dashboard::query::{Grouping, Query};
use dashboard::store::DashboardStore;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde::Deserialize;

use crate::brute_force::{self, Line, RawRows};
use crate::database::{TestDatabase, both, both_generated};
use crate::rows::{BLOGS, NAMES, Rows, UUIDS};

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Body {
    query: serde_json::Value,
    totals: Compared,
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
struct Compared {
    #[serde(flatten)]
    sums: Sums,
    previous: Option<Sums>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct BodyRow {
    key: String,
    label: String,
    country: Option<String>,
    #[serde(flatten)]
    compared: Compared,
}

struct Judge {
    raw: RawRows,
    stores: [DashboardStore; 4],
}

impl Judge {
    async fn new(databases: &[TestDatabase; 2]) -> Self {
        let raw = RawRows::read(&connect::sqlite::open_read_only(databases[0].file()).unwrap());
        let [one, other] = databases;
        let totals = [one.rollup_store().await, other.rollup_store().await];
        let [one_by_totals, other_by_totals] = totals;
        let stores = [one.store().await, other.store().await, one_by_totals, other_by_totals];
        Self { raw, stores }
    }

    /// The answer, of which every engine, design and repetition gives the same bytes.
    async fn body(&self, query: &Query) -> Result<Vec<u8>, TestCaseError> {
        let body = self.stores[0].answer(query.clone()).await.unwrap().body;
        for store in self.stores.iter().skip(1).chain(&self.stores[..2]) {
            let other = store.answer(query.clone()).await.unwrap().body;
            let (one, other) = (String::from_utf8_lossy(&body), String::from_utf8_lossy(&other));
            prop_assert_eq!(one, other, "{} differs", store.engine());
        }
        Ok(body)
    }

    async fn check(&self, query: &Query) -> Result<(), TestCaseError> {
        let body = self.body(query).await?;
        let found: Body = serde_json::from_slice(&body).unwrap();
        prop_assert_eq!(&found.query, &serde_json::to_value(query).unwrap());
        let (lines, totals) = self.raw.answer(query);
        prop_assert_eq!(found.row_count, lines.len());
        prop_assert_eq!(found.totals, compared(&totals, query));
        let skipped = usize::try_from(query.offset.unwrap_or(0)).unwrap();
        let taken = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
        let expected = lines.iter().skip(skipped).take(taken);
        let expected: Vec<_> = expected
            .map(|line| BodyRow {
                key: line.key.clone(),
                label: line.label.clone(),
                country: line.country.clone(),
                compared: compared(line, query),
            })
            .collect();
        prop_assert_eq!(found.rows, expected);
        Ok(())
    }
}

fn compared(line: &Line, query: &Query) -> Compared {
    let sums = |sums: &brute_force::Sums| Sums {
        pageviews: sums.pageviews,
        sessions: sums.sessions,
        engagement_seconds: sums.engagement_seconds,
        articles: query.count.map(|_| sums.articles.len()),
    };
    Compared { sums: sums(&line.sums), previous: line.previous.as_ref().map(sums) }
}

fn query(grouping: Grouping, parameters: &[(&str, String)]) -> Query {
    let pairs: Vec<_> =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Query::parse(grouping, &pairs).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_grouping_agrees_with_the_raw_rows() {
    let databases = both(&Rows::nasty()).await;
    let judge = Judge::new(&databases).await;
    assert!(judge.raw.facts() > 2_000);
    let (first, last) = judge.raw.days();
    for grouping in Grouping::ALL.iter().copied() {
        for blog in [None, Some(BLOGS[0]), Some(BLOGS[1]), Some("empty")] {
            for count in [None, Some("articles")] {
                let mut parameters = vec![("start", first.to_string()), ("end", last.to_string())];
                parameters.extend(blog.map(|blog| ("blog", blog.to_owned())));
                parameters.extend(count.map(|count| ("count", count.to_owned())));
                judge.check(&query(grouping, &parameters)).await.unwrap();
            }
        }
        let csv = [first.to_string(), last.to_string(), "csv".to_owned()];
        let csv =
            query(grouping, &["start", "end", "format"].into_iter().zip(csv).collect::<Vec<_>>());
        let body = String::from_utf8(judge.body(&csv).await.unwrap()).unwrap();
        assert_eq!(body.lines().count(), 1 + judge.raw.answer(&csv).0.len(), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_generated_dataset_is_answered_as_its_raw_rows_say() {
    let wish = DatasetOptions { articles: 80, rows: 20_000, ..DatasetOptions::default() };
    let databases = both_generated(wish).await;
    let judge = Judge::new(&databases).await;
    assert_eq!(judge.raw.facts(), 20_000);
    for grouping in Grouping::ALL.iter().copied() {
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
    let length = prop_oneof![0..40_i32, 0..2_000_i32];
    let sort = prop::option::of("-?(pageviews|sessions|engagement_seconds|key|label)");
    let page = (prop::option::of(0..30_u64), prop::option::of(0..30_u64));
    // Some of them in the earlier period, and some twice.
    let not_days = prop::collection::vec(-20..40_i32, 0..4);
    let period = (start, length, prop::option::weighted(0.3, not_days));
    let parts = (grouping, period, filters(), shapes(), sort, page);
    parts.prop_map(|(grouping, period, filters, shapes, sort, (limit, offset))| {
        let (start, length, not_days) = period;
        let mut parameters = vec![("start", day(start)), ("end", day(start + length))];
        let not_days = not_days.into_iter().flatten();
        parameters.extend(not_days.map(|since| ("not_day", day(start + since))));
        parameters.extend(filters);
        // A country has no other countries to be split by.
        parameters.extend(
            shapes.into_iter().filter(|(it, _)| (grouping.name(), *it) != ("countries", "split")),
        );
        parameters.extend(sort.map(|sort| ("sort", sort)));
        parameters.extend(limit.map(|limit| ("limit", limit.to_string())));
        parameters.extend(offset.map(|offset| ("offset", offset.to_string())));
        query(grouping, &parameters)
    })
}

fn day(number: i32) -> String {
    dashboard::query::Day::from_number(number).unwrap().to_string()
}

/// Days of publication, seldom: one end or both, in their order.
fn publication(names: [&'static str; 2]) -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let days = [-300..15_000_i32, -300..15_000_i32];
    let given = (prop::sample::subsequence(names.to_vec(), 1..3), days);
    let given = given.prop_map(|(names, mut days)| {
        days.sort_unstable();
        names.into_iter().zip(days.map(day)).collect::<Vec<_>>()
    });
    prop::option::weighted(0.3, given).prop_map(Option::unwrap_or_default)
}

/// Some filters, each of which leaves something.
fn filters() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let names = [
        "author",
        "not_author",
        "team",
        "not_team",
        "product",
        "not_product",
        "language",
        "not_language",
        "human_language",
        "not_human_language",
    ];
    let name = prop::sample::select(names.to_vec());
    let by_name = (name, prop::sample::subsequence(NAMES.to_vec(), 1..6));
    let by_code = (
        prop::sample::select(vec!["country", "not_country"]),
        prop::sample::subsequence(vec!["US", "us", "Us", "DE", "_X"], 1..4),
    );
    let uuids: Vec<&'static str> = UUIDS.to_vec();
    let by_uuid = (
        prop::sample::select(vec!["article", "not_article"]),
        prop::sample::subsequence(uuids, 1..4),
    );
    let not_blog = prop::sample::subsequence(BLOGS.to_vec(), 1..2).prop_map(|it| ("not_blog", it));
    let blog = prop::sample::select(BLOGS.to_vec()).prop_map(|blog| ("blog", vec![blog]));
    let by_value = prop_oneof![3 => by_name, 1 => by_code, 1 => by_uuid, 1 => not_blog, 1 => blog];
    let values = prop::collection::vec(by_value, 0..4);
    let inside = publication(["published_from", "published_to"]);
    let outside = publication(["not_published_from", "not_published_to"]);
    (values, inside, outside).prop_map(|(values, inside, outside)| {
        let mut parameters = Vec::new();
        for (name, keys) in values {
            // The one blog may be given once only.
            if name == "blog" && parameters.iter().any(|(known, _)| *known == "blog") {
                continue;
            }
            parameters.extend(keys.into_iter().map(|key| (name, key.to_owned())));
        }
        parameters.extend(inside.into_iter().chain(outside));
        parameters
    })
}

/// What changes the shape of an answer.
fn shapes() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let shapes = vec![
        ("count", "articles"),
        ("translations", "grouped"),
        ("split", "country"),
        ("compare", "previous"),
        ("compare", "previous_weekdays"),
        ("compare", "year"),
    ];
    prop::sample::subsequence(shapes, 0..4).prop_map(|chosen| {
        let mut parameters: Vec<(&'static str, String)> = Vec::new();
        for (name, value) in chosen {
            if parameters.iter().all(|(known, _)| *known != name) {
                parameters.push((name, value.to_owned()));
            }
        }
        parameters
    })
}

/// Random questions that are asked in every `make test`, the same everywhere.
const QUESTIONS: u32 = 200;

#[test]
fn random_questions_are_answered_alike_and_rightly() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let databases = runtime.block_on(both(&Rows::nasty()));
    let judge = runtime.block_on(Judge::new(&databases));
    let mut runner = TestRunner::new(testing::cases(QUESTIONS));
    runner.run(&questions(), |query| runtime.block_on(judge.check(&query))).unwrap();
}
