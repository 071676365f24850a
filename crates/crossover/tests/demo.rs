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
    let mut rest = said.as_str();
    for part in [
        "1. The database as found",
        "2. What PostgreSQL would refuse",
        "blocker: articles.uuid: 80 text values (UUIDs) in a column declared integer",
        "blocker: articles.slug: 4 values longer than varchar(256)",
        "3. The mended schema",
        "nothing that PostgreSQL would refuse",
        "4. The move to PostgreSQL, and the proof",
        "equal: ",
        "5. The experiment: SQLite or PostgreSQL?",
        "design daily, answer cache off, no limits; blog twilio",
        "1 block shows values, not a verdict",
        "6. The report",
        "report.html",
        "7. Blobs in the database or in files?",
        "$ crossover bench blob size",
        "sqlite[access=blob_api]",
        "1 block shows values, not a verdict",
        "What the article claims",
        "The story took ",
    ] {
        let found = rest.find(part);
        assert!(found.is_some(), "{part:?} is missing or out of order in:\n{said}\n{errors}");
        rest = &rest[found.unwrap()..];
    }
    let mut runs = std::fs::read_dir(place.path().join("runs")).unwrap().map(|run| run.unwrap());
    let run = runs.find(|run| run.file_name().to_string_lossy().contains("-http-")).unwrap();
    let report = run.path().join("report.html");
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.contains("response_time_ms_mean") && !page.contains("__CROSSOVER_REPORT__"));
    std::fs::copy(report, Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html")).unwrap();
}
