//! The blob experiment by the program itself, at tiny sizes: real SQLite files, folders and a managed
//! PostgreSQL; what is measured, what disturbs it, and what is refused.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod asked;
mod disturbed;
mod figures;
#[path = "../place/mod.rs"]
mod place;
#[path = "../schema/mod.rs"]
mod schema;

use std::path::PathBuf;
use std::process::Output;

use place::Place;
use serde_json::Value;

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The report's document of `bench blob WORDS`, which must end well.
fn measured(place: &Place, words: &[&str]) -> Value {
    let words = [&["bench", "blob"], words, &["--output-format=json"]].concat();
    let output = place.run(&words);
    // One block decides nothing: exit code 3 is "done, undecided".
    let code = output.status.code();
    assert!(code == Some(0) || code == Some(3), "{words:?}: {}", error(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    schema::check_runs(&place.path("runs"));
    schema::check("report", &text)
}

fn trials(place: &Place) -> Vec<Value> {
    let runs = std::fs::read_dir(place.path("runs")).unwrap();
    let mut paths: Vec<PathBuf> = runs
        .flat_map(|run| std::fs::read_dir(run.unwrap().path().join("trials")).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
        .collect()
}

fn find<'a>(list: &'a Value, key: &str, value: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|one| one[key] == value);
    found.unwrap_or_else(|| unreachable!("{value} is not in {list}"))
}
