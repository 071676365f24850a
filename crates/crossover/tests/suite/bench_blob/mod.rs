//! The blob experiment by the program itself, at tiny sizes: real SQLite files, folders and a managed
//! PostgreSQL; what is measured, what disturbs it, and what is refused.

mod asked;
mod disturbed;
mod figures;

use serde_json::Value;

use crate::place::{Place, error, text};
use crate::schema;

/// The report's document of `bench blob WORDS`, which must end well.
fn measured(place: &Place, words: &[&str]) -> Value {
    let words = [&["bench", "blob"], words, &["--output-format=json"]].concat();
    let output = place.run(&words);
    // One block decides nothing: exit code 3 is "done, undecided".
    let code = output.status.code();
    assert!(code == Some(0) || code == Some(3), "{words:?}: {}", error(&output));
    let text = text(&output.stdout);
    schema::check_runs(&place.path("runs"));
    schema::check("report", &text)
}

fn find<'a>(list: &'a Value, key: &str, value: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|one| one[key] == value);
    found.unwrap_or_else(|| unreachable!("{value} is not in {list}"))
}
