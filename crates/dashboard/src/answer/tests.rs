//! Limit, offset, quoting: the writers' additions to the rows of the engine.

use super::*;
use crate::query::Grouping;

fn answer(parameters: &[(&str, &str)], rows: &[AnswerRow<'_>]) -> String {
    let fixed = [("start", "2021-01-01"), ("end", "2021-01-31")];
    let pairs: Vec<_> = fixed
        .iter()
        .chain(parameters)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let query = Query::parse(Grouping::Authors, &pairs).unwrap();
    let mut writer = AnswerWriter::new(query, None).unwrap();
    for row in rows {
        writer.push(row).unwrap();
    }
    String::from_utf8(writer.finish(AnswerDesign::Daily).unwrap().body).unwrap()
}

fn row(key: &str, pageviews: i64) -> AnswerRow<'_> {
    let sums = RowSums { pageviews, sessions: 2, engagement_seconds: 3, articles: None };
    AnswerRow { key, label: key, country: None, sums, rows_read: 1 }
}

#[test]
fn totals_and_row_count_are_taken_before_limit_and_offset() {
    let rows = [row("a", 30), row("b", 20), row("c", 10)];
    insta::assert_snapshot!(answer(&[("limit", "1"), ("offset", "1")], &rows), @r#"{"query":{"grouping":"authors","start":"2021-01-01","end":"2021-01-31","sort":"-pageviews","limit":1,"offset":1},"totals":{"pageviews":60,"sessions":6,"engagement_seconds":9},"row_count":3,"rows":[{"key":"b","label":"b","pageviews":20,"sessions":2,"engagement_seconds":3}]}"#);
}

#[test]
fn the_greatest_limit_and_offset_do_not_overflow() {
    let greatest = u64::MAX.to_string();
    let none = answer(&[("limit", &greatest), ("offset", &greatest)], &[row("a", 1)]);
    assert!(none.ends_with(r#""row_count":1,"rows":[]}"#), "{none}");
}

#[test]
fn csv_quotes_what_would_break_a_line() {
    let rows = [row("says \"hi\", twice", 1), row("two\nlines", 2)];
    let expected = "key,label,pageviews,sessions,engagement_seconds\r\n\
                    \"says \"\"hi\"\", twice\",\"says \"\"hi\"\", twice\",1,2,3\r\n\
                    \"two\nlines\",\"two\nlines\",2,2,3\r\n";
    assert_eq!(answer(&[("format", "csv")], &rows), expected);
}

#[test]
fn csv_has_no_cell_that_a_spreadsheet_runs() {
    let rows = [row("=1+1", 1), row("@SUM(A1)", 1), row("-2", 1), row("a=b", 1)];
    let expected = "key,label,pageviews,sessions,engagement_seconds\r\n\
                    '=1+1,'=1+1,1,2,3\r\n\
                    '@SUM(A1),'@SUM(A1),1,2,3\r\n\
                    -2,-2,1,2,3\r\n\
                    a=b,a=b,1,2,3\r\n";
    assert_eq!(answer(&[("format", "csv")], &rows), expected);
}

#[test]
fn csv_without_rows_still_has_its_header() {
    let header = "key,label,pageviews,sessions,engagement_seconds,articles\r\n";
    assert_eq!(answer(&[("format", "csv"), ("count", "articles")], &[]), header);
}
