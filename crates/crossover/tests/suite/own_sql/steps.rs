//! `[[step]]`: copies that differ by indexes, statistics and settings, measured in one turn of an engine.

use super::shop;
use crate::place::{error, read_json};

const STEPS: &str = r#"
[[step]]
name = "unchanged"

[[step]]
name = "index"
sqlite = { statements = ["CREATE INDEX orders_amount ON orders (amount)", "ANALYZE"] }
postgres = { statements = ["CREATE INDEX orders_amount ON orders (amount)"] }

[[step]]
name = "settings"
sqlite = { statements = ["PRAGMA journal_mode = wal"], settings = { cache_size = "-4096" } }
postgres = { settings = { work_mem = "64MB" } }

[[statement]]
name = "by amount"
text = "SELECT id FROM orders WHERE amount = :amount"
sets = [{ amount = 14.25 }, { amount = 99.25 }]

[[statement]]
name = "late"
text = "SELECT count(*) FROM people"
steps = ["settings"]
"#;

#[test]
fn each_step_has_its_own_copy_and_settings_on_both_engines() {
    let place = shop();
    let before = std::fs::read(place.path("shop.db")).unwrap();
    place.plan_on(
        r#"["sqlite[analyze=keep]", "postgres:18"]"#,
        r#"mode = "passes", passes = 2"#,
        STEPS,
    );
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let trials = place.trials();
    assert_eq!(trials.len(), 6);
    let plans: std::collections::BTreeMap<String, String> = {
        let run = read_json(&place.only_run().join("run.json"));
        let texts = run["plans"].as_object().unwrap();
        texts.iter().map(|(hash, text)| (hash.clone(), text.as_str().unwrap().to_owned())).collect()
    };
    for trial in &trials {
        assert_eq!(trial["status"], "ok", "{trial}");
        assert_eq!(trial["failures"], 0, "{trial}");
        let step = trial["levels"]["step"].as_str().unwrap();
        // The second statement is executed at the last step alone.
        let names: Vec<&str> = trial["by_request"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        let expected: &[&str] =
            if step == "settings" { &["by amount", "late"] } else { &["by amount"] };
        assert_eq!(names, expected, "{trial}");
        let hash = trial["plans"][0]["plan"]["observed"]["hash"].as_str().unwrap();
        let uses_index = plans[hash].contains("orders_amount");
        assert_eq!(uses_index, step != "unchanged", "{step}: {}", plans[hash]);
    }
    let run = read_json(&place.only_run().join("run.json"));
    let setting = |engine: &str, step: &str, name: &str| -> String {
        let settings = run["engines"][engine]["step_settings"][step].as_array().unwrap();
        let found = settings.iter().find(|pair| pair[0] == name).unwrap();
        found[1].as_str().unwrap().to_owned()
    };
    assert_eq!(setting("sqlite[analyze=keep]", "settings", "journal_mode"), "wal");
    assert_eq!(setting("sqlite[analyze=keep]", "index", "journal_mode"), "delete");
    assert_eq!(setting("sqlite[analyze=keep]", "settings", "cache_size"), "-4096");
    assert_eq!(setting("postgres:18", "settings", "work_mem"), "64MB");
    assert_eq!(setting("postgres:18", "index", "work_mem"), "4MB");
    assert_eq!(std::fs::read(place.path("shop.db")).unwrap(), before, "the file is only read");
    // The copies of the steps went with the run's scratch folder; the server keeps its own.
    let again = place.run(&["bench", "plan.toml"]);
    assert_eq!(again.status.code(), Some(3), "{}", error(&again));
}

#[test]
fn steps_that_cannot_be_made_are_refused_with_the_statement() {
    let place = shop();
    for engine in ["sqlite", "postgres:18"] {
        let wrong = STEPS.replace("ON orders (amount)", "ON orders (missing)");
        place.plan_on(&format!("[\"{engine}\"]"), r#"mode = "passes", passes = 1"#, &wrong);
        let message = place.fails(2);
        assert!(message.contains("refuses `CREATE INDEX orders_amount"), "{message}");
        assert!(message.contains("missing"), "{message}");
    }
    let writing = STEPS.replace("SELECT count(*) FROM people", "DELETE FROM people");
    place.plan_on(r#"["sqlite"]"#, r#"mode = "passes", passes = 1"#, &writing);
    assert!(place.fails(2).contains("late changes data, and the copies of the steps are shared"));
}
