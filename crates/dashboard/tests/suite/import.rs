//! Data from elsewhere, on both engines: what is imported adds up to what the files say, whatever
//! was there before, with totals that are right after every step; what is wrong with a file is named
//! and changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dashboard::import::{
    Error, ImportArticles, ImportTraffic, ImportedArticles, ImportedTraffic, import_articles,
    import_traffic, unmatched,
};
use dashboard::query::{Day, Grouping, Query};
use dashboard::store::Store;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tempfile::TempDir;

use crate::database::{TestDatabase, both, work};
use crate::rollup::{execute, verify};
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

fn today() -> Day {
    "2024-06-01".parse().unwrap()
}

pub async fn traffic(database: &TestDatabase, file: &Path) -> Result<ImportedTraffic, Error> {
    let wish = ImportTraffic {
        files: vec![file.to_owned()],
        mapping: Vec::new(),
        site: None,
        today: today(),
    };
    let (url, runtime) = (database.url.clone(), tokio::runtime::Handle::current());
    tokio::task::spawn_blocking(move || import_traffic(&url, &wish, work(&runtime))).await.unwrap()
}

async fn articles(database: &TestDatabase, file: &Path) -> Result<ImportedArticles, Error> {
    let wish = ImportArticles { file: file.to_owned(), mapping: Vec::new() };
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
    let store = Store::open(&database.url, &dashboard::store::Options::default()).await.unwrap();
    let totals = store.answer(query.clone()).await.unwrap();
    let facts = database.store().await.answer(query).await.unwrap();
    assert_eq!(String::from_utf8(totals.body).unwrap(), String::from_utf8_lossy(&facts.body));
    let body: serde_json::Value = serde_json::from_slice(&facts.body).unwrap();
    let row = |row: &serde_json::Value| {
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
async fn an_article_that_moves_to_another_blog_takes_its_totals_along() {
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

/// A CSV of GA4 with comments, a totals row and its extra column; the same rows as two reports of
/// the Data API.
#[tokio::test(flavor = "multi_thread")]
async fn google_analytics_exports_say_the_same_in_both_forms() {
    let files = Files::new();
    let csv = "\u{feff}# ----------------------------------------\n# Traffic\n\
               # 20240401-20240403\n# ----------------------------------------\n\n\
               Date,Hostname,Page path + query string,Country,Views,Sessions,User engagement,\n\
               ,,,,16,11,310,Grand total\n\
               20240401,www.example.com,/blog/one?gclid=7,Germany,10,8,300.4,\n\
               20240401,www.example.com,/blog/two,Côte d’Ivoire,5,2,9.5,\n\
               20240403,example.org,/three/,(not set),1,1,0,\n";
    let row = |date: &str, url: &str, country: &str, numbers: [&str; 3]| {
        let values = |texts: &[&str]| {
            let values: Vec<_> = texts.iter().map(|it| serde_json::json!({"value": it})).collect();
            serde_json::Value::from(values)
        };
        let (dimensions, metrics) = (values(&[date, url, country]), values(&numbers));
        serde_json::json!({"dimensionValues": dimensions, "metricValues": metrics})
    };
    let report = |count: u32, rows: &[serde_json::Value]| {
        let names = |names: &[&str]| {
            names.iter().map(|name| serde_json::json!({"name": name})).collect::<Vec<_>>()
        };
        serde_json::json!({
            "dimensionHeaders": names(&["date", "fullPageUrl", "countryId"]),
            "metricHeaders": names(&["screenPageViews", "sessions", "userEngagementDuration"]),
            "rows": rows,
            "rowCount": count,
            "kind": "analyticsData#runReport"
        })
    };
    let first = [
        row("20240401", "www.example.com/blog/one", "DE", ["10", "8", "300"]),
        row("20240401", "www.example.com/blog/two", "CI", ["5", "2", "10"]),
    ];
    let second = [row("20240403", "example.org/three", "(not set)", ["1", "1", "0"])];
    let json = |counts: [u32; 2]| {
        let reports = [report(counts[0], &first), report(counts[1], &second)];
        serde_json::json!({"kind": "analyticsData#batchRunReports", "reports": reports}).to_string()
    };
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let imported = traffic(&database, &files.write("ga.csv", csv)).await.unwrap();
        assert_eq!((imported.rows, imported.unmatched_urls), (3, 0));
        assert_eq!(imported.notes, Vec::<String>::new());
        let from_csv = sums(&database, Grouping::Articles).await;
        assert_eq!(from_csv["11111111-1111-4111-8111-111111111111"], [10, 8, 300]);
        for (counts, note) in [
            ([2, 1], ""),
            ([4, 4], "reports of 4 rows are not whole: the file holds 3 of"),
            ([2, 3], "reports of 3 rows are not whole: the file holds 1 of"),
        ] {
            let imported = traffic(&database, &files.write("ga.json", json(counts))).await.unwrap();
            assert_eq!((imported.rows, imported.days), (3, 2));
            let notes = imported.notes.concat();
            assert!(notes.contains(note) && notes.is_empty() == note.is_empty(), "{notes}");
        }
        assert_eq!(sums(&database, Grouping::Articles).await, from_csv);
        let short = csv.replace(",16,11", ",17,11");
        let imported = traffic(&database, &files.write("short.csv", short)).await.unwrap();
        assert!(imported.notes[0].contains("17 page views, its rows have 16"), "{imported:?}");
    }
}

/// Each of them names the file, the place and the column, and leaves everything as it was.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_file_of_traffic_is_named_by_line_and_column_and_changes_nothing() {
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
    let good = "2021-01-01,https://example.com/blog/one,DE,1,1,1\n";
    let with = |row: &str| format!("{header}{good}{row}\n").into_bytes();
    let mut latin1 = with("");
    latin1.extend(b"2021-01-02,https://example.com/caf\xe9,DE,1,1,1\n");
    let utf16: Vec<u8> =
        b"\xff\xfe".iter().copied().chain(header.bytes().flat_map(|it| [it, 0])).collect();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (with("2021-01-01,https://example.com/b,DE,-5,1,1"), "line 3, column pageviews: \"-5\""),
        (with("2021-01-01,https://example.com/b,DE,1,1.5,1"), "line 3, column sessions"),
        (with("2021-01-01,https://example.com/b,DE,1,1,"), "column engagement_seconds: \"\""),
        (with("2021-02-30,https://example.com/b,DE,1,1,1"), "line 3, column date: \"2021-02-30\""),
        (with("9999-12-31,https://example.com/b,DE,1,1,1"), "in the future"),
        (with("2021-01-01,https://example.com/b,XX,1,1,1"), "column country: \"XX\" is no country"),
        (with("2021-01-01,,DE,1,1,1"), "line 3, column url: it is empty"),
        (with(good.trim_end()), "line 3: it repeats line 2"),
        (with("2021-01-01,https://example.com/b,DE,1,1"), "line 3: it has 5 cells"),
        (
            with("2021-01-01,\"https://example.com/b,DE,1,1,1\n2021-01-01,b,DE,1,1,1"),
            "is a quote missing",
        ),
        (with("2021-01-01,https://example.com/b,DE,9999999999,1,1"), "is more than 2147483647"),
        (
            with("2021-01-01,https://example.com/blog/one/,DE,2147483647,1,1"),
            "it adds up to more than 2147483647",
        ),
        (latin1, "line 3, column url: it is not UTF-8"),
        (utf16, "it is not UTF-8 (perhaps UTF-16)"),
        (Vec::new(), "it has no header line"),
        (b"# only\n# comments\n".to_vec(), "it has no header line"),
        (b"date,url,country,pageviews,sessions\n".to_vec(), "has no column engagement_seconds"),
        (b"{\"reports\": [".to_vec(), "no report of the Data API"),
        (
            br#"{"dimensionHeaders":[{"name":"date"},{"name":"pagePath"},{"name":"country"}],
                "metricHeaders":[{"name":"screenPageViews"},{"name":"sessions"},
                {"name":"userEngagementDuration"}],"rows":[{"dimensionValues":[{"value":"20240403"},
                {"value":"/blog/one"},{"value":"Germany"}],"metricValues":[{"value":"x"},
                {"value":"1"},{"value":"1"}]}]}"#
                .to_vec(),
            "row 1, column screenPageViews: \"x\" is no count",
        ),
    ];
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        traffic(&database, &files.write("t.csv", TRAFFIC)).await.unwrap();
        let before = sums(&database, Grouping::Days).await;
        for (content, expected) in &cases {
            let error = traffic(&database, &files.write("bad.csv", content)).await.unwrap_err();
            let error = error.to_string();
            assert!(error.contains("bad.csv") && error.contains(expected), "{expected}: {error}");
        }
        assert_eq!(sums(&database, Grouping::Days).await, before);
        assert_eq!(unmatched_urls(&database).await.len(), 1);
        let missing =
            traffic(&database, Path::new("/nowhere/t.csv")).await.unwrap_err().to_string();
        assert!(missing.contains("cannot read /nowhere/t.csv"), "{missing}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_file_of_articles_is_named_by_line_and_column_and_changes_nothing() {
    let header = "url,title,published,uuid,original,author\n";
    let uuid = "22222222-2222-4222-8222-222222222222";
    let long = "x".repeat(65);
    let cases = [
        ("https://example.com/x,,2021-01-01,,,".to_owned(), "line 2, column title: it is empty"),
        ("/x,X,2021-01-01,,,".to_owned(), "line 2, column url: \"/x\" is no URL with a host"),
        ("https://example.com/x,X,2021-13-01,,,".to_owned(), "line 2, column published"),
        ("https://example.com/x,X,0001-01-01,,,".to_owned(), "not between 1970 and 2100"),
        ("https://example.com/x,X,2021-01-01,7,,".to_owned(), "column uuid: \"7\" is no UUID"),
        (format!("https://example.com/blog/one,X,2021-01-01,{uuid},,"), "has another UUID"),
        ("https://example.com/x,X,2021-01-01,,https://a.b/c,".to_owned(), "neither UUID nor URL"),
        (
            "https://example.com/x,X,2021-01-01,,https://example.com/x,".to_owned(),
            "not the translation of itself",
        ),
        (
            "https://example.com/x,X,2021-01-01,,https://example.org/three,".to_owned(),
            "itself a translation",
        ),
        (
            "https://example.com/blog/one,X,2021-01-01,,https://example.com/blog/two,".to_owned(),
            "the article has translations",
        ),
        (format!("https://example.com/x,X,2021-01-01,,,{long}"), "it has 65 characters, 64 fit"),
        (
            "https://example.com/x,X,2021-01-01,,,\nhttps://example.com/X/,X,2021-01-01,,,"
                .to_owned(),
            "line 3, column url: it is the article of line 2 again",
        ),
    ];
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        for (rows, expected) in &cases {
            // Good rows around it are not taken either.
            let content =
                format!("{header}{rows}\nhttps://example.com/good,Good,2021-01-01,,,New\n");
            let error = articles(&database, &files.write("bad.csv", content)).await.unwrap_err();
            let error = error.to_string();
            assert!(error.contains("bad.csv") && error.contains(expected), "{expected}: {error}");
        }
        let again = articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        assert_eq!((again.added, again.changed, again.unchanged), (0, 0, 3));
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
fn random_imports_leave_what_the_last_ones_say_with_right_totals() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let databases = runtime.block_on(both(&Rows::none()));
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { failure_persistence: None, ..Config::with_cases(25) };
    let mut runner = TestRunner::new_with_rng(config, random);
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
        let clear = "DELETE FROM traffic; DELETE FROM unmatched_traffic; DELETE FROM articles";
        execute(database, clear).await;
        articles(database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let mut expected: BTreeMap<String, DayRows> = BTreeMap::new();
        let mut matches = 3;
        for (days, with_article) in &imports {
            if *with_article {
                articles(database, &files.write("l.csv", later)).await.unwrap();
                matches = 4;
            }
            let mut csv = "date,url,country,pageviews,sessions,engagement_seconds\n".to_owned();
            for (day, rows) in days {
                let day = Day::from_number(*day).unwrap().to_string();
                for (url, country, [views, sessions, seconds]) in rows {
                    let (url, country) = (URLS[*url], COUNTRIES[*country]);
                    csv += &format!("{day},{url},{country},{views},{sessions},{seconds}\n");
                }
                expected.insert(day, rows.clone());
            }
            traffic(database, &files.write("t.csv", csv)).await.unwrap();
        }
        let mut by_day: BTreeMap<String, [i64; 3]> = BTreeMap::new();
        let mut unmatched = 0;
        for (day, rows) in &expected {
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
