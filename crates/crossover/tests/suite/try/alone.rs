//! `crossover try --on sqlite`: SQLite alone, where no PostgreSQL can be had.

use std::process::Output;

use super::budget::{BUDGET_SECONDS, BUDGET_TUNED_SECONDS};
use super::{json, measured};
use crate::place::{Place, error, text};
use crate::schema;

/// A proxy that is not there.
const NO_NETWORK: [(&str, &str); 2] = [("HTTPS_PROXY", "http://127.0.0.1:9"), ("NO_PROXY", "")];

impl Place {
    /// 100,000 visits by visitor, and a query that an index helps.
    fn write_visits(&self) {
        drop(self.database(
            "shop.db",
            "CREATE TABLE visits(id INTEGER PRIMARY KEY, visitor INTEGER, page VARCHAR(4)); \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) \
             INSERT INTO visits SELECT i, i % 10000, 'page ' || (i % 7) FROM n;",
        ));
        self.write("by visitor.sql", "SELECT id, page FROM visits WHERE visitor = 77 ORDER BY id");
    }

    /// `crossover WORDS` without a network and with an empty cache.
    fn run_offline(&self, words: &[&str]) -> Output {
        let mut command = self.command(words);
        command.envs(NO_NETWORK).env("CROSSOVER_CACHE_DIR", self.path("cache"));
        command.output().unwrap()
    }
}

#[test]
fn sqlite_alone_is_measured_without_a_network() {
    let place = Place::new();
    place.write_visits();
    let before = std::fs::read(place.path("shop.db")).unwrap();
    let words = ["shop.db", "--sql=by visitor.sql", "--on=sqlite"];
    let output = place.try_by(Place::run_offline, BUDGET_TUNED_SECONDS, &words);
    // Whether the index saves more than a millisecond is left to the machine.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", error(&output));
    let told = text(&output.stdout);
    assert!(told.starts_with("shop.db on SQLite\n"), "{told}");
    assert!(told.contains("CREATE INDEX visits_visitor"), "{told}");
    // A paste of the command compares PostgreSQL.
    let sentence = "PostgreSQL was not compared (crossover try shop.db '--sql=by visitor.sql' \
                    --budget=";
    let on_one_line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(on_one_line.contains(sentence), "{told}");
    // The audit is about the file: of PostgreSQL nothing else is said.
    assert!(on_one_line.contains("PostgreSQL would refuse the file: 1 blocker"), "{told}");
    let (answer, _) = on_one_line.split_once("To post it").unwrap();
    assert_eq!(answer.matches("PostgreSQL").count(), 2, "{told}");
    assert!(!error(&output).contains("Moved"), "{}", error(&output));
    assert!(!place.path("cache/postgres").exists(), "something was fetched");
    assert_eq!(std::fs::read(place.path("shop.db")).unwrap(), before, "the file was changed");
    place.assert_nothing_left();

    // What is recorded holds against its schemas, and the plan repeats the run.
    let report = place.run_offline(&["report", "latest", "--format=json"]);
    let report = schema::check("report", &text(&report.stdout));
    let steps = &report["steps"];
    assert_eq!(steps["engines"].as_array().unwrap().len(), 1, "{steps}");
    assert_eq!(steps["rows"][0]["best"], serde_json::json!([]));
    assert_eq!(steps["conclusions"][0]["beside"], serde_json::Value::Null);
    schema::check_runs(&place.path("runs"));
    let again = place.run_offline(&["bench", "try-shop.toml", "--dry-run"]);
    assert_eq!(again.status.code(), Some(0), "{}", error(&again));
}

#[test]
fn a_bound_is_judged_on_sqlite_alone() {
    let place = Place::new();
    place.write_visits();
    for (bound, code) in [("mean < 600s", 0), ("mean < 1us", 99)] {
        let enough = format!("--enough={bound}");
        let words = ["shop.db", "--on=sqlite", "--no-tuned", &enough, "--output-format=json"];
        let output = place.try_by(Place::run_offline, BUDGET_SECONDS, &words);
        assert_eq!(output.status.code(), Some(code), "{}", error(&output));
        let told = json(&output);
        assert_eq!(told["moved"], serde_json::json!([]));
        assert_eq!(told["findings"][0]["severity"], "blocker", "the audit stays");
        assert!(measured(&told).contains(&"count visits"), "{told}");
        let headline = told["report"]["summary"]["headline"].as_str().unwrap();
        assert!(headline.contains("PostgreSQL was not compared"), "{headline}");
        std::fs::remove_file(place.path(told["plan"].as_str().unwrap())).unwrap();
    }
}

#[test]
fn without_a_network_the_way_out_is_sqlite_alone() {
    let place = Place::new();
    place.write_visits();
    // A release that no machine has installed.
    let output = place.run_offline(&["try", "shop.db", "--on", "postgres:11.1", "--seed=7"]);
    assert_eq!(output.status.code(), Some(1));
    let told = error(&output);
    assert!(told.contains("PostgreSQL 11.1 is not in the cache"), "{told}");
    let way_out = "crossover try shop.db --seed=7 --on sqlite";
    assert!(told.contains(way_out), "{told}");
    let words: Vec<&str> = way_out.split(' ').skip(1).chain(["--dry-run"]).collect();
    let preview = place.expect(0, &words);
    assert!(preview.contains("Engines: SQLite alone, unchanged"), "{preview}");
    assert!(!preview.contains("move") && !preview.contains("PostgreSQL"), "{preview}");
}
