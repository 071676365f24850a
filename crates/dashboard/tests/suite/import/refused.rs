//! Errors in files, named by file, place and column; a refused file changes nothing.

use std::path::Path;

use dashboard::query::Grouping;

use super::{
    ARTICLES, Files, TRAFFIC, articles, articles_of, sums, traffic, traffic_with, unmatched_urls,
};
use crate::database::{both, sqlite};
use crate::reading::{into_mode, state};
use crate::rollup::verify;
use crate::rows::Rows;

/// Files of traffic, and what is wrong with them.
fn wrong_traffic() -> Vec<(Vec<u8>, &'static str)> {
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
    let good = "2021-01-01,https://example.com/blog/one,DE,1,1,1\n";
    let with = |row: &str| format!("{header}{good}{row}\n").into_bytes();
    let mut latin1 = with("");
    latin1.extend(b"2021-01-02,https://example.com/caf\xe9,DE,1,1,1\n");
    let utf16: Vec<u8> = header.bytes().flat_map(|it| [it, 0]).collect();
    vec![
        (with("2021-01-01,https://example.com/b,DE,-5,1,1"), "line 3, column pageviews: \"-5\""),
        (with("2021-01-01,https://example.com/b,DE,1,1.5,1"), "line 3, column sessions"),
        (with("2021-01-01,https://example.com/b,DE,1,1,"), "column engagement_seconds: \"\""),
        (with("2021-02-30,https://example.com/b,DE,1,1,1"), "line 3, column date: \"2021-02-30\""),
        (with("9999-12-31,https://example.com/b,DE,1,1,1"), "in the future"),
        (
            with("2021-01-01,https://example.com/b,XX,1,1,1"),
            "column country: \"XX\" is not a country",
        ),
        (with("2021-01-01,,DE,1,1,1"), "line 3, column url: it is empty"),
        (with(good.trim_end()), "line 3: it repeats line 2"),
        (with("2021-01-01,https://example.com/b,DE,1,1"), "line 3: it has 5 cells"),
        (with("2021-01-01"), "line 3: it has 1 cell, the header has 6; is a quote missing"),
        (
            with("2021-01-01,\"https://example.com/b,DE,1,1,1\n2021-01-01,b,DE,1,1,1"),
            "is a quote missing",
        ),
        (with("2021-01-01,https://example.com/b,DE,9999999999,1,1"), "is more than 2147483647"),
        (
            with("2021-01-01,https://example.com/blog/one?gclid=7,DE,2147483647,1,1"),
            "it adds up to more than 2147483647",
        ),
        (latin1, "line 4, column url: it is not UTF-8"),
        (utf16, "it is not UTF-8 (perhaps UTF-16 without a byte order mark)"),
        (Vec::new(), "it has no header line"),
        (b"# only\n# comments\n".to_vec(), "it has no header line"),
        (b"date,url,country,pageviews,sessions\n".to_vec(), "has no column engagement_seconds"),
        (
            b"{\"reports\": [".to_vec(),
            "not an answer of Google Analytics' Data API: it cannot be read",
        ),
        (b"{}".to_vec(), "it is an object without keys; expected are dimensionHeaders"),
        (b"[7]".to_vec(), "it cannot be read as one"),
        (b"[{}]".to_vec(), "it is an object without keys"),
        (
            br#"{"error": {"code": 403, "message": "no permission", "status": "DENIED"}}"#.to_vec(),
            "it is a refusal, \"no permission\"",
        ),
        (
            b"{\"date\": \"2021-01-01\", \"views\": 1}\n{\"date\": \"2021-01-02\"}\n".to_vec(),
            "it cannot be read as one",
        ),
        (br#"{"data": [], "total": 0}"#.to_vec(), "it is an object with the keys data, total"),
        (with("2021-01-01,javascript:alert(1),DE,1,1,1"), "line 3, column url: \"javascript:"),
        (
            br#"{"dimensionHeaders":[{"name":"date"},{"name":"pagePath"},{"name":"country"}],
                "metricHeaders":[{"name":"screenPageViews"},{"name":"sessions"},
                {"name":"userEngagementDuration"}],"rows":[{"dimensionValues":[{"value":"20240403"},
                {"value":"/blog/one"},{"value":"Germany"}],"metricValues":[{"value":"x"},
                {"value":"1"},{"value":"1"}]}]}"#
                .to_vec(),
            "row 1, column screenPageViews: \"x\" is not a count",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_traffic_name_line_and_column() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        traffic(&database, &files.write("t.csv", TRAFFIC)).await.unwrap();
        let before = sums(&database, Grouping::Days).await;
        for (content, expected) in wrong_traffic() {
            let error = traffic(&database, &files.write("bad.csv", content)).await.unwrap_err();
            let error = error.to_string();
            assert!(error.contains("bad.csv") && error.contains(expected), "{expected}: {error}");
        }
        assert_eq!(sums(&database, Grouping::Days).await, before);
        assert_eq!(unmatched_urls(&database).await.len(), 1);
        let missing =
            traffic(&database, Path::new("/nowhere/t.csv")).await.unwrap_err().to_string();
        assert!(missing.contains("cannot read /nowhere/t.csv"), "{missing}");
        assert!(
            missing.ends_with("check the path, which begins in the working directory"),
            "{missing}"
        );
        let folder = traffic(&database, files.0.path()).await.unwrap_err().to_string();
        assert!(folder.ends_with("; name the files in it"), "{folder}");
    }
}

/// Line ends of Windows, lines without a row, and a cell of two lines count as editors count them.
#[tokio::test(flavor = "multi_thread")]
async fn lines_are_counted_as_editors_count_them() {
    let files = Files::new();
    let database = sqlite(&Rows::none());
    articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
    let head = "# Export\n\ndate,url,country,pageviews,sessions,engagement_seconds,city\n\n\
                2021-01-01,/blog/one,DE,1,1,1,\"Frankfurt\n(Oder)\"\n";
    for (row, expected) in [
        ("2021-01-01,/blog/two,DE,x,1,1,Bonn\n", "line 7, column pageviews"),
        ("2021-01-01,/blog/two,DE,x,1,1,Bonn", "line 7, column pageviews"),
        (
            "2021-01-01,/blog/two,DE,1,1,1,\"Bad\nHomburg\"\n2021-01-01,/blog/two,DE\n",
            "line 9: it has 3",
        ),
        (
            "2021-01-01,/blog/one,DE,1,1,1,\"Frankfurt\n(Oder)\"\n",
            "line 7: it repeats line 5: the same day, URL and country",
        ),
    ] {
        let text = format!("{head}{row}");
        for text in [text.replace('\n', "\r\n"), text] {
            let error = traffic(&database, &files.write("bad.csv", &text)).await.unwrap_err();
            let error = error.to_string();
            assert!(error.contains(expected), "{error}: {text:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_articles_name_line_and_column() {
    let header = "url,title,published,uuid,original,author\n";
    let uuid = "22222222-2222-4222-8222-222222222222";
    let long = "x".repeat(65);
    let cases = [
        (
            "javascript://example.com/%0aalert(1),X,2021-01-01,,,".to_owned(),
            "line 2, column url: \"javascript://example.com/%0aalert(1)\" is not an address of a web page",
        ),
        ("https://example.com/x,,2021-01-01,,,".to_owned(), "line 2, column title: it is empty"),
        ("/x,X,2021-01-01,,,".to_owned(), "line 2, column url: \"/x\" is not a URL with a host"),
        ("https://example.com/x,X,2021-13-01,,,".to_owned(), "line 2, column published"),
        ("https://example.com/x,X,0001-01-01,,,".to_owned(), "not between 1970 and 2100"),
        ("https://example.com/x,X,2021-01-01,7,,".to_owned(), "column uuid: \"7\" is not a UUID"),
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

/// Also where only the database can tell what is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_import_leaves_a_sqlite_file_as_it_was() {
    let files = Files::new();
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
    let wrong_count = format!("{header}2021-01-01,https://example.com/1,DE,-1,1,1\n");
    let wrong_traffic = files.write("t.csv", wrong_count);
    let no_original = "url,title,published,author,original\n\
        https://example.com/new,New,2021-01-01,Somebody,https://example.com/nothing\n";
    let wrong_articles = files.write("a.csv", no_original);
    for mode in ["delete", "wal"] {
        let database = sqlite(&Rows::nasty());
        into_mode(database.file(), mode);
        let before = state(database.file());
        let error = traffic(&database, &wrong_traffic).await.unwrap_err().to_string();
        assert!(error.contains("column pageviews"), "{error}");
        assert!(state(database.file()) == before, "traffic, {mode}");
        let error = articles(&database, &wrong_articles).await.unwrap_err().to_string();
        assert!(error.contains("neither UUID nor URL"), "{error}");
        assert!(state(database.file()) == before, "articles, {mode}");
    }
    let stranger = sqlite(&Rows::none());
    stranger.execute("ALTER TABLE teams ADD COLUMN city text").await;
    let before = state(stranger.file());
    let good = [files.write("a.csv", ARTICLES), files.write("t.csv", TRAFFIC)];
    let refused = [
        articles(&stranger, &good[0]).await.unwrap_err().to_string(),
        traffic(&stranger, &good[1]).await.unwrap_err().to_string(),
    ];
    assert!(refused.iter().all(|error| error.contains("teams.city")), "{refused:?}");
    assert!(state(stranger.file()) == before, "another schema");
}

#[tokio::test(flavor = "multi_thread")]
async fn unmatched_traffic_that_does_not_fit_is_kept_and_named() {
    let files = Files::new();
    let rows = |most: u32| {
        format!(
            "date,url,country,pageviews,sessions,engagement_seconds\n\
             2021-01-01,https://example.com/later,DE,{most},1,1\n2021-01-01,/later,DE,1,1,1\n"
        )
    };
    let later =
        files.write("a.csv", "url,title,published\nhttps://example.com/later,L,2020-01-01\n");
    for database in both(&Rows::none()).await {
        traffic(&database, &files.write("t.csv", rows(2_147_483_647))).await.unwrap();
        let error = articles(&database, &later).await.unwrap_err().to_string();
        for said in ["/later on 2021-01-01", "more than 2147483647", "import that day again"] {
            assert!(error.contains(said), "{error}");
        }
        let waiting = unmatched_urls(&database).await;
        let expected = [("example.com/later", 2_147_483_647), ("/later", 1)];
        assert_eq!(waiting, expected.map(|(url, pageviews)| (url.to_owned(), pageviews)));
        traffic(&database, &files.write("t.csv", rows(2_147_483_646))).await.unwrap();
        let imported = articles(&database, &later).await.unwrap();
        assert_eq!((imported.added, imported.matched_pageviews), (1, 2_147_483_647));
        assert_eq!(sums(&database, Grouping::Days).await["2021-01-01"], [2_147_483_647, 2, 2]);
        assert_eq!(verify(&database).await.unwrap().differences, []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_rows_is_an_error_unless_it_is_allowed() {
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
    let report = br#"{"dimensionHeaders":[{"name":"date"},{"name":"pagePath"},{"name":"country"}],
        "metricHeaders":[{"name":"screenPageViews"},{"name":"sessions"},
        {"name":"userEngagementDuration"}],"metadata":{}}"#;
    let empty_traffic: [(Vec<u8>, &str); 5] = [
        (header.into(), "a header alone"),
        (format!("{header},,,0,0,0\n").into(), "a header and a totals row"),
        (report.to_vec(), "reports without rows"),
        (b"[]".to_vec(), "an empty list of reports"),
        (br#"{"reports": []}"#.to_vec(), "an empty list of reports"),
    ];
    let empty_articles = ["url,title,published\n", "[]"];
    let files = Files::new();
    let database = sqlite(&Rows::none());
    for (content, found) in &empty_traffic {
        let file = files.write("t", content);
        let error = traffic(&database, &file).await.unwrap_err().to_string();
        assert!(error.contains(found) && error.contains("--allow-empty"), "{error}");
        let imported = traffic_with(&database, &file, |it| it.allow_empty = true).await.unwrap();
        assert_eq!((imported.rows, imported.days), (0, 0));
    }
    for content in empty_articles {
        let file = files.write("a", content);
        let error = articles(&database, &file).await.unwrap_err().to_string();
        assert!(error.contains("--allow-empty"), "{error}");
        assert_eq!(articles_of(&database, &file, true).await.unwrap().added, 0);
    }
    // What is not a report is none, however little is expected of it.
    let error = traffic_with(&database, &files.write("t", "{}"), |it| it.allow_empty = true)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("without keys"), "{error}");
}

/// However long a name, a value or a message of the JSON reader is.
#[tokio::test(flavor = "multi_thread")]
async fn errors_are_short_and_packed_files_are_named() {
    let long = "x\u{1b}[2J".repeat(10_000);
    let columns = format!("{long},{}", vec!["column"; 5_000].join(","));
    let header = "date,url,country,pageviews,sessions,engagement_seconds";
    let value = format!("{header}\n{long},https://example.com/1,DE,1,1,1\n");
    let json = format!(r#"{{"dimensionHeaders": "{}"}}"#, "x".repeat(10_000));
    let workbook = [b"PK\x03\x04".as_slice(), &[0; 26], b"[Content_Types].xml"].concat();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (format!("{columns}\n").into(), "has no column date; it has x"),
        (value.into(), "line 2, column date: \"x"),
        (json.into(), "cannot be read as one"),
    ];
    let packed: Vec<(Vec<u8>, &str)> = vec![
        (b"PK\x03\x04\x14\0".to_vec(), "it is a damaged ZIP archive"),
        (b"\x1f\x8b\x08\0".to_vec(), "it cannot be unpacked"),
        (b"\x28\xb5\x2f\xfd".to_vec(), "it is packed by zstd (.zst); unpack it with `unzstd`"),
        (workbook, "it is a spreadsheet's workbook (.xlsx, .ods); save it as CSV"),
    ];
    let files = Files::new();
    let database = sqlite(&Rows::none());
    for (content, expected) in cases.iter().chain(&packed) {
        let file = files.write("t", content);
        let place = file.display().to_string().len();
        let of_traffic = traffic(&database, &file).await.unwrap_err().to_string();
        let of_articles = articles(&database, &file).await.unwrap_err().to_string();
        assert!(of_traffic.contains(expected), "{of_traffic}");
        if packed.iter().any(|(bytes, _)| bytes == content) {
            assert!(of_articles.contains(expected), "{of_articles}");
        }
        for error in [of_traffic, of_articles] {
            assert!(error.len() < place + 500, "{} bytes: {error}", error.len());
            assert!(!error.contains('\u{1b}'), "{error}");
        }
    }
}
