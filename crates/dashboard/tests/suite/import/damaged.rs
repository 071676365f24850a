//! Files that were damaged on their way: cut, with a byte changed, in other encodings and with other
//! line ends. Whatever is taken has the numbers of the rows that are whole.

use std::collections::BTreeSet;

use super::ga4::{api_row, report};
use super::{ARTICLES, Files, articles, traffic};
use crate::database::{TestDatabase, both, sqlite};
use crate::rows::Rows;

const PLAIN: &str = "\
date,url,country,pageviews,sessions,engagement_seconds
2024-03-01,https://example.com/blog/one,DE,123,45,678
2024-03-02,https://example.com/caf\u{e9},FR,231,54,786
2024-03-03,https://example.com/blog/two,US,312,64,867
";

const EXPORT: &str = "\
# Free form 1
# 20240301-20240303

Date,Page path and screen class,Country,Views,Sessions,User engagement
20240301,/blog/one,Germany,123,45,678
20240302,/caf\u{e9},France,231,54,786
20240303,/blog/two,United States,312,64,867
";

const VIEWS: [u64; 3] = [123, 231, 312];

fn answer_of_the_api() -> String {
    let rows =
        [("20240301", "one", "123"), ("20240302", "caf\u{e9}", "231"), ("20240303", "two", "312")]
            .map(|(day, path, views)| {
                api_row(day, &format!("example.com/{path}"), "DE", [views, "5", "60"])
            });
    report(3, &rows).to_string()
}

/// The page views that an import takes; none where it refuses the file.
async fn taken(database: &TestDatabase, files: &Files, content: &[u8]) -> Option<u64> {
    let imported = traffic(database, &files.write("damaged", content)).await.ok()?;
    Some(imported.pageviews + imported.unmatched_pageviews)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_file_has_whole_rows_or_is_refused() {
    let files = Files::new();
    let database = sqlite(&Rows::none());
    articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
    let whole = BTreeSet::from([VIEWS[0], VIEWS[0] + VIEWS[1], VIEWS.iter().sum()]);
    for file in [PLAIN, EXPORT] {
        let mut seen = BTreeSet::new();
        for end in 0..=file.len() {
            let views = taken(&database, &files, &file.as_bytes()[..end]).await;
            seen.extend(views);
            assert!(views.is_none_or(|views| whole.contains(&views)), "{end}: {views:?}");
        }
        assert_eq!(seen, whole);
    }
    let saved = answer_of_the_api();
    for end in 0..saved.len() {
        assert_eq!(taken(&database, &files, &saved.as_bytes()[..end]).await, None, "{end}");
    }
    assert_eq!(taken(&database, &files, saved.as_bytes()).await, Some(VIEWS.iter().sum()));
}

/// Not of digits: one for another is a number like any other.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_byte_never_changes_a_number() {
    const BYTES: &[u8] = b"\0\"',;\t\n\r #-x\x7f\xc3\xff";
    let files = Files::new();
    let database = sqlite(&Rows::none());
    articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
    for file in [PLAIN, EXPORT] {
        for place in (0..file.len()).filter(|place| !file.as_bytes()[*place].is_ascii_digit()) {
            // Each place has two of them: all in all places would take minutes.
            for byte in [place, place + 5].map(|turn| BYTES[turn % BYTES.len()]) {
                let mut content = file.as_bytes().to_vec();
                content[place] = byte;
                let views = taken(&database, &files, &content).await;
                let all: u64 = VIEWS.iter().sum();
                assert!(views.is_none_or(|it| it == all), "{place}, {byte}: {views:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn encodings_and_line_ends_are_read_rightly_or_refused() {
    let files = Files::new();
    let wide = |text: &str, swap: bool, mark: bool| -> Vec<u8> {
        let mark = mark.then_some(0xfeff);
        let units = mark.into_iter().chain(text.encode_utf16());
        units.flat_map(|unit| if swap { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    };
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        for file in [PLAIN, EXPORT] {
            let all = Some(VIEWS.iter().sum());
            for content in [
                file.to_owned(),
                format!("\u{feff}{file}"),
                file.replace('\n', "\r\n"),
                file.replace('\n', "\n\n"),
                file.replace(',', ";"),
                file.replace(',', "\t"),
            ] {
                assert_eq!(taken(&database, &files, content.as_bytes()).await, all, "{content:?}");
            }
            for swap in [false, true] {
                assert_eq!(taken(&database, &files, &wide(file, swap, true)).await, all);
                let file = files.write("wide", wide(file, swap, false));
                let error = traffic(&database, &file).await.unwrap_err().to_string();
                assert!(error.contains("UTF-16"), "{error}");
            }
            let latin1: Vec<u8> = file.chars().map(|letter| letter as u8).collect();
            let error =
                traffic(&database, &files.write("l", latin1)).await.unwrap_err().to_string();
            assert!(error.contains("it is not UTF-8"), "{error}");
            // Of old Macs: right where no comment stands before the header.
            let views = taken(&database, &files, file.replace('\n', "\r").as_bytes()).await;
            assert_eq!(views, all.filter(|_| file == PLAIN));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_last_line_without_end_may_be_cut() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let error =
            articles(&database, &files.write("b.csv", ARTICLES.trim_end())).await.unwrap_err();
        assert!(error.to_string().contains("may be cut off"), "{error}");
        let file = files.write("t.csv", PLAIN.trim_end());
        let error = traffic(&database, &file).await.unwrap_err().to_string();
        assert!(error.contains("may be cut off") && error.contains("echo >> FILE"), "{error}");
        let proved = format!("{PLAIN},,,666,163,2331");
        assert_eq!(taken(&database, &files, proved.as_bytes()).await, Some(666));
        // Page views are whole, but the last column is not theirs.
        let mut lines: Vec<&str> = PLAIN.lines().collect();
        lines.insert(1, ",,,666,163,2331");
        let file = files.write("c.csv", lines.join("\n"));
        let error = traffic(&database, &file).await.unwrap_err().to_string();
        assert!(error.contains("may be cut off"), "{error}");
    }
}
