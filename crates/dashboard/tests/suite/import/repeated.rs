//! Files whose rows repeat page views, refused by the name of what repeats them.

use dashboard::query::Grouping;
use serde_json::{Value, json};

use super::ga4::{api_row, report};
use super::{ARTICLES, Files, articles, sums, traffic, traffic_with};
use crate::database::both;
use crate::rows::Rows;

/// An exploration with two segments, or with another column in their place.
fn exploration(column: &str) -> String {
    format!(
        "# Free form 1\n# 20240301-20240301\n\n{column},Date,Page path and screen class,Country,\
         Views,Sessions,User engagement\nAll Users,20240301,/blog/one,Germany,10,8,100\n\
         Mobile traffic,20240301,/blog/one,Germany,6,5,60\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_that_repeat_views_are_refused_by_name() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        for (column, remedy) in [
            ("Segment", "remove the segments from the exploration"),
            ("Comparison", "remove the comparisons from the report"),
            ("Event name", "add --adds-up 'Event name'"),
        ] {
            let file = files.write("t.csv", exploration(column));
            let error = traffic(&database, &file).await.unwrap_err().to_string();
            assert!(error.contains(&format!("its column {column} ")), "{error}");
            assert!(error.contains(remedy), "{error}");
        }
        assert_eq!(sums(&database, Grouping::Days).await.len(), 0);
        // One that is known, and one of which the user says so.
        for (column, adds_up) in [("Device category", ""), ("Reader kind", "Reader kind")] {
            let file = files.write("t.csv", exploration(column));
            traffic_with(&database, &file, |wish| wish.adds_up.push(adds_up.to_owned()))
                .await
                .unwrap();
            assert_eq!(sums(&database, Grouping::Days).await["2024-03-01"], [16, 13, 160]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_total_below_the_rows_refuses_the_file() {
    let files = Files::new();
    let header = "date,url,country,device,pageviews,sessions,engagement_seconds\n";
    let rows = "2024-03-01,/blog/one,DE,mobile,6,5,60\n2024-03-01,/blog/one,DE,all,10,8,100\n";
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        for total in [",,,,10,8,100\n", "Total,,,,10,8,100\n", ",,,,10,8,100,Grand total\n"] {
            let file = files.write("t.csv", format!("{header}{total}{rows}"));
            let error = traffic(&database, &file).await.unwrap_err().to_string();
            let said = "its rows add up to 16 page views, its own total says 10";
            assert!(error.contains(said), "{error}");
        }
        let total = |shown: &str| {
            files.write("s.csv", format!("{header}{rows},,,,{shown},8,100,Grand total\n"))
        };
        let below = traffic(&database, &total("\"1,000\"")).await.unwrap();
        assert!(below.notes.concat().contains("says 1000 page views"), "{:?}", below.notes);
        let unreadable = traffic(&database, &total("many")).await.unwrap();
        let said = "s.csv, line 4: its totals row has `many` for page views";
        assert!(unreadable.notes.concat().contains(said), "{:?}", unreadable.notes);
        let mut saved = report(
            2,
            &[
                api_row("20240301", "example.com/blog/one", "DE", ["6", "5", "60"]),
                api_row("20240301", "example.com/blog/two", "DE", ["6", "5", "60"]),
            ],
        );
        saved["metadata"] = json!({"samplingMetadatas": [{"samplesReadCount": "10"}]});
        let sampled = traffic(&database, &files.write("s.json", saved.to_string())).await.unwrap();
        assert!(sampled.notes.concat().contains("made from a sample"), "{:?}", sampled.notes);
        saved["metadata"] = json!({});
        for (total, said) in [("10", "add up to 12"), ("12", ""), ("14", "says 14 page views")] {
            let dimension = [json!({"value": "RESERVED_TOTAL"})];
            let metrics = [json!({"value": total}), json!({"value": "9"}), json!({"value": "9"})];
            saved["totals"] = json!([{"dimensionValues": dimension, "metricValues": metrics}]);
            let imported = traffic(&database, &files.write("t.json", saved.to_string())).await;
            let heard = match &imported {
                Ok(imported) => imported.notes.concat(),
                Err(error) => error.to_string(),
            };
            assert!(heard.contains(said) && heard.is_empty() == said.is_empty(), "{heard}");
            assert_eq!(imported.is_err(), total == "10");
        }
    }
}

const HEADER: &str = "date,url,country,pageviews,sessions,engagement_seconds\n";

fn row(url: &str) -> String {
    format!("2024-03-01,{url},DE,10,8,100\n")
}

/// Two files may both hold a day, whatever they call its URLs.
#[tokio::test(flavor = "multi_thread")]
async fn spellings_of_one_url_in_two_files_repeat_page_views() {
    let files = Files::new();
    let first = "https://example.com/blog/one";
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let alone = files.write("1.csv", HEADER.to_owned() + &row(first));
        for url in [
            first,
            "http://example.com/blog/one",
            "https://www.Example.com/blog/one",
            "https://example.com/blog/one/",
            "https://example.com/Blog/%6fne#top",
            "/blog/one",
        ] {
            let other = files.write("3.csv", HEADER.to_owned() + &row(url));
            let said = traffic_with(&database, &alone, |wish| wish.files.push(other)).await;
            let said = said.unwrap_err().to_string();
            assert!(said.contains("3.csv, line 2: it repeats line 2 of "), "{said}");
            assert_eq!(said.contains("add --adds-up url"), url != first, "{said}");
            assert_eq!(sums(&database, Grouping::Days).await.len(), 0);
        }
        // A file that holds both spellings of the other's one.
        let two = HEADER.to_owned() + &row(first) + &row("http://example.com/blog/one/");
        let two = files.write("2.csv", two);
        let other = files.write("3.csv", HEADER.to_owned() + &row("/blog/one"));
        let more = other.clone();
        let said = traffic_with(&database, &two, |wish| wish.files.push(more)).await;
        let said = said.unwrap_err().to_string();
        assert!(said.contains("3.csv, line 2: it repeats line "), "{said}");
        let flagged = traffic_with(&database, &two, |wish| {
            wish.files.push(other);
            wish.adds_up.push("url".to_owned());
        });
        let notes = flagged.await.unwrap().notes.concat();
        assert!(notes.contains("were added up, of 1 article"), "{notes}");
        assert_eq!(sums(&database, Grouping::Days).await["2024-03-01"], [30, 24, 300]);
    }
}

/// Within a file every spelling is a count of its own.
#[tokio::test(flavor = "multi_thread")]
async fn spellings_of_one_url_in_one_file_add_up_and_are_named() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let spelled = [
            "https://example.com/blog/one",
            "https://www.Example.com/blog/one/",
            "https://example.com/blog/two",
            "/blog/one",
            "/blog/two/",
            "https://example.com/none",
            "https://example.com/none/",
        ];
        let rows: String = spelled.into_iter().map(row).collect();
        let file = files.write("1.csv", HEADER.to_owned() + &rows);
        let imported = traffic(&database, &file).await.unwrap();
        assert_eq!((imported.pageviews, imported.unmatched_pageviews), (50, 20));
        assert_eq!(sums(&database, Grouping::Days).await["2024-03-01"], [50, 40, 500]);
        let [note] = &imported.notes[..] else { panic!("{:?}", imported.notes) };
        let said = "were added up, of 2 articles and 1 URL of no article, for example ";
        assert!(note.contains(said), "{note}");
        assert!(note.contains("1.csv, line ") && note.contains(" and line "), "{note}");
        // A host in a column of its own.
        let hosts = "date,page,hostname,country,pageviews,sessions,engagement_seconds\n\
                     2024-03-01,/blog/one,example.com,DE,3,2,9\n\
                     2024-03-01,/blog/one,www.example.com,DE,4,2,9\n";
        let imported = traffic(&database, &files.write("2.csv", hosts)).await.unwrap();
        let note = imported.notes.concat();
        assert!(note.contains("of 1 article, for example ") && imported.pageviews == 7, "{note}");
        assert!(note.contains("2.csv, line 2 and line 3;"), "{note}");
        // Rows of another day, another country or other tracking parameters are no such case.
        let apart = row("/blog/one?gclid=1")
            + &row("/blog/one/?gclid=2")
            + &row("/blog/one")
            + "2024-03-01,/blog/one/,US,10,8,100\n2024-03-02,/blog/one/,DE,10,8,100\n";
        let imported = traffic(&database, &files.write("3.csv", HEADER.to_owned() + &apart)).await;
        assert_eq!(imported.unwrap().notes, Vec::<String>::new());
        assert_eq!(sums(&database, Grouping::Days).await["2024-03-01"], [40, 32, 400]);
        // Neither is a row that is written alike, with the flag and without it.
        let same = row("/blog/one") + &row("/blog/one/") + &row("/blog/one");
        let same = files.write("4.csv", HEADER.to_owned() + &same);
        for adds_up in [vec![], vec!["url".to_owned()]] {
            let said = traffic_with(&database, &same, |wish| wish.adds_up = adds_up).await;
            let said = said.unwrap_err().to_string();
            assert!(said.contains("4.csv, line 4: it repeats line 2: "), "{said}");
            assert!(said.ends_with("the same day, URL and country; remove one of them"), "{said}");
        }
    }
}

/// A total above the rows: the export left rows out, of days that it does not name.
#[tokio::test(flavor = "multi_thread")]
async fn days_of_a_file_below_its_total_are_partial() {
    let files = Files::new();
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
    let rows = "20240301,/blog/one,DE,6,5,60\n20240302,/blog/one,DE,6,5,60\n";
    let other = files.write("2.csv", header.to_owned() + "20240302,/three,DE,1,1,1\n");
    let short = files.write("1.csv", format!("{header},,,14,9,9\n{rows}"));
    let whole = files.write("1-whole.csv", format!("{header},,,12,9,9\n{rows}"));
    let states = "SELECT name, day - 19783, state FROM imported_days \
                  JOIN blogs ON blogs.id = blog_id ORDER BY 1, 2";
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let second = other.clone();
        let imported = traffic_with(&database, &short, |wish| wish.files.push(second)).await;
        let notes = imported.unwrap().notes.concat();
        assert!(notes.contains("1.csv: its totals row says 14 page views"), "{notes}");
        assert!(notes.contains("its days are stored as partial"), "{notes}");
        // The other file is of another blog.
        let expected = ["example.com 0 partial", "example.com 1 partial", "example.org 1 complete"];
        assert_eq!(database.texts(states).await, expected);
        traffic(&database, &whole).await.unwrap();
        assert_eq!(
            database.texts(states).await[..2],
            ["example.com 0 complete", "example.com 1 complete"]
        );
    }
}

/// Pages of one report may be files of their own.
#[tokio::test(flavor = "multi_thread")]
async fn pages_in_several_files_are_one_report() {
    let files = Files::new();
    let page = |name: &str, day: &str| {
        let rows = [api_row(day, "example.com/blog/one", "DE", ["6", "5", "60"])];
        files.write(name, report(2, &rows).to_string())
    };
    let (first, second) = (page("1.json", "20240301"), page("2.json", "20240302"));
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let imported = traffic(&database, &first).await.unwrap();
        let said = "1.json: reports of 2 rows are not whole: 1 of their rows are there";
        assert!(imported.notes.concat().contains(said), "{:?}", imported.notes);
        let states = "SELECT state FROM imported_days ORDER BY day";
        assert_eq!(database.texts(states).await, ["partial"]);
        let more = second.clone();
        let imported = traffic_with(&database, &first, |wish| wish.files.push(more)).await.unwrap();
        assert_eq!(imported.notes, Vec::<String>::new());
        assert_eq!(database.texts(states).await, ["complete", "complete"]);
        let more = first.clone();
        let twice = traffic_with(&database, &first, |wish| wish.files.push(more)).await;
        let said = twice.unwrap_err().to_string();
        assert!(said.contains("1.json, row 1: it repeats row 1: the same day"), "{said}");
    }
}

/// A report on two periods, as the API answers it.
fn two_periods(rows: &[(&str, &str)]) -> Value {
    let row = |(day, range): &(&str, &str)| {
        let mut row = api_row(day, "example.com/blog/one", "DE", ["5", "4", "100"]);
        row["dimensionValues"].as_array_mut().unwrap().push(json!({"value": range}));
        row
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    let mut saved = report(rows.len() as u32, &rows);
    saved["dimensionHeaders"].as_array_mut().unwrap().push(json!({"name": "dateRange"}));
    saved
}

#[tokio::test(flavor = "multi_thread")]
async fn periods_of_a_report_may_not_overlap() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let overlapping =
            two_periods(&[("20240301", "date_range_0"), ("20240301", "date_range_1")]);
        let file = files.write("t.json", overlapping.to_string());
        let error = traffic(&database, &file).await.unwrap_err().to_string();
        assert!(error.contains("row 2, column dateRange: the periods date_range_0"), "{error}");
        assert_eq!(sums(&database, Grouping::Days).await.len(), 0);
        let apart = two_periods(&[("20240301", "date_range_0"), ("20230301", "date_range_1")]);
        let file = files.write("t.json", apart.to_string());
        assert_eq!(traffic(&database, &file).await.unwrap().days, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_without_a_name_holds_nothing() {
    let files = Files::new();
    let file = "date,url,country,pageviews,sessions,engagement_seconds,\n\
                2024-03-01,/blog/one,DE,1,1,1,All Users\n";
    for database in both(&Rows::none()).await {
        let error = traffic(&database, &files.write("t.csv", file)).await.unwrap_err().to_string();
        assert!(error.contains("line 2, column 7: the header gives the column no name"), "{error}");
    }
}
