//! Queries of applications' logs as statements of a try.

use serde_json::Value;

use super::budget::BUDGET_SECONDS;
use super::{json, measured};
use crate::place::{Place, error};

/// Logs as Django 5.2 and SQLAlchemy 2.1 wrote them; that of Rails follows its documentation.
#[test]
fn queries_of_application_logs_are_measured() {
    let place = Place::new();
    drop(place.database(
        "app.db",
        "CREATE TABLE app_customer(id INTEGER PRIMARY KEY, name varchar(100) NOT NULL); \
         CREATE TABLE app_order(id INTEGER PRIMARY KEY, customer_id integer, day TEXT, \
             total decimal, note TEXT, paid bool); \
         CREATE TABLE customers(id INTEGER PRIMARY KEY, name VARCHAR); \
         CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER, day TEXT, \
             total INTEGER, note VARCHAR); \
         CREATE TABLE users(id INTEGER PRIMARY KEY, token TEXT); \
         CREATE TABLE posts(id INTEGER PRIMARY KEY, state TEXT); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) \
         INSERT INTO app_customer SELECT i, 'O''Brien ' || i FROM n; \
         INSERT INTO customers SELECT id, name FROM app_customer; \
         INSERT INTO users SELECT id, 'token' FROM app_customer; \
         INSERT INTO posts SELECT id, 'it''s out' FROM app_customer; \
         INSERT INTO orders SELECT id, id % 20, '2024-01-07', id, NULL FROM app_customer; \
         INSERT INTO app_order SELECT id, id, day, total, 'x; y', 1 FROM orders;",
    ));
    let logs = ["django", "sqlalchemy", "rails"].map(|name| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/try/sql_logs");
        format!("--sql-log={folder}/{name}.log")
    });
    let mut words = vec!["app.db", "--no-tuned", "--output-format=json"];
    words.extend(logs.iter().map(String::as_str));
    let output = place.try_within(BUDGET_SECONDS, &words);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", error(&output));
    let told = json(&output);
    let numbers: Vec<Value> = told["logs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|log| {
            let most = log["distinct"].as_array().unwrap().iter();
            let most = most.map(|query| query["most_in_a_request"].as_u64().unwrap()).max();
            let numbers = ["statements", "queries", "unreadable", "locked"].map(|key| &log[key]);
            serde_json::json!([numbers, most, log["framework"]])
        })
        .collect();
    // Counted in the files by grep.
    let expected = serde_json::json!([
        [[18, 17, 0, 1], 14, "Django"],
        [[20, 19, 0, 1], 15, "SQLAlchemy"],
        [[17, 14, 1, 1], 12, "Rails"]
    ]);
    assert_eq!(Value::Array(numbers), expected, "{}", told["logs"]);
    let measured = measured(&told);
    println!("{measured:?} {}", told["not_measured"]);
    let plan = std::fs::read_to_string(place.path("try-app.toml")).unwrap();
    println!("{plan}");
    place.assert_nothing_left();
}
