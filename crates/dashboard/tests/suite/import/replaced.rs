//! A second import of the same days: what it replaces, what it says of that, and what it leaves.

use dashboard::import::{Error, ImportTraffic, ReplacedDay};
use dashboard::query::Grouping;

use super::ga4::{api_row, report};
use super::{Files, articles, sums, traffic, traffic_agreed, traffic_with, unmatched_urls};
use crate::database::{TestDatabase, both};
use crate::rollup::verify;
use crate::rows::Rows;

const ARTICLES: &str = "\
url,title,published,blog
https://example.com/one,One,2020-01-01,first
https://example.org/two,Two,2020-01-01,second
";

/// A file of one row for each day, URL and number of page views.
fn file(rows: &[(&str, &str, u32)]) -> String {
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n".to_owned();
    let row = |(day, url, views): &(&str, &str, u32)| format!("{day},{url},DE,{views},1,1\n");
    header + &rows.iter().map(row).collect::<String>()
}

/// A replaced day: page views before and after, each time all and those of articles.
fn replaced(blog: &str, day: &str, before: [u64; 2], after: [u64; 2]) -> ReplacedDay {
    ReplacedDay {
        blog: blog.to_owned(),
        day: day.parse().unwrap(),
        pageviews_before: before[0],
        pageviews_after: after[0],
        matched_pageviews_before: before[1],
        matched_pageviews_after: after[1],
    }
}

/// Blog, day and state of all imported days.
async fn states(database: &TestDatabase) -> Vec<String> {
    let sql = "SELECT name, day - 18628, state FROM imported_days \
               JOIN blogs ON blogs.id = blog_id ORDER BY 1, 2";
    database.texts(sql).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_another_blog_touches_no_day_of_this_one() {
    let files = Files::new();
    let first = file(&[
        ("2021-01-01", "https://example.com/one", 10),
        ("2021-01-01", "https://example.com/gone", 5),
        ("2021-01-02", "https://example.com/one", 20),
    ]);
    let second = file(&[
        ("2021-01-01", "https://example.org/two", 3),
        ("2021-01-01", "https://example.org/lost", 4),
    ]);
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let imported = traffic(&database, &files.write("1.csv", &first)).await.unwrap();
        assert_eq!(imported.replaced, []);
        let imported = traffic(&database, &files.write("2.csv", &second)).await.unwrap();
        assert_eq!((imported.replaced, imported.pageviews), (Vec::new(), 3));
        let blogs = sums(&database, Grouping::Blogs).await;
        assert_eq!((blogs["first"], blogs["second"]), ([30, 2, 2], [3, 1, 1]));
        let waiting = [("example.com/gone", 5), ("example.org/lost", 4)]
            .map(|(url, it)| (url.to_owned(), it));
        assert_eq!(unmatched_urls(&database).await, waiting);
        // The same days again: theirs are replaced, with the traffic that matched no article.
        let again = file(&[("2021-01-01", "https://example.org/two", 8)]);
        let imported = traffic(&database, &files.write("3.csv", &again)).await.unwrap();
        assert_eq!(imported.replaced, [replaced("second", "2021-01-01", [7, 3], [8, 8])]);
        let blogs = sums(&database, Grouping::Blogs).await;
        assert_eq!((blogs["first"], blogs["second"]), ([30, 2, 2], [8, 1, 1]));
        assert_eq!(unmatched_urls(&database).await, [("example.com/gone".to_owned(), 5)]);
        let expected = ["first 0 complete", "first 1 complete", "second 0 complete"];
        assert_eq!(states(&database).await, expected);
        assert_eq!(verify(&database).await.unwrap().differences, []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_that_falls_by_half_is_asked_for() {
    let files = Files::new();
    let whole = file(&[
        ("2021-01-01", "https://example.com/one", 100),
        ("2021-01-02", "https://example.com/one", 99),
        ("2021-01-03", "https://example.com/one", 100),
    ]);
    let part = file(&[
        ("2021-01-01", "https://example.com/one", 49),
        ("2021-01-02", "https://example.com/one", 1),
        ("2021-01-03", "https://example.com/one", 50),
    ]);
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        traffic(&database, &files.write("t.csv", &whole)).await.unwrap();
        let before = sums(&database, Grouping::Days).await;
        let part = files.write("part.csv", &part);
        let refused = traffic_agreed(&database, &part, |_| {}, false).await.unwrap_err();
        let Error::Halved { days } = &refused else { panic!("{refused}") };
        // Of 100 page views or more, to less than half.
        assert_eq!(*days, [replaced("first", "2021-01-01", [100; 2], [49; 2])]);
        let said = refused.to_string();
        assert!(
            said.contains("first on 2021-01-01 would fall from 100 page views to 49"),
            "{said}"
        );
        assert!(said.contains("add --yes"), "{said}");
        assert_eq!(sums(&database, Grouping::Days).await, before);
        let imported = traffic_agreed(&database, &part, |_| {}, true).await.unwrap();
        assert_eq!(imported.replaced.len(), 3);
        assert_eq!(sums(&database, Grouping::Days).await["2021-01-01"], [49, 1, 1]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_files_are_one_import() {
    let files = Files::new();
    let first = files.write("1.csv", file(&[("2021-01-01", "https://example.com/one", 60)]));
    let second = file(&[
        ("2021-01-01", "https://example.com/gone", 70),
        ("2021-01-02", "https://example.org/two", 5),
    ]);
    let second = files.write("2.csv", second);
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let more = second.clone();
        let imported = traffic_with(&database, &first, |it| it.files.push(more)).await.unwrap();
        assert_eq!((imported.rows, imported.days, imported.replaced.len()), (3, 2, 0));
        // Each alone holds a part of the blog's day.
        let refused = traffic_agreed(&database, &first, |_| {}, false).await.unwrap_err();
        let Error::Halved { days } = &refused else { panic!("{refused}") };
        assert_eq!(*days, [replaced("first", "2021-01-01", [130, 60], [60; 2])]);
    }
}

/// Where one blog alone is known, paths that match nothing are of its host.
#[tokio::test(flavor = "multi_thread")]
async fn paths_of_another_blog_do_not_replace_articles_unasked() {
    let files = Files::new();
    let own = file(&[("2021-01-01", "/one", 100), ("2021-01-01", "/gone", 20)]);
    let other = file(&[("2021-01-01", "/other", 90), ("2021-01-01", "/another", 30)]);
    let article = "url,title,published\nhttps://example.com/one,One,2020-01-01\n";
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", article)).await.unwrap();
        traffic(&database, &files.write("own.csv", &own)).await.unwrap();
        let other = files.write("other.csv", &other);
        let refused = traffic_agreed(&database, &other, |_| {}, false).await.unwrap_err();
        let said = refused.to_string();
        let expected = "example.com on 2021-01-01 would fall from 100 page views of articles to 0";
        assert!(said.contains(expected) && said.contains("another blog"), "{said}");
        assert_eq!(sums(&database, Grouping::Days).await["2021-01-01"], [100, 1, 1]);
        let agreed = traffic_agreed(&database, &other, |_| {}, true).await.unwrap();
        let expected = [replaced("example.com", "2021-01-01", [120, 100], [120, 0])];
        assert_eq!(agreed.replaced, expected);
        assert_eq!(verify(&database).await.unwrap().differences, []);
    }
}

/// Paths without a host are of the host that the others match.
#[tokio::test(flavor = "multi_thread")]
async fn paths_without_a_host_stay_with_their_blog() {
    let files = Files::new();
    let first = file(&[("2021-01-01", "/one", 1), ("2021-01-01", "/gone", 5)]);
    let second = file(&[("2021-01-01", "/two", 2), ("2021-01-01", "/gone", 6)]);
    let neither = file(&[("2021-01-01", "/gone", 7)]);
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        traffic(&database, &files.write("1.csv", &first)).await.unwrap();
        traffic(&database, &files.write("2.csv", &second)).await.unwrap();
        let urls = [("example.org/gone", 6), ("example.com/gone", 5)];
        let urls = urls.map(|(url, views)| (url.to_owned(), views)).to_vec();
        assert_eq!(unmatched_urls(&database).await, urls);
        let imported = traffic(&database, &files.write("3.csv", &neither)).await.unwrap();
        assert!(imported.notes.concat().contains("--site HOST"), "{:?}", imported.notes);
        assert_eq!(unmatched_urls(&database).await.len(), 3);
        let again = traffic(&database, &files.write("1.csv", &first)).await.unwrap();
        assert_eq!(again.replaced, [replaced("first", "2021-01-01", [6, 1], [6, 1])]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_that_is_not_over_is_partial() {
    let files = Files::new();
    // The import's day is 2024-06-01.
    let late = file(&[
        ("2024-05-31", "https://example.com/one", 9),
        ("2024-06-01", "https://example.com/one", 4),
        ("2024-06-02", "https://example.org/new", 2),
    ]);
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let file = files.write("t.csv", &late);
        traffic(&database, &file).await.unwrap();
        let (day, next, after) =
            ("first 1246 complete", "first 1247 partial", "second 1248 partial");
        assert_eq!(states(&database).await, [day, next, after]);
        traffic_with(&database, &file, |it| it.now = "2024-06-03T12:00:00[UTC]".parse().unwrap())
            .await
            .unwrap();
        let all = [day, "first 1247 complete", "second 1248 complete"];
        assert_eq!(states(&database).await, all);
    }
}

/// Ten o'clock of the 2nd in UTC is the 1st in Pago Pago, and the 3rd in Kiritimati.
#[tokio::test(flavor = "multi_thread")]
async fn a_day_that_is_not_over_where_the_report_was_made_is_partial() {
    let files = Files::new();
    let rows = ["20240531", "20240601"]
        .map(|day| api_row(day, "https://example.com/one", "DE", ["4", "2", "9"]));
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        for (zone, state) in [
            ("Pacific/Pago_Pago", "partial"),
            ("Etc/UTC", "complete"),
            ("Pacific/Kiritimati", "complete"),
            ("Mars/Olympus", "complete"),
        ] {
            let mut report = report(2, &rows);
            report["metadata"]["timeZone"] = zone.into();
            let file = files.write("ga.json", report.to_string());
            let at_10 =
                |it: &mut ImportTraffic| it.now = "2024-06-02T10:00:00[UTC]".parse().unwrap();
            let imported = traffic_with(&database, &file, at_10).await.unwrap();
            let last = format!("first 1247 {state}");
            assert_eq!(states(&database).await, ["first 1246 complete", &last], "{zone}");
            let notes = imported.notes.concat();
            assert_eq!(notes.contains("unknown here"), zone.starts_with("Mars"), "{notes}");
            assert_eq!(notes.contains("not over: 2024-06-01"), state == "partial", "{notes}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn days_of_traffic_that_waited_are_those_of_the_blog_it_finds() {
    let files = Files::new();
    let early = file(&[
        ("2021-01-01", "https://example.com/one", 9),
        ("2021-01-02", "https://example.com/gone", 4),
        ("2021-01-03", "https://nowhere.com/1", 4),
    ]);
    for database in both(&Rows::none()).await {
        let imported = traffic(&database, &files.write("t.csv", &early)).await.unwrap();
        assert_eq!(imported.replaced, []);
        assert_eq!(states(&database).await, Vec::<String>::new());
        // Without a blog the host has its days.
        let again = traffic(&database, &files.write("t.csv", &early)).await.unwrap();
        assert_eq!(again.replaced[0], replaced("example.com", "2021-01-01", [9, 0], [9, 0]));
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        assert_eq!(states(&database).await, ["first 0 complete", "first 1 complete"]);
        // An article takes its days along.
        let moved = "url,title,published,blog\nhttps://example.com/one,One,2020-01-01,third\n";
        articles(&database, &files.write("m.csv", moved)).await.unwrap();
        assert!(states(&database).await.contains(&"third 0 complete".to_owned()));
    }
}
