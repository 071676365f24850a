//! `crossover try --writes`: writers on both engines at equal durability, the headroom, and a post of the
//! answer without a name of the user's.

use serde_json::Value;

use super::{json, text};
use crate::place::{Place, error};

/// Every name in it is one that no stranger may read.
const SECRETS: &str = "\
    CREATE TABLE secret_patients(secret_id INTEGER PRIMARY KEY, secret_name TEXT, secret_visits INTEGER); \
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) \
    INSERT INTO secret_patients SELECT i, 'p' || i, 0 FROM n;";

const TRANSACTIONS: &str = "\
    BEGIN;\n\
    SELECT secret_visits FROM secret_patients WHERE secret_id = 7;\n\
    UPDATE secret_patients SET secret_visits = secret_visits + 1 WHERE secret_id = 7;\n\
    COMMIT;\n\
    INSERT INTO secret_patients(secret_name, secret_visits) VALUES ('x', 1);\n";

#[test]
fn writers_are_measured_and_posted_without_names() {
    let place = Place::new();
    drop(place.database("secret_clinic.db", SECRETS));
    std::fs::write(place.path("secret_tx.sql"), TRANSACTIONS).unwrap();
    let words = [
        "try",
        "secret_clinic.db",
        "--writes",
        "--sql=secret_tx.sql",
        "--expect=600/min",
        "--no-wait-for-quiet",
        "--budget=90s",
        "--seed=5",
    ];
    let output = place.run(&words);
    // The blocks are enough for a verdict, or too few.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", error(&output));
    let said = text(&output.stdout);
    let first = said.lines().next().unwrap();
    assert!(
        first.starts_with("Expected are 10.0 write transactions a second; SQLite takes"),
        "{said}"
    );
    assert!(
        said.contains("secret_tx:1 read before they write in a deferred transaction"),
        "{said}"
    );
    assert!(said.contains("journal_mode=wal, synchronous=2"), "{said}");
    place.assert_nothing_left();
    let plan = place.run(&["bench", "try-secret_clinic.toml", "--dry-run"]);
    assert_eq!(plan.status.code(), Some(0), "{}", error(&plan));

    // Deferred transactions that read first are in each other's way, and none is lost.
    let told = json(&place.run(&["report", "latest", "--format=json"]));
    let treatments = told["treatments"].as_array().unwrap();
    let retries = |engine: &str| {
        let own = treatments.iter().filter(|one| one["engine"] == engine);
        let counters = own.flat_map(|one| one["counters"].as_array().unwrap());
        let retries = counters.filter(|counter| counter["name"] == "transaction_retries");
        retries.map(|counter| counter["value"].as_f64().unwrap()).sum::<f64>()
    };
    assert!(retries("SQLite") > 0.0, "{told}");
    // The same with the lock from the beginning on is measured beside it.
    assert!(retries("SQLite with BEGIN IMMEDIATE") == 0.0, "{told}");
    assert!(treatments.iter().any(|one| one["engine"] == "SQLite with BEGIN IMMEDIATE"), "{told}");
    assert!(treatments.iter().all(|one| one["failures"] == 0), "{told}");

    // By the clocks of client processes.
    let lock = |one: &&Value| one["notes"].to_string().contains("the write lock was held");
    let of_sqlite = treatments.iter().filter(|one| one["engine"] != "postgres:18");
    assert!(of_sqlite.clone().count() > 0 && of_sqlite.clone().all(|one| lock(&one)), "{told}");

    let post = place.run(&["report", "latest", "--format=post"]);
    let post = text(&post.stdout);
    assert!(!post.to_lowercase().contains("secret"), "{post}");
    assert!(post.lines().count() <= 12 && post.contains("survives a power cut"), "{post}");
    let repeat =
        "crossover try FILE --writes --sql FILE --expect 600/min --no-wait-for-quiet --budget 90s";
    assert!(post.contains(repeat), "{post}");
    let named = place.run(&["report", "latest", "--format=post", "--names"]);
    assert!(text(&named.stdout).contains("secret_clinic.db"), "{}", text(&named.stdout));
}

#[test]
fn transactions_of_files_are_refused_by_their_lines() {
    let place = Place::new();
    drop(place.database("shop.db", SECRETS));
    for (sql, expected) in [
        ("BEGIN;\nDELETE FROM secret_patients;\n", "line 1: this transaction has no COMMIT"),
        ("DELETE FROM secret_patients;\nCOMMIT;\n", "line 2: COMMIT without BEGIN"),
        ("SELECT 1;", "no statement of --sql writes"),
        ("PRAGMA synchronous = off;", "PRAGMA is not measured"),
        ("BEGIN\nDELETE FROM secret_patients;\nCOMMIT;", "a semicolon is missing before DELETE"),
        ("DELETE FROM absent", "line 1: SQLite: no such table: absent"),
        ("DELETE FROM secret_patients WHERE secret_id = :id", "the parameter :id"),
    ] {
        std::fs::write(place.path("tx.sql"), sql).unwrap();
        let output = place.run(&["try", "shop.db", "--writes", "--sql=tx.sql"]);
        assert_eq!(output.status.code(), Some(2), "{}", error(&output));
        assert!(error(&output).contains(expected), "{}", error(&output));
    }
}

/// A transaction without an end neither holds up the others nor outlives the budget.
#[test]
fn a_transaction_that_never_ends_is_left_out() {
    let place = Place::new();
    drop(place.database("shop.db", SECRETS));
    let sql = "UPDATE secret_patients SET secret_visits = (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL \
               SELECT i + 1 FROM n) SELECT max(i) FROM n);\n\
               UPDATE secret_patients SET secret_visits = secret_visits + 1 WHERE secret_id = 5";
    std::fs::write(place.path("tx.sql"), sql).unwrap();
    let words = [
        "try",
        "shop.db",
        "--writes",
        "--sql=tx.sql",
        "--on=sqlite",
        "--budget=60s",
        "--no-wait-for-quiet",
    ];
    let output = place.run(&words);
    let said = text(&output.stdout);
    assert!(said.contains("Not measured: tx:1: one execution takes longer than 0.300 s"), "{said}");
    assert!(said.contains("SQLite"), "{said}");
}

/// SQLite writes nothing where a row keeps its value: such figures are not those of writes.
#[test]
fn rows_that_keep_their_values_are_no_writes() {
    // The kernel counts no write to memory.
    let place = Place::on_disk();
    drop(place.database("shop.db", SECRETS));
    let sql = "UPDATE secret_patients SET secret_visits = 5 WHERE secret_id = 5";
    std::fs::write(place.path("same.sql"), sql).unwrap();
    let words = [
        "try",
        "shop.db",
        "--writes",
        "--sql=same.sql",
        "--on=sqlite",
        "--budget=60s",
        "--no-wait-for-quiet",
        "--expect=5/s",
    ];
    let output = place.run(&words);
    let said = text(&output.stdout);
    assert!(said.starts_with("This is not a measurement of writes: SQLite wrote"), "{said}");
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
}

#[test]
fn derived_transactions_have_fresh_keys() {
    let place = Place::new();
    drop(place.database(
        "shop.db",
        "CREATE TABLE a(id INTEGER PRIMARY KEY, mail TEXT UNIQUE, n INTEGER); \
         INSERT INTO a VALUES (1, 'a', 1), (2, 'b', 2); \
         CREATE TABLE b(name TEXT PRIMARY KEY, n INTEGER); INSERT INTO b VALUES ('x', 1); \
         CREATE TABLE c(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO c VALUES (1, 1); \
         CREATE TRIGGER t AFTER INSERT ON c BEGIN UPDATE a SET n = n + 1; END",
    ));
    let words = [
        "try",
        "shop.db",
        "--writes",
        "--on=sqlite",
        "--budget=60s",
        "--no-wait-for-quiet",
        "--output-format=json",
    ];
    let output = place.run(&words);
    let told = json(&output);
    let failures = told["report"]["treatments"].as_array().unwrap().iter();
    assert!(failures.map(|one| one["failures"].as_u64().unwrap()).sum::<u64>() == 0, "{told}");
    let names = told["report"]["treatments"][0]["requests_by_name"].as_array().unwrap();
    let names: Vec<&str> = names.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    let notes = told["notes"].as_array().unwrap();
    assert!(
        notes.iter().any(|note| note.as_str().unwrap().contains("writes to c: it has triggers"))
    );
}
