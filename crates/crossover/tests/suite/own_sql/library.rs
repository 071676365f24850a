//! SQLite by a shared library of the user's, in processes that hold no other.

use std::process::Command;

use testing::bundled_sqlite::{BundledSqlite, compile_c};

use super::{BOTH, STATEMENTS, shop};
use crate::place::{Place, error, read_json, text};

/// A shared library of the SQLite that cargo built for this test.
fn library(place: &Place) -> String {
    let path = place.path("libours.so").display().to_string();
    let archive = BundledSqlite::find().unwrap().archive;
    let made = Command::new("cc")
        .args(["-shared", "-o", &path, "-Wl,--whole-archive"])
        .arg(archive)
        .args(["-Wl,--no-whole-archive", "-lm", "-lpthread", "-ldl"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", error(&made));
    path
}

fn plan(place: &Place, library: &str, statements: &str) {
    let engines =
        format!("[\"sqlite\", \"sqlite[library={library},label=theirs]\", \"postgres:18\"]");
    place.plan_on(&engines, r#"mode = "passes", passes = 2"#, statements);
}

#[test]
fn a_library_answers_as_the_built_in_sqlite_and_is_named() {
    let place = shop();
    let library = library(&place);
    place.write("both.sql", BOTH);
    plan(&place, &library, STATEMENTS);
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    for trial in place.trials() {
        assert_eq!((&trial["status"], &trial["failures"]), (&"ok".into(), &0.into()), "{trial}");
        assert!(!trial["plans"].as_array().unwrap().is_empty(), "{trial}");
    }
    let run = read_json(&place.only_run().join("run.json"));
    let engines = run["engines"].as_object().unwrap();
    for name in ["sqlite", "theirs"] {
        let engine = engines.iter().find(|(start, _)| start.starts_with(name)).unwrap().1;
        let settings = engine["settings"].as_array().unwrap();
        let of = |name: &str| settings.iter().find(|one| one[0] == name).map(|one| &one[1]);
        assert_eq!(engine["version"], format!("SQLite {}", rusqlite::version()));
        assert!(of("compile options").unwrap().as_str().unwrap().contains("THREADSAFE"));
        assert!(of("journal_mode").is_some(), "{engine}");
    }
}

#[test]
fn what_cannot_be_used_as_a_library_is_named() {
    let place = shop();
    let statement = "[[statement]]\nname = \"a\"\ntext = \"SELECT count(*) FROM orders\"\n";
    place.write("text.so", "SELECT 1");
    place.write("other.c", "int nothing;");
    place.write(
        "crash.c",
        "#include <stdlib.h>\n__attribute__((constructor)) static void end(void) { abort(); }\n",
    );
    for name in ["other", "crash"] {
        let (source, made) = (place.path(&format!("{name}.c")), place.path(&format!("{name}.so")));
        compile_c(&source, &made, &["-shared", "-fPIC"]).unwrap();
    }
    for (file, told) in [
        ("missing.so", "cannot open shared object file"),
        ("text.so", "name a shared library of SQLite for this machine"),
        ("other.so", "it has no sqlite3_libversion"),
        ("crash.so", "was killed by signal 6"),
    ] {
        plan(&place, &place.path(file).display().to_string(), statement);
        let said = place.fails(1);
        assert!(said.contains(told) && said.contains(file), "{file}: {said}");
    }
    let threads = "factors = { clients = [2], clients_as = [\"threads\"] }\n";
    plan(&place, "/lib/x.so", &format!("{threads}{statement}"));
    let said = place.fails(2);
    assert!(said.contains("drop each other's locks"), "{said}");
}

#[test]
fn try_measures_the_library_that_it_is_given_and_says_so() {
    let place = shop();
    let library = library(&place);
    place.write("count.sql", "SELECT count(*) FROM orders WHERE amount < 100");
    let words = [
        "try",
        "shop.db",
        "--sql=count.sql",
        "--no-tuned",
        "--budget=42s",
        "--sqlite-library",
        &library,
    ];
    let output = place.run(&words);
    let said = text(&output.stdout);
    let version = format!("Versions: SQLite {} ({library}), PostgreSQL", rusqlite::version());
    assert!(said.contains(&version), "{said}{}", error(&output));
    assert!(!said.contains("built into crossover"), "{said}");
}
