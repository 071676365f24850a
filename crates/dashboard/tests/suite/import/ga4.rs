//! Reports of the Data API of Google Analytics 4, and its CSV.

use serde_json::{Value, json};

use super::{ARTICLES, Files, articles, sums, traffic};
use crate::database::both;
use crate::rows::Rows;
use dashboard::query::Grouping;

/// A row of a report of the Data API.
pub fn api_row(date: &str, url: &str, country: &str, numbers: [&str; 3]) -> Value {
    let values = |texts: &[&str]| {
        let values: Vec<_> = texts.iter().map(|it| json!({"value": it})).collect();
        Value::from(values)
    };
    json!({"dimensionValues": values(&[date, url, country]), "metricValues": values(&numbers)})
}

/// A report with this number of rows on all its pages.
pub fn report(count: u32, rows: &[Value]) -> Value {
    let names = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>();
    json!({
        "dimensionHeaders": names(&["date", "fullPageUrl", "countryId"]),
        "metricHeaders": names(&["screenPageViews", "sessions", "userEngagementDuration"]),
        "rows": rows,
        "rowCount": count,
        "kind": "analyticsData#runReport"
    })
}

/// A CSV of GA4 with comments, a totals row and its extra column; the same rows as two reports of
/// the Data API, saved together, as a list, and each alone.
#[tokio::test(flavor = "multi_thread")]
async fn google_analytics_exports_say_the_same_in_both_forms() {
    let files = Files::new();
    let csv = "\u{feff}# ----------------------------------------\n# Traffic\n\
               # 20240401-20240402\n# ----------------------------------------\n\n\
               Date,Hostname,Page path + query string,Country,Views,Sessions,User engagement,\n\
               ,,,,16,11,310,Grand total\n\
               20240401,www.example.com,/blog/one?gclid=7,Germany,10,8,300.4,\n\
               20240401,www.example.com,/blog/two,Côte d’Ivoire,5,2,9.5,\n\
               20240402,www.example.com,/blog/two/,(not set),1,1,0,\n";
    let first = [
        api_row("20240401", "www.example.com/blog/one", "DE", ["10", "8", "300"]),
        api_row("20240401", "www.example.com/blog/two", "CI", ["5", "2", "10"]),
    ];
    let second = [api_row("20240402", "www.example.com/blog/two", "(not set)", ["1", "1", "0"])];
    let json = |counts: [u32; 2]| {
        let reports = [report(counts[0], &first), report(counts[1], &second)];
        json!({"kind": "analyticsData#batchRunReports", "reports": reports}).to_string()
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
            ([4, 4], "reports of 4 rows are not whole: 3 of their rows"),
            ([2, 3], "reports of 3 rows are not whole: 1 of their rows"),
        ] {
            let imported = traffic(&database, &files.write("ga.json", json(counts))).await.unwrap();
            assert_eq!((imported.rows, imported.days), (3, 2));
            let notes = imported.notes.concat();
            assert!(notes.contains(note) && notes.is_empty() == note.is_empty(), "{notes}");
        }
        let list = json!([report(2, &first), report(1, &second)]);
        for (saved, rows) in [(report(1, &second), 1), (list, 3)] {
            let saved = files.write("saved.json", saved.to_string());
            let imported = traffic(&database, &saved).await.unwrap();
            assert_eq!((imported.rows, imported.notes.concat().as_str()), (rows, ""));
        }
        assert_eq!(sums(&database, Grouping::Articles).await, from_csv);
        let short = csv.replace(",16,11", ",17,11");
        let imported = traffic(&database, &files.write("short.csv", short)).await.unwrap();
        assert!(imported.notes[0].contains("17 page views, its rows have 16"), "{imported:?}");
    }
}
