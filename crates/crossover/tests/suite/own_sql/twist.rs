//! Data made by a command and rewritten by statements; the article's twist on a plain schema, small.

use serde_json::Value;

use super::shop;
use crate::place::{Place, error, read_json};

/// A plan whose data a command copies and `statements` rewrite.
fn rewritten(place: &Place, statements: &str) {
    place.write(
        "plan.toml",
        &format!(
            "title = \"rewritten\"\nworkload = \"sql\"\nengines = [\"sqlite\"]\nreplicates = 1\n\
             seed = 7\ntrial = {{ mode = \"passes\", passes = 1 }}\n\
             data = {{ command = [\"cp\", \"shop.db\", \"{{path}}\"], statements = {statements} }}\n\
             [constants]\nleast = \"190\"\n\
             [[statement]]\nname = \"member\"\ntext = \"SELECT id FROM member\"\n\
             answer = \"count\"\n"
        ),
    );
}

#[test]
fn statements_rewrite_the_data_that_a_command_made() {
    let place = shop();
    rewritten(
        &place,
        r#"["CREATE TABLE member AS SELECT id FROM people WHERE id > {least}; DROP TABLE orders"]"#,
    );
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let made =
        std::fs::read_dir(place.path("data/datasets")).unwrap().map(|one| one.unwrap().path());
    let made = made.filter(|path| path.extension().is_some_and(|extension| extension == "db"));
    let made: Vec<_> = made.collect();
    let file = rusqlite::Connection::open(&made[0]).unwrap();
    let tables = "SELECT (SELECT count(*) FROM member), group_concat(name) FROM sqlite_schema
                  WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let found: (i64, String) =
        file.query_row(tables, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(found, (10, "people,member".to_owned()));
    // Other statements are other data.
    rewritten(&place, r#"["CREATE TABLE member AS SELECT id FROM people"]"#);
    assert_eq!(place.run(&["bench", "plan.toml"]).status.code(), Some(0));
    assert_eq!(std::fs::read_dir(place.path("data/datasets")).unwrap().count(), 2 * 2);
}

#[test]
fn a_statement_that_sqlite_refuses_is_named_and_keeps_nothing() {
    let place = shop();
    rewritten(&place, r#"["DROP TABLE absent"]"#);
    let said = place.fails(2);
    assert!(
        said.contains("data.statements: SQLite refuses `DROP TABLE absent`: no such table: absent"),
        "{said}"
    );
    // A program that was killed while it made another dataset leaves a folder.
    let killed = place.path("data/datasets/made-0.unfinished");
    std::fs::create_dir(&killed).unwrap();
    std::fs::write(killed.join("data.db-wal"), "rows").unwrap();
    assert_eq!(place.fails(2), said);
    let kept =
        std::fs::read_dir(place.path("data/datasets")).unwrap().map(|one| one.unwrap().path());
    let kept: Vec<_> = kept.collect();
    assert!(kept.iter().all(|path| path.extension().unwrap() == "lock"), "{kept:?}");
}

#[test]
fn the_twist_is_measured_small_with_both_settings_crossed() {
    let place = Place::new();
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/twist-naive.toml");
    let plan = std::fs::read_to_string(shipped).unwrap();
    let (before, after) = plan.split_once("  \"postgres:14[").unwrap();
    let (_, after) = after.split_once('\n').unwrap();
    // One release, wherever the test runs.
    place.write("plan.toml", &format!("{before}{after}").replace("client_cpus = [1]\n", ""));
    let small = ["--constant", "scale=0.01", "--replicates", "1", "--no-wait-for-quiet"];
    let output = place.run(&[&["bench", "plan.toml"], &small[..]].concat());
    // One block gives no verdict: done, with findings.
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let trials = place.trials();
    let of = |engine: &str| trials.iter().filter(|one| one["engine"] == engine).count();
    assert_eq!((of("SQLite"), of("PostgreSQL 18")), (2, 2 * 4));
    for trial in &trials {
        assert_eq!((&trial["status"], &trial["requests"]), (&"ok".into(), &9.into()), "{trial}");
    }
    let run = read_json(&place.only_run().join("run.json"));
    let plans = run["plans"].as_object().unwrap().values();
    let text: String = plans.map(|plan| plan.as_str().unwrap()).collect();
    assert!(!text.contains("Gather"), "no parallel workers: {text}");
    let output = place.run(&["report", "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let interactions = report["interactions"].as_array().unwrap();
    assert_eq!(interactions.len(), 2, "the quarter and the year: {interactions:?}");
    for one in interactions {
        let named = (&one["engine"], &one["factor"], &one["other"]);
        let expected = ("PostgreSQL 18", "work_mem", "effective_cache_size");
        assert_eq!(named, (&expected.0.into(), &expected.1.into(), &expected.2.into()));
        let of = |estimate: &Value| estimate["value"].as_f64().unwrap();
        let quotient = of(&one["effects"][1]) / of(&one["effects"][0]);
        assert!((of(&one["estimate"]) / quotient - 1.0).abs() < 1e-9, "{one}");
    }
}
