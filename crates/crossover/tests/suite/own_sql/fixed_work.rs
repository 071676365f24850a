//! Trials that change data: the same executions on every engine, each key once, and the tables that
//! they leave compared.

use serde_json::Value;

use super::shop;
use crate::place::{Place, error, read_json, text};

const ENGINES: &str = r#"["sqlite", "postgres:18"]"#;

/// A table of more keys than the shop has, and names in capital letters.
const MORE: &str = "
    CREATE TABLE queue (id INTEGER PRIMARY KEY, state TEXT NOT NULL, flag INTEGER NOT NULL,
                        name TEXT NOT NULL, score REAL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
      INSERT INTO queue SELECT i, 'new', 0, CASE WHEN i % 2 THEN 'Anna ' ELSE 'ben ' END || i, i / 3.0
        FROM n;
    CREATE TABLE log (id INTEGER PRIMARY KEY, note TEXT NOT NULL);
    INSERT INTO log SELECT id, state FROM queue WHERE id <= 10;";

fn place() -> Place {
    let place = shop();
    rusqlite::Connection::open(place.path("shop.db")).unwrap().execute_batch(MORE).unwrap();
    place
}

fn measured(place: &Place, trial: &str, statements: &str) -> Vec<Value> {
    let _ = std::fs::remove_dir_all(place.path("runs"));
    place.plan_on(ENGINES, trial, statements);
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let trials = place.trials();
    assert!(trials.iter().all(|trial| trial["status"] == "ok"), "{trials:?}");
    trials
}

const DELETION: &str = r#"
[[statement]]
name = "deletion"
text = "DELETE FROM queue WHERE id = :id"
parameters = { id = { range = [1, 60000] } }
"#;

/// In trials of fixed length the longer one would have deleted nothing most of the time.
#[test]
fn a_deletion_by_key_finds_its_row_in_short_and_long_trials() {
    let place = place();
    for seconds in [1, 5] {
        let trials =
            measured(&place, &format!("mode = \"steady\", time = \"{seconds}s\""), DELETION);
        assert_eq!(trials[0]["requests"], trials[1]["requests"]);
        let left = 60_000 - trials[0]["requests"].as_u64().unwrap();
        for trial in &trials {
            assert_eq!(trial["by_request"][0]["without_effect_fraction"], 0.0, "{trial}");
            assert_eq!(trial["written"]["queue"]["rows"], left, "{trial}");
        }
        let digest = |index: usize| trials[index]["written"]["queue"]["digest"].as_str().unwrap();
        assert_eq!(digest(0), digest(1));
        let work = &read_json(&place.only_run().join("run.json"))["fixed_work"][0];
        assert_eq!(work["rounds"], trials[0]["requests"]);
    }
}

/// The pilot's load with one client deletes rows whose keys are those of two clients too.
#[test]
fn keys_are_asked_for_before_any_load_uses_them_up() {
    let place = place();
    let factors = format!("factors = {{ clients = [1, 2] }}\n{DELETION}");
    let trials = measured(&place, r#"mode = "steady", time = "1s""#, &factors);
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        assert!(trial["written"]["queue"]["digest"].is_string(), "{trial}");
        assert_eq!(trial["by_request"][0]["without_effect_fraction"], 0.0, "{trial}");
    }
    let run = read_json(&place.only_run().join("run.json"));
    let work = run["fixed_work"].as_array().unwrap();
    assert!(work.len() == 2 && work.iter().all(|one| one["keyed"] == true), "{work:?}");
}

#[test]
fn a_resumed_run_has_the_same_work() {
    let place = place();
    let trials = measured(&place, r#"mode = "steady", time = "1s""#, DELETION);
    let run = place.only_run();
    let mut record = read_json(&run.join("run.json"));
    record["complete"] = false.into();
    std::fs::write(run.join("run.json"), record.to_string()).unwrap();
    std::fs::remove_file(place.trial_files().last().unwrap()).unwrap();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    let output = place.run(&["bench", "--resume", &name]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let again = place.trials();
    for key in ["number", "requests", "written"] {
        assert_eq!(again[1][key], trials[1][key]);
    }
    assert_eq!(read_json(&run.join("run.json"))["fixed_work"], record["fixed_work"]);
}

#[test]
fn keys_that_are_soon_used_up_are_refused_with_numbers() {
    let place = place();
    let few = DELETION.replace("60000", "20");
    place.plan_on(ENGINES, r#"mode = "steady", time = "1s""#, &few);
    let said = place.fails(2);
    assert!(said.contains("deletion finds nothing to do when its values come again"), "{said}");
    assert!(said.contains("its 20 are used up by 1 client on "), "{said}");
    assert!(said.contains("are needed. Take more rows"), "{said}");

    // The remedy.
    let restored = few
        .replace(
            "id = :id\"",
            "id = :id; INSERT INTO queue VALUES (:id, 'new', 1, 'Zoe', 0.5)\"\ntransaction = true",
        )
        .replace("deletion", "replacement");
    let trials = measured(&place, r#"mode = "steady", time = "1s""#, &restored);
    assert_eq!(trials[0]["requests"], trials[1]["requests"]);
    assert!(trials[0]["requests"].as_u64() > Some(20));
    assert_eq!(trials[0]["written"], trials[1]["written"]);
}

/// Two clients, statements of every kind that uses its keys up, and numbers that an engine gives.
const KINDS: &str = r#"
factors = { clients = [1, 2] }

[[statement]]
name = "queue"
weight = 3
text = "UPDATE queue SET state = 'done', score = score * 1.1 WHERE id = :id AND state = 'new' RETURNING id"
parameters = { id = { query = "SELECT id FROM queue" } }

[[statement]]
name = "conflict"
text = "INSERT INTO people (id, name, member) VALUES (:id, :name, 1) ON CONFLICT DO NOTHING"
texts = { postgres = "INSERT INTO people (id, name, member) VALUES (:id, :name, true) ON CONFLICT DO NOTHING" }
parameters = { id = { range = [1001, 900000000] }, name = { list = ["x", "y"] } }

[[statement]]
name = "numbered"
text = "INSERT INTO log (note) VALUES (:note)"
parameters = { note = { range = [1, 1000000] } }

[[statement]]
name = "reading"
text = "SELECT count(*) FROM log"
answer = "none"
"#;

#[test]
fn writes_of_every_kind_leave_the_same_rows() {
    let place = place();
    let kinds = KINDS.replace("VALUES (:note)", "VALUES ('note ' || CAST(:note AS TEXT))");
    let trials = measured(&place, r#"mode = "passes", passes = 50"#, &kinds);
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        for index in 0..3 {
            let fraction = &trial["by_request"][index]["without_effect_fraction"];
            assert_eq!(*fraction, 0.0, "{trial}");
        }
        let clients = trial["levels"]["clients"].as_f64().unwrap() as u64;
        let written = &trial["written"];
        if trial["failures"] != 0 {
            // SQLite may have a client wait for a lock until it gives up.
            assert!(clients > 1 && written.is_null(), "{trial}");
            continue;
        }
        assert_eq!(written["log"]["rows"], 10 + 50 * clients, "{trial}");
        assert_eq!(written["people"]["rows"], 200 + 50 * clients, "{trial}");
        assert_eq!(written["queue"]["rows"], 60_000, "{trial}");
        // Two clients take turns in an order that is nowhere written.
        let is_digested = written["log"]["digest"].is_string();
        assert_eq!(is_digested, clients == 1, "{trial}");
        if is_digested {
            assert_eq!(written["log"]["left_out"], serde_json::json!(["id"]));
        }
    }
}

/// Each client deletes its own keys, in a thread or in a process of its own. Half of them have no row.
#[test]
fn distinct_keys_are_digested_with_several_clients() {
    let place = place();
    let factors = "factors = { clients = [2], clients_as = [\"processes\", \"threads\"] }";
    let trials = measured(
        &place,
        r#"mode = "passes", passes = 300"#,
        &format!("{factors}\n{}", DELETION.replace("60000", "120000")),
    );
    assert_eq!(trials.len(), 3);
    assert!(trials[0]["written"]["queue"]["digest"].is_string(), "{}", trials[0]);
    assert!(trials.iter().all(|trial| trial["written"] == trials[0]["written"]), "{trials:?}");
    let rows = trials[0]["written"]["queue"]["rows"].as_u64().unwrap();
    let changed = |trial: &Value| {
        let without = trial["by_request"][0]["without_effect_fraction"].as_f64().unwrap();
        600.0 * (1.0 - without)
    };
    assert!(trials.iter().all(|trial| (changed(trial) - (60_000 - rows) as f64).abs() < 0.5));
}

/// LIKE is case-insensitive on SQLite alone. Every execution changes one row on both.
#[test]
fn another_effect_on_another_engine_ends_the_run_and_is_named() {
    let place = place();
    let planted = r#"
[[statement]]
name = "flags"
text = "UPDATE queue SET flag = CASE WHEN name LIKE 'a%' THEN 1 ELSE 0 END WHERE id = :id"
parameters = { id = { range = [1, 60000] } }
"#;
    place.plan_on(ENGINES, r#"mode = "passes", passes = 50"#, planted);
    let said = place.fails(1);
    assert!(said.contains("after the same executions table queue differs"), "{said}");
    assert!(said.contains("both have 60,000 rows, and their digests differ in flag"), "{said}");
    assert!(said.contains("sqlite (trial ") && said.contains("postgres:18 (trial "), "{said}");
    let why = |trial: &Value| trial["status"]["void"].as_str().map(str::to_owned);
    let voided: Vec<String> = place.trials().iter().filter_map(why).collect();
    assert!(voided.len() == 1 && voided[0].contains("table queue differs"), "{voided:?}");

    // The remedies of the message.
    for remedy in ["answer = \"count\"", "answer = \"none\"", "ignore_columns = [\"flag\"]"] {
        measured(&place, r#"mode = "passes", passes = 50"#, &format!("{planted}{remedy}\n"));
    }
}

#[test]
fn the_report_has_a_column_with_the_share_that_changed_nothing() {
    let place = place();
    let twice = DELETION.replace("60000", "20");
    measured(&place, r#"mode = "passes", passes = 40"#, &twice);
    let shown = place.run(&["report", "--format=markdown"]);
    let shown = text(&shown.stdout) + &error(&shown);
    assert!(shown.contains("Without effect"), "{shown}");
    assert!(shown.contains("50%"), "{shown}");
}
