//! Booleans as SQLite's SQL writes them: numbers in one statement, conditions in the next.

use crate::place::{Place, error};

const FLAGS: &str = "CREATE TABLE flags (id INTEGER PRIMARY KEY, active BOOLEAN NOT NULL, n INT); \
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99) \
     INSERT INTO flags SELECT i, i % 3 = 0, i % 3 = 0 FROM n";

const SAID: &str = "PostgreSQL compares booleans with numbers here by a cast of this copy (your \
                    application's SQL would say active = true)";

/// Statements that must all have the same answer on both engines.
fn statements(conditions: &[&str]) -> String {
    let each = conditions.iter().enumerate().map(|(place, condition)| {
        format!(
            "\n[[statement]]\nname = \"s{place}\"\n\
             text = \"SELECT count(*), sum(id) FROM flags WHERE {condition}\"\n"
        )
    });
    each.collect()
}

fn flags(script: &str) -> Place {
    let place = Place::new();
    rusqlite::Connection::open(place.path("shop.db")).unwrap().execute_batch(script).unwrap();
    place
}

#[test]
fn booleans_are_numbers_and_conditions_on_a_copy() {
    let place = flags(FLAGS);
    place.plan(&statements(&["active = 1", "active", "active = 0", "NOT active", "active <> n"]));
    let output = place.run(&["bench", "plan.toml"]);
    // One block gives no verdict: done, with findings.
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    for trial in place.trials() {
        assert_eq!((&trial["status"], &trial["failures"]), (&"ok".into(), &0.into()), "{trial}");
    }
    let text = String::from_utf8_lossy(&output.stdout).replace("\n  ", " ").replace('\n', " ");
    assert!(text.contains(SAID), "{text}");
}

#[test]
fn without_booleans_nothing_is_said_of_a_cast() {
    let place = flags(&FLAGS.replace("BOOLEAN", "INTEGER"));
    place.plan(&statements(&["active = 1"]));
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let text = String::from_utf8_lossy(&output.stdout).replace("\n  ", " ").replace('\n', " ");
    assert!(text.contains("closed load") && !text.contains("compares booleans"), "{text}");
}
