//! SQLite by a shared library of the user's, in processes that hold no other.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use testing::bundled_sqlite::{BundledSqlite, compile_c};

use super::{BOTH, STATEMENTS, shop};
use crate::place::{Place, error, read_json, text};

/// A shared library of the SQLite that cargo built for this test.
pub fn library(place: &Place) -> String {
    link(place, "libours.so", &[])
}

fn link(place: &Place, name: &str, words: &[&str]) -> String {
    let path = place.path(name).display().to_string();
    let archive = BundledSqlite::find().unwrap().archive;
    let made = Command::new("cc")
        .args(["-shared", "-o", &path])
        .args(words)
        .arg("-Wl,--whole-archive")
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
    let (source, made) = (place.path("other.c"), place.path("other.so"));
    compile_c(&source, &made, &["-shared", "-fPIC"]).unwrap();
    link(&place, "driver.node", &["-Wl,--exclude-libs,ALL"]);
    let linked_in = format!("has SQLite {} (source of 20", rusqlite::version());
    for (file, told) in [
        ("missing.so", "cannot open shared object file"),
        ("text.so", "name a shared library of SQLite for this machine"),
        ("other.so", "it has no sqlite3_libversion"),
        ("driver.node", linked_in.as_str()),
    ] {
        plan(&place, &place.path(file).display().to_string(), statement);
        for more in [&[][..], &["--dry-run"]] {
            let output = place.run(&[&["bench", "plan.toml"], more].concat());
            let said = error(&output);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains(told) && said.contains(file), "{file}: {said}");
        }
    }
    assert!(place.runs().is_empty());
    let threads = "factors = { clients = [2], clients_as = [\"threads\"] }\n";
    plan(&place, "/lib/x.so", &format!("{threads}{statement}"));
    let said = place.fails(2);
    assert!(said.contains("drop each other's locks"), "{said}");
}

#[test]
fn a_library_may_not_change_what_trials_share() {
    let place = shop();
    let library = library(&place);
    for pragma in ["PRAGMA main.Query_Only = off", "PRAGMA journal_mode = wal"] {
        let statement = format!("[[statement]]\nname = \"a\"\ntext = \"{pragma}\"\n");
        plan(&place, &library, &statement);
        let said = place.fails(2);
        assert!(said.contains("would change the copy of the data that trials share"), "{said}");
    }
}

/// SQLite that aborts where it prepares a SELECT, where it is loaded, or where it executes one whose
/// columns it was not asked for: clients do not ask, and the session that compares answers does.
const CRASHES: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#define REAL(name) dlsym(RTLD_NEXT, name)
#ifdef IN_CLIENT
static int is_asked;
/* SQLite reads its own schema by SELECT*FROM. */
static int is_measured(void *statement) {
    const char *sql = ((const char *(*)(void *))REAL("sqlite3_sql"))(statement);
    return sql && strncmp(sql, "SELECT c", 8) == 0;
}
const char *sqlite3_column_name(void *statement, int column) {
    if (is_measured(statement)) is_asked = 1;
    return ((const char *(*)(void *, int))REAL("sqlite3_column_name"))(statement, column);
}
int sqlite3_step(void *statement) {
    if (!is_asked && is_measured(statement)) abort();
    return ((int (*)(void *))REAL("sqlite3_step"))(statement);
}
#else
typedef int prepare(void *, const char *, int, void **, const char **);
int sqlite3_prepare_v2(void *db, const char *sql, int n, void **made, const char **rest) {
    if (strncmp(sql, "SELECT", 6) == 0) abort();
    return ((prepare *)REAL("sqlite3_prepare_v2"))(db, sql, n, made, rest);
}
#endif
#ifdef AT_LOAD
__attribute__((constructor)) static void end(void) { abort(); }
#endif
"#;

/// A library that crashes, and the sound one that it is made of.
pub fn crashing(place: &Place, when: Option<&str>) -> (String, String) {
    let sound = library(place);
    place.write("crash.c", CRASHES);
    let (source, crash) = (place.path("crash.c"), place.path("crash.so"));
    let run_path = format!("-Wl,-rpath,{}", place.folder.path().display());
    let mut words = vec!["-shared", "-fPIC", "-Wl,--no-as-needed", &sound, &run_path, "-ldl"];
    words.extend(when);
    compile_c(&source, &crash, &words).unwrap();
    (crash.display().to_string(), sound)
}

#[test]
fn a_run_goes_on_without_a_library_that_crashes() {
    for when in [None, Some("-DAT_LOAD"), Some("-DIN_CLIENT")] {
        let place = shop();
        let (path, sound) = crashing(&place, when);
        let statement = "[[statement]]\nname = \"a\"\ntext = \"SELECT count(*) FROM orders\"\n";
        let engines = format!(
            "[\"sqlite\", \"sqlite[library={path},label=crash]\", \"sqlite[library={sound},label=sound]\"]"
        );
        place.plan_on(&engines, r#"mode = "passes", passes = 2"#, statement);
        let output = place.run(&["bench", "plan.toml"]);
        let (said, answer) = (error(&output), text(&output.stdout));
        assert_eq!(output.status.code(), Some(3), "{said}");
        if when != Some("-DIN_CLIENT") {
            assert!(said.contains("the run goes on, and tries crash again"), "{said}");
        }
        assert!(answer.contains("Not measured: crash. 1 trial is void: crash"), "{answer}");
        for trial in place.trials() {
            let (engine, status) = (&trial["engine"], trial["status"].to_string());
            match engine == "crash" {
                true => {
                    let told = status.contains(&path) && status.contains("was killed by signal 6");
                    assert!(told, "{status}");
                }
                false => assert_eq!(status, "\"ok\"", "{trial}"),
            }
        }
        assert_eq!(place.trials().len(), 3);
    }
}

/// A plan of the built-in SQLite and a build, and its run with this PATH.
fn bench_build(place: &Place, flags: &str, path: &str, more: &[&str]) -> Output {
    let statement = "[[statement]]\nname = \"a\"\ntext = \"SELECT count(*) FROM orders\"\n";
    let engines = format!("[\"sqlite\", \"sqlite[build='{flags}',label=built]\"]");
    place.plan_on(&engines, r#"mode = "passes", passes = 2"#, statement);
    let mut command = place.command(&[&["bench", "plan.toml"], more].concat());
    command.env("CROSSOVER_CACHE_DIR", place.path("cache")).env("PATH", path);
    command.output().unwrap()
}

/// The libraries that are kept, and whatever builds have left.
fn kept(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.path("cache/sqlite")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "building.lock").collect()
}

#[test]
fn flags_of_a_build_are_compiled_and_read_back() {
    let place = shop();
    let tools = std::env::var("PATH").unwrap();
    let bench = |flags: &str, path: &str| bench_build(&place, flags, path, &[]);
    let output = bench("-c", &tools);
    assert_eq!(output.status.code(), Some(2), "{}", error(&output));
    assert!(error(&output).contains("`-c` is not taken as a flag of build"), "{}", error(&output));
    let output = bench("-fno-such-flag", &tools);
    assert_eq!(output.status.code(), Some(2), "{}", error(&output));
    assert!(error(&output).contains("fno-such-flag"), "{}", error(&output));
    let output = bench("-O0", "");
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    assert!(error(&output).contains("needs a C compiler"), "{}", error(&output));

    // A program that was killed has left these.
    std::fs::create_dir_all(place.path("cache/sqlite/libsqlite3-a.so.1.tmp/more")).unwrap();
    place.write("cache/sqlite/libsqlite3-b.so.2.tmp", "");
    let flags = "-O0 -DSQLITE_THREADSAFE=0";
    let before = text(&bench_build(&place, flags, &tools, &["--dry-run"]).stdout);
    assert!(before.contains("built: compiled with -O0") && before.contains("when the run begins"));
    let output = bench(flags, &tools);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let after = text(&bench_build(&place, flags, &tools, &["--dry-run"]).stdout);
    let version = format!("built: SQLite {}, compiled with -O0", rusqlite::version());
    assert!(after.contains(&version), "{before}{after}");
    assert!(place.trials().iter().all(|trial| trial["status"] == "ok"));
    let run = read_json(&place.only_run().join("run.json"));
    let settings = |label: &str| run["engines"][label]["settings"].as_array().unwrap();
    let options = |label: &str| -> BTreeSet<String> {
        assert_eq!(run["engines"][label]["version"], format!("SQLite {}", rusqlite::version()));
        let options = settings(label).iter().find(|one| one[0] == "compile options").unwrap();
        let options = options[1].as_str().unwrap().split(' ');
        options.filter(|one| !one.starts_with("COMPILER")).map(str::to_owned).collect()
    };
    let (bundled, built) = (options("sqlite"), options("built"));
    let differ: Vec<&String> = bundled.symmetric_difference(&built).collect();
    assert!(built.contains("THREADSAFE=0") && bundled.contains("THREADSAFE=1"), "{differ:?}");
    assert!(differ.iter().all(|one| one.contains("THREAD") || one.contains("MUTEX")), "{differ:?}");
    let file = settings("built").iter().find(|one| one[0] == "file").unwrap();
    assert_eq!(kept(&place), [file[1].as_str().unwrap()], "nothing of what failed is kept");
    another_compiler_is_noticed(&place, flags, &tools);
}

/// A compiler of another version: a run that goes on refuses it before it compiles.
fn another_compiler_is_noticed(place: &Place, flags: &str, tools: &str) {
    std::fs::create_dir(place.path("tools")).unwrap();
    place.write("tools/cc", "#!/bin/sh\necho 'cc 99'\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path("tools/cc"), mode).unwrap();
    let record = place.only_run().join("run.json");
    let mut run = read_json(&record);
    run["complete"] = false.into();
    std::fs::write(&record, run.to_string()).unwrap();
    let path = format!("{}:{tools}", place.path("tools").display());
    let output = bench_build(place, flags, &path, &["--resume", "latest"]);
    let said = error(&output);
    assert!(!output.status.success() && said.contains("the compiler of built ("), "{said}");
    assert!(said.contains(" before, cc 99 now) changed since it began"), "{said}");
}

pub const DEBIAN: &str = "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0";

/// The covering index suffices, which 3.40.1 sees. Without statistics a later version walks the other
/// one for DISTINCT and reads every row: of 100,000 rows 0.4 ms became 170 where both were tried once.
#[test]
fn versions_that_plan_otherwise_have_both_plans_in_the_report() {
    if !std::path::Path::new(DEBIAN).exists() {
        return testing::skip("this machine has no library of Debian's");
    }
    let place = Place::new();
    let database = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    let data = "CREATE TABLE visits (id INTEGER PRIMARY KEY, person INT, day INT, note TEXT);
        CREATE INDEX visits_person ON visits (person);
        CREATE INDEX visits_day_person ON visits (day, person);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
          INSERT INTO visits SELECT i, i * 7 % 1000, i % 1000, 'some words of ' || i FROM n;";
    database.execute_batch(data).unwrap();
    let engines =
        format!("[\"sqlite[analyze=off]\", \"sqlite[library={DEBIAN},analyze=off,label=debian]\"]");
    let statement = "[[statement]]\nname = \"people\"\n\
                     text = \"SELECT count(DISTINCT person) FROM visits WHERE day < 50\"\n";
    place.plan_on(&engines, r#"mode = "passes", passes = 2"#, statement);
    let output = place.run(&["bench", "plan.toml", "--output-format=json"]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let run = read_json(&place.only_run().join("run.json"));
    if run["engines"]["debian"]["version"] != "SQLite 3.40.1" {
        return testing::skip("Debian's library is of another version than 3.40.1");
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let plans: Vec<&str> =
        report["plans"].as_object().unwrap().values().map(|plan| plan.as_str().unwrap()).collect();
    for part in
        ["COVERING INDEX visits_day_person (day<?)", "SCAN visits USING INDEX visits_person"]
    {
        assert!(plans.iter().any(|plan| plan.contains(part)), "{part}: {plans:?}");
    }
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
    let preview = place.expect(0, &[&words[..], &["--dry-run"]].concat());
    let version = format!("Engines: SQLite {} ({library}) and", rusqlite::version());
    assert!(preview.contains(&version), "{preview}");
    let wrong = [&words[..words.len() - 1], &["shop.db"]].concat();
    for more in [&[][..], &["--dry-run"]] {
        let said = place.refused(2, &[&wrong[..], more].concat());
        assert!(said.contains("--sqlite-library: /") && said.contains("shop.db: "), "{said}");
    }
}
