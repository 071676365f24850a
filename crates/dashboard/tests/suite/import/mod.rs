//! Imports on both engines: they add up to what the files say, whatever was there before, with
//! right totals after every step.

mod damaged;
mod days;
mod forms;
mod ga4;
mod refused;
mod repeated;
mod replaced;
mod spelling;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dashboard::import::{
    Error, ImportArticles, ImportTraffic, ImportedArticles, ImportedTraffic, import_articles,
    import_traffic, unmatched,
};
use dashboard::query::{Day, Grouping, Query};
use dashboard::store::DashboardStore;
use jiff::Zoned;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::database::{TestDatabase, both, sqlite, work};
use crate::rollup::verify;
use crate::rows::Rows;

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

fn now() -> Zoned {
    "2024-06-01T12:00:00[UTC]".parse().unwrap()
}

pub async fn traffic(database: &TestDatabase, file: &Path) -> Result<ImportedTraffic, Error> {
    traffic_with(database, file, |_| {}).await
}

async fn traffic_with(
    database: &TestDatabase,
    file: &Path,
    change: impl FnOnce(&mut ImportTraffic),
) -> Result<ImportedTraffic, Error> {
    traffic_agreed(database, file, change, true).await
}

async fn traffic_agreed(
    database: &TestDatabase,
    file: &Path,
    change: impl FnOnce(&mut ImportTraffic),
    agrees: bool,
) -> Result<ImportedTraffic, Error> {
    let mut wish = ImportTraffic {
        files: vec![file.to_owned()],
        mapping: Vec::new(),
        adds_up: Vec::new(),
        site: None,
        now: now(),
        allow_empty: false,
        dry_run: false,
    };
    change(&mut wish);
    let (url, runtime) = (database.url.clone(), tokio::runtime::Handle::current());
    let import = move || import_traffic(&url, &wish, |_| agrees, work(&runtime));
    tokio::task::spawn_blocking(import).await.unwrap()
}

async fn articles(database: &TestDatabase, file: &Path) -> Result<ImportedArticles, Error> {
    articles_of(database, file, false).await
}

async fn articles_of(
    database: &TestDatabase,
    file: &Path,
    allow_empty: bool,
) -> Result<ImportedArticles, Error> {
    articles_with(database, file, |wish| wish.allow_empty = allow_empty).await
}

async fn articles_with(
    database: &TestDatabase,
    file: &Path,
    change: impl FnOnce(&mut ImportArticles),
) -> Result<ImportedArticles, Error> {
    let mut wish = ImportArticles {
        file: file.to_owned(),
        mapping: Vec::new(),
        today: Day::of(&now()),
        allow_empty: false,
        dry_run: false,
    };
    change(&mut wish);
    let (url, runtime) = (database.url.clone(), tokio::runtime::Handle::current());
    tokio::task::spawn_blocking(move || import_articles(&url, &wish, work(&runtime))).await.unwrap()
}

pub async fn unmatched_urls(database: &TestDatabase) -> Vec<(String, i64)> {
    let (url, runtime) = (database.url.clone(), tokio::runtime::Handle::current());
    let list = move || unmatched(&url, 100, work(&runtime)).unwrap().0;
    let urls = tokio::task::spawn_blocking(list).await.unwrap();
    urls.into_iter().map(|it| (it.url, it.pageviews)).collect()
}

/// The rows of an answer by their keys: page views, sessions, seconds.
async fn sums(database: &TestDatabase, grouping: Grouping) -> BTreeMap<String, [i64; 3]> {
    let pairs = [("start", "1990-01-01"), ("end", "2030-12-31")];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let query = Query::parse(grouping, &pairs).unwrap();
    let store =
        DashboardStore::open(&database.url, &dashboard::store::Options::default()).await.unwrap();
    let totals = store.answer(query.clone()).await.unwrap();
    let facts = database.store().await.answer(query).await.unwrap();
    assert_eq!(String::from_utf8(totals.body).unwrap(), String::from_utf8_lossy(&facts.body));
    let body: Value = serde_json::from_slice(&facts.body).unwrap();
    let row = |row: &Value| {
        let number = |name: &str| row[name].as_i64().unwrap();
        let sums = [number("pageviews"), number("sessions"), number("engagement_seconds")];
        (row["key"].as_str().unwrap().to_owned(), sums)
    };
    body["rows"].as_array().unwrap().iter().map(row).collect()
}

const ARTICLES: &str = "\
url,title,published,uuid,author,team,product,language,human_language,original
https://www.example.com/blog/one,One,2020-01-01,11111111-1111-4111-8111-111111111111,Ann,A,P,Rust,en,
https://example.com/blog/two/,\"Two, \"\"quoted\"\" 🦀\",2021-05-06T10:00:00Z,,Bob,A,P,Go,en,
https://example.org/three,Drei,2021-06-01,,Ann,B,Q,none,de,https://example.com/blog/one
";

const TRAFFIC: &str = "\
date,url,country,pageviews,sessions,engagement_seconds
2021-01-01,https://example.com/blog/one?utm_source=x,US,10,8,300
2021-01-01,http://www.EXAMPLE.com/blog/one/,United States,5,4,100
2021-01-01,https://example.com/blog/two,DE,3,2,50
2021-01-02,https://example.com/blog/one,DE,1,1,9
2021-01-02,https://example.com/gone,DE,7,6,5
2021-02-01,/three,(not set),2,2,2
";

#[tokio::test(flavor = "multi_thread")]
async fn articles_then_traffic_add_up_and_unmatched_traffic_waits() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        let imported = articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        assert_eq!((imported.added, imported.changed, imported.unchanged), (3, 0, 0));
        let imported = traffic(&database, &files.write("t.csv", TRAFFIC)).await.unwrap();
        assert_eq!((imported.rows, imported.days, imported.facts), (6, 3, 4));
        assert_eq!((imported.unmatched_urls, imported.unmatched_pageviews), (1, 7));
        let by_author = sums(&database, Grouping::Authors).await;
        assert_eq!(by_author["Ann"], [18, 15, 411]);
        assert_eq!(by_author["Bob"], [3, 2, 50]);
        let by_country = sums(&database, Grouping::Countries).await;
        assert_eq!(by_country["US"], [15, 12, 400]);
        assert_eq!(by_country["ZZ"], [2, 2, 2]);
        assert_eq!(unmatched_urls(&database).await, [("example.com/gone".to_owned(), 7)]);

        // The article comes later, with the same things written otherwise, and one changed.
        let more = "Link;Headline;Date;Author\n\
                    https://example.com/Gone#top;Gone;2019-01-01;Eve\n\
                    https://example.com/blog/two;Two again;2021-05-06;Bob\n";
        let imported = articles(&database, &files.write("b.csv", more)).await.unwrap();
        assert_eq!((imported.added, imported.changed, imported.matched_pageviews), (1, 1, 7));
        assert_eq!(sums(&database, Grouping::Authors).await["Eve"], [7, 6, 5]);
        assert_eq!(unmatched_urls(&database).await, []);
        let again = articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        assert_eq!((again.added, again.changed, again.unchanged), (0, 1, 2));
        assert_eq!(verify(&database).await.unwrap().differences, []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_article_takes_its_totals_to_another_blog() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        traffic(&database, &files.write("t.csv", TRAFFIC)).await.unwrap();
        assert_eq!(sums(&database, Grouping::Blogs).await["example.com"], [19, 15, 459]);
        let moved = r#"{"url": "https://example.com/blog/one", "title": "One",
                        "published": "2020-01-01", "blog": "other"}"#;
        articles(&database, &files.write("m.ndjson", moved.replace('\n', ""))).await.unwrap();
        let by_blog = sums(&database, Grouping::Blogs).await;
        assert_eq!((by_blog["other"], by_blog["example.com"]), ([16, 13, 409], [3, 2, 50]));
        assert_eq!(verify(&database).await.unwrap().differences, []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_article_known_by_its_uuid_may_get_another_url() {
    let files = Files::new();
    let uuid = "11111111-1111-4111-8111-111111111111";
    let moved = json!([{
        "uuid": uuid, "url": "https://example.com/moved", "title": "One", "published": "2020-01-01"
    }]);
    let tabs = "date\turl\tcountry\tpageviews\tsessions\tengagement_seconds\n\
                2021-01-01\thttps://example.com/moved\tDE\t3\t2\t1\n";
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let imported =
            articles(&database, &files.write("m.json", moved.to_string())).await.unwrap();
        assert_eq!((imported.added, imported.changed, imported.unchanged), (0, 1, 0));
        let imported = traffic(&database, &files.write("t.tsv", tabs)).await.unwrap();
        assert_eq!((imported.facts, imported.unmatched_urls), (1, 0));
        assert_eq!(sums(&database, Grouping::Articles).await[uuid], [3, 2, 1]);
    }
}

/// Each click on an advertisement has a URL of its own.
#[tokio::test(flavor = "multi_thread")]
async fn distinct_urls_of_one_article_are_all_matched() {
    let files = Files::new();
    let database = sqlite(&Rows::none());
    articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
    let mut csv = "date,url,country,pageviews,sessions,engagement_seconds\n".to_owned();
    for click in 0..200_000 {
        csv += &format!("2021-01-01,https://example.com/blog/one?gclid={click:x},US,1,1,2\n");
    }
    let imported = traffic(&database, &files.write("t.csv", csv)).await.unwrap();
    assert_eq!((imported.rows, imported.facts), (200_000, 1));
    assert_eq!(sums(&database, Grouping::Days).await["2021-01-01"], [200_000, 200_000, 400_000]);
}

/// The blog that a URL's traffic is of, while one of the articles is missing and later.
fn owner(url: usize, has_path: bool) -> &'static str {
    match URLS[url] {
        "/three" => "example.org",
        // Of the host of the path that was matched, if there was one.
        "(not set)" if has_path => "example.org",
        "(not set)" => "",
        _ => "example.com",
    }
}

/// Rows of a day: which of the URLs, which country, counts.
type DayRows = Vec<(usize, usize, [u32; 3])>;

const URLS: [&str; 6] = [
    "https://example.com/blog/one",
    "https://www.example.com/blog/two/",
    "/three",
    "https://example.com/later",
    "https://example.com/never",
    "(not set)",
];
const COUNTRIES: [&str; 4] = ["US", "DE", "Japan", "ZZ"];

/// Random imports, of days that were there and that were not, in any order; one of the articles
/// comes in the middle of them.
fn imports() -> impl Strategy<Value = Vec<(Vec<(i32, DayRows)>, bool)>> {
    let row = (0..URLS.len(), 0..COUNTRIES.len(), [0..50_u32, 0..40_u32, 0..9_000_u32]);
    let rows = prop::collection::vec(row, 1..12).prop_map(|mut rows| {
        rows.sort_unstable_by_key(|(url, country, _)| (*url, *country));
        rows.dedup_by_key(|(url, country, _)| (*url, *country));
        rows
    });
    // Around the turn of a month and of a year.
    let day = prop::sample::select(vec![18_625, 18_626, 18_627, 18_628, 18_992, 18_993, 18_800]);
    let days = prop::collection::btree_map(day, rows, 1..5);
    let days = days.prop_map(|days| days.into_iter().collect::<Vec<_>>());
    prop::collection::vec((days.prop_shuffle(), any::<bool>()), 1..5)
}

#[test]
fn random_imports_keep_the_last_values_and_right_totals() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let databases = runtime.block_on(both(&Rows::none()));
    let mut runner = TestRunner::new(testing::cases(25));
    let check = |imports| runtime.block_on(carry_out(&databases, imports));
    runner.run(&imports(), check).unwrap();
}

async fn carry_out(
    databases: &[TestDatabase; 2],
    imports: Vec<(Vec<(i32, DayRows)>, bool)>,
) -> Result<(), TestCaseError> {
    let files = Files::new();
    let later = "url,title,published\nhttps://example.com/later,Later,2020-01-01\n";
    for database in databases {
        let clear = "DELETE FROM traffic; DELETE FROM unmatched_traffic; DELETE FROM articles; \
                     DELETE FROM imported_days";
        database.execute(clear).await;
        articles(database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let mut expected: BTreeMap<(String, &str), DayRows> = BTreeMap::new();
        let mut matches = 3;
        for (days, with_article) in &imports {
            if *with_article {
                articles(database, &files.write("l.csv", later)).await.unwrap();
                matches = 4;
            }
            let mut csv = "date,url,country,pageviews,sessions,engagement_seconds\n".to_owned();
            let has_path = days.iter().flat_map(|day| &day.1).any(|row| URLS[row.0] == "/three");
            for (day, rows) in days {
                let day = Day::from_number(*day).unwrap().to_string();
                for (url, country, [views, sessions, seconds]) in rows {
                    let (url, country) = (URLS[*url], COUNTRIES[*country]);
                    csv += &format!("{day},{url},{country},{views},{sessions},{seconds}\n");
                }
                // An import replaces the days of those blogs that it has rows of.
                let owners: BTreeSet<_> = rows.iter().map(|row| owner(row.0, has_path)).collect();
                for &one in &owners {
                    let own = rows.iter().filter(|row| owner(row.0, has_path) == one);
                    expected.insert((day.clone(), one), own.cloned().collect());
                }
                // What waited without a host is of the only blog that has the day.
                let mut blogs = expected.keys().filter(|it| it.0 == day && !it.1.is_empty());
                let only = blogs.next().map(|it| it.1).filter(|_| blogs.next().is_none());
                if !owners.contains("") && only.is_some_and(|only| owners.contains(only)) {
                    expected.remove(&(day, ""));
                }
            }
            traffic(database, &files.write("t.csv", csv)).await.unwrap();
        }
        let mut by_day: BTreeMap<String, [i64; 3]> = BTreeMap::new();
        let mut unmatched = 0;
        for ((day, _), rows) in &expected {
            for (url, _, counts) in rows {
                if *url >= matches {
                    unmatched += i64::from(counts[0]);
                    continue;
                }
                let sums = by_day.entry(day.clone()).or_default();
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += i64::from(*count));
            }
        }
        prop_assert_eq!(sums(database, Grouping::Days).await, by_day);
        let kept: i64 = unmatched_urls(database).await.iter().map(|(_, pageviews)| pageviews).sum();
        prop_assert_eq!(kept, unmatched);
        prop_assert_eq!(verify(database).await.unwrap().differences, []);
    }
    Ok(())
}
