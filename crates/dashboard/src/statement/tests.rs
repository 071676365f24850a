//! Statements as both engines get them, for people to read.

use super::*;
use crate::query::{DimensionFilter, Grouping, Query};
use crate::schema::Dimension;

fn query(grouping: Grouping, parameters: &[(&str, &str)]) -> Query {
    let pairs: Vec<_> = [("start", "2021-01-01"), ("end", "2021-12-31")]
        .iter()
        .chain(parameters)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Query::parse(grouping, &pairs).unwrap()
}

fn rows(query: &Query, conditions: &Conditions, dialect: SqlDialect) -> QueryStatement {
    answer::rows(query, query.period, conditions, dialect)
}

#[test]
fn split_translations_and_filters_are_joins_and_conditions() {
    let parameters = [
        ("split", "country"),
        ("translations", "grouped"),
        ("not_published_from", "2020-01-01"),
        ("published_to", "2021-01-01"),
    ];
    let query = query(Grouping::Authors, &parameters);
    let team = Condition { dimension: Dimension::Team, exclude: true, ids: vec![3, 4] };
    let country = Condition { dimension: Dimension::Country, exclude: false, ids: vec![5] };
    let conditions =
        Conditions { values: vec![team, country], ..Conditions::new(&query.filters, Vec::new()) };
    for dialect in [SqlDialect::Sqlite, SqlDialect::Postgres] {
        insta::assert_snapshot!(rows(&query, &conditions, dialect).sql);
    }
}

#[test]
fn every_grouping_is_a_statement_for_both_engines() {
    let mut all = String::new();
    for grouping in Grouping::ALL.iter().copied() {
        let name = grouping.name();
        for dialect in [SqlDialect::Sqlite, SqlDialect::Postgres] {
            let statement = rows(&query(grouping, &[]), &Conditions::default(), dialect);
            all += &format!("{name}, {dialect:?}:\n{}\n", statement.sql);
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn blog_count_and_sort_are_a_condition_a_column_and_an_order() {
    let query = query(Grouping::Days, &[("count", "articles"), ("sort", "label")]);
    let blog = Condition { dimension: Dimension::Blog, exclude: false, ids: vec![7] };
    let conditions = Conditions { values: vec![blog], ..Conditions::default() };
    insta::assert_debug_snapshot!(rows(&query, &conditions, SqlDialect::Postgres));
    let all = answer::all_articles(&query, query.period, &conditions, SqlDialect::Sqlite);
    insta::assert_debug_snapshot!(all);
}

#[test]
fn values_are_bound_and_never_part_of_the_text() {
    let name = "'; DROP TABLE traffic; --";
    let filter =
        DimensionFilter { dimension: Dimension::Blog, exclude: false, keys: vec![name.to_owned()] };
    for dialect in [SqlDialect::Sqlite, SqlDialect::Postgres] {
        let statement = ids(&filter, dialect);
        assert!(!statement.sql.contains("DROP"), "{}", statement.sql);
        assert_eq!(statement.values, [SqlValue::from(name)]);
    }
}
