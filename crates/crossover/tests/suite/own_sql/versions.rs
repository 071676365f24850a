//! Versions of schemas, statements and releases against each other: one command that fails where a
//! statement has become slower.

use serde_json::Value;

use super::shop;
use crate::place::{Place, error, text};

/// The report of the newest run.
fn report(place: &Place) -> Value {
    let output = place.run(&["report", "--format", "json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs on a machine where other programs take most of the processors decide nothing.
const RUNS_MOST: usize = 5;

/// `bench sql` with short trials, which must end with `code`; what it prints. A run that says that the machine
/// was busy is repeated.
fn bench(place: &Place, code: i32, words: &[&str]) -> String {
    let common = ["--time", "1s", "--replicates", "5", "--no-wait-for-quiet"];
    let mut runs = 1;
    loop {
        let output = place.run(&[&["bench", "sql"], words, &common].concat());
        let said = text(&output.stdout);
        let is_busy = said.contains("the figures are those of a busy machine");
        if output.status.code() == Some(code) || !is_busy || runs == RUNS_MOST {
            assert_eq!(output.status.code(), Some(code), "{said}\n{}", error(&output));
            return said;
        }
        runs += 1;
    }
}

/// The shop with many orders of one more person, which a scan reads and an index leaves out: on a busy machine
/// too a scan takes many times as long.
fn large_shop() -> Place {
    let place = shop();
    let data = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    data.execute_batch(
        "INSERT INTO people SELECT 201, name, born, score, photo, member FROM people WHERE id = 1;
         WITH RECURSIVE n(i) AS (SELECT 3001 UNION ALL SELECT i + 1 FROM n WHERE i < 90000)
           INSERT INTO orders SELECT i, 201, '2021-01-01 00:00:00', 1, NULL FROM n;",
    )
    .unwrap();
    place
}

fn thresholds(report: &Value) -> Vec<(String, Value)> {
    let all = report["thresholds"].as_array().unwrap();
    all.iter()
        .map(|one| (one["request"].as_str().unwrap_or("").to_owned(), one["met"].clone()))
        .collect()
}

#[test]
fn a_schema_without_its_index_is_a_regression_of_one_statement() {
    let place = large_shop();
    std::fs::create_dir(place.path("queries")).unwrap();
    place.write("queries/of.sql", "SELECT id, amount FROM orders WHERE person_id = :id");
    place.write("queries/all.sql", "SELECT count(*), sum(id) FROM orders");
    std::fs::copy(place.path("shop.db"), place.path("new.db")).unwrap();
    let new = rusqlite::Connection::open(place.path("new.db")).unwrap();
    new.execute_batch("DROP INDEX orders_person").unwrap();
    drop(new);
    let engines = ["--on", "sqlite:shop.db", "--on", "sqlite:new.db", "--sql", "queries"];
    let asked = ["--parameter", "id=1..200", "--fail-on-regression", "50%"];
    let said = bench(&place, 99, &[&engines[..], &asked].concat());
    assert!(
        said.contains(
            "\n\nSlower by more than 50% in 1 of 2 comparisons: of on sqlite:new.db takes "
        ),
        "{said}"
    );
    assert!(said.contains(" times as long as on sqlite:shop.db (95%: "), "{said}");
    assert!(
        said.contains(
            "missed: at most 50% slower than sqlite:shop.db, sqlite:new.db, 1 client, of: "
        ),
        "{said}"
    );
    let report = report(&place);
    assert_eq!(thresholds(&report)[1], ("of".to_owned(), false.into()), "{}", report["thresholds"]);
    // The other way round it is faster, which is no regression; a scan of the same rows may be anything
    // below.
    let back = ["--on", "sqlite:new.db", "--on", "sqlite:shop.db", "--sql", "queries/of.sql"];
    let said = bench(&place, 0, &[&back[..], &asked].concat());
    assert!(said.contains("Not slower by more than 50%: of on sqlite:shop.db takes 0."), "{said}");
}

#[test]
fn another_text_is_a_version_and_must_answer_alike() {
    let place = large_shop();
    for version in ["old", "new"] {
        std::fs::create_dir(place.path(version)).unwrap();
    }
    place.write("old/of.sql", "SELECT id, amount FROM orders WHERE person_id = :id");
    place.write("new/of.sql", "SELECT id, amount FROM orders WHERE person_id + 0 = :id");
    let plan = |more: &str| {
        format!(
            "title = \"versions\"\nworkload = \"sql\"\nengines = [\"sqlite\"]\ndata = \"shop.db\"\n\
             replicates = 5\nfail_on_regression = \"50%\"\ntrial = {{ mode = \"steady\", time = \"1s\" }}\n\
             factors = {{ version = [\"old\", \"new\"] }}\n\
             [[statement]]\nfile = \"{{version}}/of.sql\"\nparameters = {{ id = {{ range = [1, 200] }} }}\n{more}"
        )
    };
    place.write("plan.toml", &plan(""));
    let output = place.run(&["bench", "plan.toml", "--no-wait-for-quiet"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(99), "{said}\n{}", error(&output));
    assert!(said.contains("Slower by more than 50%: of on version new takes "), "{said}");
    let kept = std::fs::read_to_string(place.only_run().join("plan.toml")).unwrap();
    assert!(kept.contains("WHERE person_id + 0"), "the plan holds the texts: {kept}");

    // The same by flags: here the new text asks for something else.
    place.write("new/of.sql", "SELECT id, amount * 2 AS amount FROM orders WHERE person_id = :id");
    let words = [
        "bench",
        "sql",
        "--on",
        "sqlite",
        "--data",
        "shop.db",
        "--sql",
        "{version}",
        "--factor",
        "version=old,new",
        "--parameter",
        "id=1..200",
        "--time",
        "1s",
        "--replicates",
        "5",
    ];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    let message = error(&output);
    for part in
        ["sqlite with version=new has (", "sqlite with version=old has (", "they differ in amount"]
    {
        assert!(message.contains(part), "{message}");
    }
}

/// Of every version what is wrong is said before anything is measured, and what writes is found.
#[test]
fn a_later_version_is_checked_as_the_first_is() {
    let place = large_shop();
    place.write("old.sql", "SELECT count(*) FROM orders");
    let flags = ["bench", "sql", "--sql", "{version}.sql", "--factor", "version=old,new"];
    let refused = |text: &str, more: &[&str], said: &str| {
        place.write("new.sql", text);
        let output = place.run(&[&flags[..], more].concat());
        assert_eq!(output.status.code(), Some(2), "{}", error(&output));
        assert!(error(&output).contains(said), "{}", error(&output));
    };
    let copy = ["--on", "sqlite", "--data", "shop.db"];
    refused("SELECT ?", &copy, "new.sql, line 1: nothing gives ? a value");
    refused("SELECT 1; SELECT 2", &copy, "new.sql has 2 statements, and 1 in another version");
    let yours = ["--on", "sqlite:shop.db"];
    refused("DELETE FROM orders", &yours, "version changes data, and sqlite:shop.db is yours");
    assert!(!place.path("runs").exists());
}

/// Files of different versions hold what they hold: their answers are not compared.
#[test]
fn a_factor_in_the_path_of_the_data_is_a_version_too() {
    let place = large_shop();
    std::fs::copy(place.path("shop.db"), place.path("old.db")).unwrap();
    std::fs::rename(place.path("shop.db"), place.path("new.db")).unwrap();
    let new = rusqlite::Connection::open(place.path("new.db")).unwrap();
    new.execute_batch("DROP INDEX orders_person; DELETE FROM orders WHERE id = 1").unwrap();
    drop(new);
    place.write("of.sql", "SELECT id, amount FROM orders WHERE person_id = :id");
    let words = ["--on", "sqlite", "--data", "{version}.db", "--factor", "version=old,new"];
    let asked = ["--sql", "of.sql", "--parameter", "id=1..200", "--fail-on-regression", "50%"];
    let said = bench(&place, 99, &[&words[..], &asked].concat());
    assert!(said.contains("Slower by more than 50%: of on version new takes "), "{said}");
}

#[test]
fn another_release_is_compared_by_the_same_flag() {
    let place = large_shop();
    place.write("of.sql", "SELECT id, amount FROM orders WHERE person_id = :id");
    let words = [
        "bench",
        "sql",
        "--on",
        "postgres:17",
        "--on",
        "postgres:18",
        "--data",
        "shop.db",
        "--sql",
        "of.sql",
        "--parameter",
        "id=1..200",
        "--time",
        "1s",
        "--replicates",
        "5",
        "--no-wait-for-quiet",
        "--fail-on-regression",
        "100%",
    ];
    let output = place.run(&words);
    let said = text(&output.stdout);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{said}\n{}", error(&output));
    assert!(
        said.contains("at most 100% slower than postgres:17, postgres:18, 1 client: "),
        "{said}"
    );
    let [(request, met)] = &thresholds(&report(&place))[..] else { panic!("{said}") };
    assert!(request.is_empty() && *met != Value::Bool(false), "{said}");
}

#[test]
fn nothing_to_compare_is_wrong_usage() {
    let place = large_shop();
    place.write("of.sql", "SELECT count(*) FROM orders");
    let words =
        ["bench", "sql", "--on", "sqlite:shop.db", "--sql", "of.sql", "--fail-on-regression=10%"];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error(&output).contains("name a second engine, or a factor in the path"),
        "{}",
        error(&output)
    );
}
