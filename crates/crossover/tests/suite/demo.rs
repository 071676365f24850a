//! `crossover demo` at a tiny size: every chapter in order, on a real PostgreSQL. Its report is
//! left for the browser tests.

use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn the_whole_story_is_told_in_order_and_leaves_a_report() {
    let place = tempfile::tempdir().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path(), mode).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_crossover"))
        .args(["demo", "--no-serve", "--scale=0.01", "--replicates=1", "--time=1s"])
        .current_dir(place.path())
        .env("CROSSOVER_DATA_DIR", place.path().join("data"))
        .env_remove("DATABASE_URL")
        .env_remove("CROSSOVER_KEY")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}\n{errors}");
    assert!(said.lines().count() <= 60, "{said}");
    let mut rest = said.as_str();
    for part in [
        "1. The database as found",
        "80 articles and ",
        "2. What PostgreSQL would refuse of it",
        "articles.uuid: 80 text values (UUIDs) in a column declared integer",
        "articles.slug: 4 values longer than varchar(256)",
        "3. The repaired schema",
        "PostgreSQL would take every value",
        "4. The move to PostgreSQL 18",
        "read back and compared, value by value: equal.",
        "5. SQLite or PostgreSQL?",
        "1 block shows values and no verdict",
        "year",
        "6. The same year from totals",
        "times as fast on SQLite (",
        "times as fast on PostgreSQL (",
        "7. Blobs in the database or in files?",
        "1 block shows values and no verdict",
        "What it means",
        "The evidence",
        "report.html",
        "It took ",
    ] {
        let found = rest.find(part);
        assert!(found.is_some(), "{part:?} is missing or out of order in:\n{said}\n{errors}");
        rest = &rest[found.unwrap()..];
    }
    let mut runs = std::fs::read_dir(place.path().join("runs")).unwrap().map(|run| run.unwrap());
    let of_the_article = |run: &std::fs::DirEntry| {
        let plan = std::fs::read_to_string(run.path().join("plan.toml")).unwrap();
        plan.contains("SQLite or PostgreSQL for the dashboard?")
    };
    let report = runs.find(of_the_article).unwrap().path().join("report.html");
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.contains("response_time_ms_mean") && !page.contains("__CROSSOVER_REPORT__"));
    std::fs::copy(report, Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html")).unwrap();
}
