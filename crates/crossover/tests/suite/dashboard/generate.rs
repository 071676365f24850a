//! `crossover dashboard init` and `generate` as a user types them: one thing on standard output,
//! mistakes in one line with their exit code, and nothing left of what was not finished.

use std::path::Path;
use std::process::Output;

use super::dashboard;
use crate::place::{Place, error, text};

fn run(place: &Place, words: &[&str]) -> Output {
    dashboard(place, words).output().unwrap()
}

/// Exit code and the one line of the error. On a slow machine lines of progress stand before it.
fn failure(output: &Output) -> (i32, String) {
    assert_eq!(text(&output.stdout), "");
    let said = error(output);
    let is_progress = |line: &&str| line.starts_with("generate: ") || line.starts_with("pages: ");
    let message = said.lines().skip_while(is_progress).collect::<Vec<_>>().join("\n");
    assert_eq!(message.lines().count(), 1, "{said}");
    (output.status.code().unwrap(), message)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn only_the_digest_is_printed_the_same_for_the_same_seed() {
    let place = Place::new();
    let made = run(&place, &["generate", "--scale=0.002"]);
    assert!(made.status.success(), "{}", error(&made));
    let digest = text(&made.stdout).trim_end().to_owned();
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(error(&made).contains("16 articles and 13,000 rows from 2020-04-01"));
    assert_eq!(names(&place.path("crossover-data")), ["dashboard.db"]);

    let words = ["--database=sqlite://found.db", "--articles=16", "--rows=13k", "--as-found"];
    let found = run(&place, &[&["generate", "--output-format=json"], &words[..]].concat());
    assert!(error(&found).contains("4 slugs are longer"), "{}", error(&found));
    let summary: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(summary["digest"], digest.as_str());
    assert_eq!(summary["database"], "sqlite://found.db");
    assert_eq!(summary["as_found"], true);
}

#[test]
fn an_empty_dashboard_is_made_once_and_filled() {
    let place = Place::new();
    let made = run(&place, &["init"]);
    assert_eq!(text(&made.stdout), "sqlite://crossover-data/dashboard.db\n");
    let (code, message) = failure(&run(&place, &["init"]));
    assert_eq!(code, 1);
    assert!(message.contains("already has a table"), "{message}");
    assert!(run(&place, &["generate", "--scale=0.001"]).status.success());
    let (code, message) = failure(&run(&place, &["generate", "--scale=0.001"]));
    assert_eq!(code, 1);
    assert!(message.contains("dashboard.db exists already") && message.contains("--force"));
    assert!(run(&place, &["generate", "--scale=0.001", "--force"]).status.success());
}

#[test]
fn mistakes_are_usage_errors_with_the_way_out() {
    let place = Place::new();
    let refused = |words: &[&str]| failure(&run(&place, &[&["generate"], words].concat()));
    let (code, message) = refused(&["--scale=0.001", "--rows=1G"]);
    assert_eq!(code, 2);
    assert!(message.contains("at most") && message.contains("ask for fewer rows"), "{message}");
    let (code, message) = refused(&["--start=2021-02-01", "--end=2021-01-31"]);
    assert_eq!(code, 2);
    assert!(message.contains("the end 2021-01-31 is before the start"), "{message}");
    for wrong in ["--scale=0", "--start=2021-02-30", "--rows=1.5", "--articles=5G"] {
        let output = run(&place, &["generate", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
    let postgres = "--database=postgresql://nobody@127.0.0.1:1/none";
    let (code, message) = refused(&["--scale=0.001", postgres]);
    assert_eq!(code, 1);
    assert!(message.contains("connection refused"), "{message}");
    assert_eq!(names(place.folder.path()), Vec::<String>::new());
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let place = Place::new();
    let child = dashboard(&place, &["generate", "--scale=1"]).spawn().unwrap();
    let part = place.path("crossover-data/dashboard.db.part");
    while !part.metadata().is_ok_and(|data| data.len() > 1_000_000) {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    // On a slow machine lines of progress stand before it.
    let message = error(&output);
    assert_eq!(message.lines().last(), Some("error: interrupted; nothing was written"));
    assert_eq!(names(place.folder.path()), Vec::<String>::new());
}

/// On a disk of 6 MB, mounted where only this process sees it.
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let place = Place::new();
    let program = [("CROSSOVER", env!("CARGO_BIN_EXE_crossover").as_ref())];
    let script = "mkdir disk && mount -t tmpfs -o size=6m tmpfs disk && cd disk && \
                  \"$CROSSOVER\" dashboard generate --scale 0.1 --database sqlite://a/x.db; \
                  code=$?; ls -A; exit $code";
    let backup = "\"$CROSSOVER\" dashboard generate --articles 500 --rows 100000 \
                  --database sqlite://x.db >made 2>&1 && mkdir tiny && \
                  mount -t tmpfs -o size=1m tmpfs tiny && \
                  \"$CROSSOVER\" dashboard backup --database sqlite://x.db tiny/copy.db; \
                  code=$?; ls -A tiny; exit $code";
    for script in [script, backup] {
        let output = testing::run_with_own_mounts(script, place.folder.path(), &program);
        let Some(output) = output else { return };
        let (code, message) = failure(&output);
        assert_eq!(code, 1, "{message}");
        assert!(message.contains("the disk is full") && message.contains("free some space"));
    }
}
