//! The statements as both engines get them, to be read by people.

use super::*;
use crate::query::{Grouping, Query};

fn query(grouping: Grouping, parameters: &[(&str, &str)]) -> Query {
    let pairs: Vec<_> = [("start", "2021-01-01"), ("end", "2021-12-31")]
        .iter()
        .chain(parameters)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Query::parse(grouping, &pairs).unwrap()
}

#[test]
fn every_grouping_is_a_statement_for_both_engines() {
    let mut all = String::new();
    for (name, grouping) in Grouping::ALL {
        for dialect in [Dialect::Sqlite, Dialect::Postgres] {
            let statement = daily::rows(&query(grouping, &[]), None, dialect);
            all += &format!("{name}, {dialect:?}:\n{}\n", statement.sql);
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn blog_count_and_sort_are_a_condition_a_column_and_an_order() {
    let query = query(Grouping::Days, &[("count", "articles"), ("sort", "label")]);
    let statement = daily::rows(&query, Some(7), Dialect::Postgres);
    insta::assert_debug_snapshot!(statement);
    insta::assert_debug_snapshot!(daily::all_articles(&query, Some(7), Dialect::Sqlite));
}

#[test]
fn values_are_bound_and_never_part_of_the_text() {
    let name = "'; DROP TABLE traffic; --";
    for dialect in [Dialect::Sqlite, Dialect::Postgres] {
        let statement = blog_id(name, dialect);
        assert!(!statement.sql.contains("DROP"), "{}", statement.sql);
        assert_eq!(statement.values, [Value::from(name)]);
    }
}
