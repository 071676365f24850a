//! Copies of the data: rows that a program is writing, statements that write, servers that are killed.

use super::shop;
use crate::killed;
use crate::place::{error, read_json, text};

/// Moves money between orders, so that the sum of all amounts stays.
const TRANSFER: &str = r#"
[[statement]]
name = "transfer"
text = """
UPDATE orders SET amount = amount - 1 WHERE id = :a;
UPDATE orders SET amount = amount + 1 WHERE id = :b"""
transaction = true
parameters = { a = { range = [1, 10] }, b = { range = [11, 20] } }

[invariant]
text = "SELECT count(*), sum(amount) FROM orders"
"#;

#[test]
fn writing_statements_run_on_copies_and_keep_the_invariant() {
    let place = shop();
    let before = std::fs::read(place.path("shop.db")).unwrap();
    place.plan(TRANSFER);
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    for trial in place.trials() {
        assert_eq!(trial["status"], "ok");
        assert!(trial["checkpoint_seconds"].is_f64(), "what it wrote is not in its place: {trial}");
    }
    assert_eq!(before, std::fs::read(place.path("shop.db")).unwrap());
    let preview = place.run(&["bench", "plan.toml", "--dry-run", "--replicates=5"]);
    let preview = text(&preview.stdout);
    assert!(preview.contains("by what a trial took in run"), "{preview}");

    std::fs::remove_dir_all(place.path("runs")).unwrap();
    place.plan(&TRANSFER.replace("amount - 1", "amount - 2"));
    place.run(&["bench", "plan.toml"]);
    for trial in place.trials() {
        let why = trial["status"]["void"].as_str().unwrap();
        assert!(why.contains("the plan's invariant does not hold"), "{why}");
    }
}

/// The database of a program that is running has its newest rows in the log alone.
#[test]
fn rows_in_the_log_are_measured_on_both_engines() {
    let place = shop();
    let writer = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    writer.execute_batch("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0").unwrap();
    place.plan("[[statement]]\nname = \"a\"\ntext = \"SELECT count(*) FROM orders\"\n");
    let mut answers = Vec::new();
    for id in [4_001, 4_002] {
        let row = "INSERT INTO orders VALUES (?1, 1, '2021-02-03 04:05:06', 1.5, NULL)";
        writer.execute(row, [id]).unwrap();
        let output = place.run(&["bench", "plan.toml"]);
        assert_eq!(output.status.code(), Some(3), "{}", error(&output));
        assert!(place.trials().iter().all(|trial| trial["status"] == "ok"));
        answers.push(read_json(&place.only_run().join("run.json"))["data_digest"].clone());
        std::fs::remove_dir_all(place.path("runs")).unwrap();
    }
    assert_ne!(answers[0], answers[1]);
}

#[test]
fn data_that_change_while_engines_are_filled_end_the_run() {
    let place = shop();
    place.plan(
        "[application]\nprepare = [[\"{crossover}\", \"migrate\", \"{data}\", \"{database_url}\"], \
         [\"sh\", \"-c\", \"printf x >> '{data}'\"]]\n\
         [[statement]]\nname = \"a\"\ntext = \"SELECT count(*) FROM orders\"\n",
    );
    let told = place.fails(1);
    assert!(told.contains("was written to while engines were filled from it"), "{told}");
    assert!(told.contains(".backup") && !told.contains("--resume"), "{told}");
}

#[test]
fn a_statement_that_only_seems_to_read_changes_nothing() {
    let place = shop();
    for (sql, refusal) in [
        ("PRAGMA user_version = 7", "readonly database"),
        ("PRAGMA main.Query_Only = off", "would change the copy of the data that trials share"),
        ("PRAGMA journal_mode = wal", "a setting belongs to its engine"),
    ] {
        place.plan_on(
            r#"["sqlite", "sqlite[label=b]"]"#,
            r#"mode = "passes", passes = 1"#,
            &format!("[[statement]]\nname = \"a\"\ntext = \"{sql}\"\n"),
        );
        let told = place.fails(2);
        assert!(told.contains(refusal), "{told}");
    }
}

#[test]
fn a_killed_server_voids_the_trial_and_is_restarted() {
    let place = shop();
    place.plan_on(
        r#"["postgres:18"]"#,
        r#"mode = "steady", time = "5s""#,
        "factors = { clients = [1, 2, 3] }\n\
         [[statement]]\nname = \"a\"\ntext = \"SELECT count(*) FROM orders\"\n",
    );
    let mut child = place.command(&["bench", "plan.toml"]).spawn().unwrap();
    place.wait_for_trials(&mut child, 1);
    killed::kill_the_server(&place);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let trials = place.trials();
    assert_eq!(trials.len(), 3, "{}", error(&output));
    assert_eq!((&trials[0]["status"], &trials[2]["status"]), (&"ok".into(), &"ok".into()));
    assert!(trials[1]["status"]["void"].is_string(), "{}", trials[1]);
    let status = place.run(&["server", "status", "--output-format=json"]);
    assert_eq!(text(&status.stdout).trim(), "[]");
}

/// A second insertion of the same keys would be refused.
const INSERTION: &str = r#"
factors = { clients = [1, 2] }

[[statement]]
name = "insertion"
text = "INSERT INTO orders VALUES (:id, 1, '2022-01-01', 1.5, NULL)"
parameters = { id = { list = [4001] } }
"#;

#[test]
fn each_writing_trial_has_a_copy_that_nothing_has_written_to() {
    let place = shop();
    let engines = r#"["sqlite", "postgres:14", "postgres:18"]"#;
    place.plan_on(engines, r#"mode = "passes", passes = 1"#, INSERTION);
    // The second run finds the data directories of the first.
    for _ in 0..2 {
        let output = place.run(&["bench", "plan.toml"]);
        assert_eq!(output.status.code(), Some(3), "{}", error(&output));
        let trials = place.trials();
        assert_eq!(trials.len(), 6);
        for trial in trials {
            // Two clients insert the same key, and one of them is refused.
            let refused = if trial["levels"]["clients"] == 2.0 { 1 } else { 0 };
            assert_eq!(trial["failures"], refused, "{trial}");
        }
        std::fs::remove_dir_all(place.path("runs")).unwrap();
    }
    // The note of what was filled is now of other data.
    let kept = std::fs::read_dir(place.path("data/postgres")).unwrap();
    let notes = kept.map(|entry| entry.unwrap().path().join("ready")).filter(|note| note.is_file());
    let count = notes.map(|note| std::fs::write(note, "orders: 1 row").unwrap()).count();
    assert_eq!(count, 2, "one for each release");
    let told = place.fails(1);
    assert!(told.contains("something has changed the kept data"), "{told}");
}

/// A program that made the data may leave its newest rows in the log.
#[test]
fn data_of_a_command_are_whole_though_it_left_a_log() {
    let place = shop();
    let maker = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    maker.execute_batch("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0").unwrap();
    maker.execute("DELETE FROM orders WHERE id > 7", []).unwrap();
    place.plan_on(
        r#"["sqlite", "sqlite[label=b]"]"#,
        r#"mode = "passes", passes = 1"#,
        // Of any other count it has no value.
        "[[statement]]\nname = \"a\"\n\
         text = \"SELECT abs(-9223372036854775807 - 1 + (count(*) = 7)) FROM orders\"\n",
    );
    let copy =
        r#"{ command = ["sh", "-c", "cp shop.db '{path}' && cp shop.db-wal '{path}-wal'"] }"#;
    let plan = std::fs::read_to_string(place.path("plan.toml")).unwrap();
    place.write("plan.toml", &plan.replace("\"shop.db\"", copy));
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    assert!(place.trials().iter().all(|trial| trial["failures"] == 0));
}

/// From the second round on the rows of the first two are gone, and the third is as the update left it.
const REPEATED: &str = r#"
[[statement]]
name = "deletion"
text = "DELETE FROM orders WHERE id = :id"
parameters = { id = { list = [1, 2] } }

[[statement]]
name = "returned"
text = "DELETE FROM orders WHERE id = :id RETURNING id"
parameters = { id = { list = [3, 4] } }

[[statement]]
name = "update"
text = "UPDATE orders SET amount = 5 WHERE id = :id"
parameters = { id = { list = [5, 6] } }

[[statement]]
name = "reading"
text = "SELECT count(*) FROM orders"
answer = "none"
"#;

#[test]
fn executions_that_change_no_row_are_counted_and_said() {
    let place = shop();
    place.plan_on(r#"["sqlite", "postgres:18"]"#, r#"mode = "passes", passes = 8"#, REPEATED);
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    for trial in place.trials() {
        let fraction = |index: usize| &trial["by_request"][index]["without_effect_fraction"];
        let fractions = [0, 1, 2].map(|index| fraction(index).as_f64());
        assert_eq!(fractions, [Some(0.75), Some(0.75), Some(0.0)], "{trial}");
        assert!(fraction(3).is_null(), "{trial}");
    }
    let said = text(&output.stdout) + &error(&output);
    assert!(
        said.contains("up to 75% on PostgreSQL 18, up to 75% on SQLite changed no row"),
        "{said}"
    );
}
