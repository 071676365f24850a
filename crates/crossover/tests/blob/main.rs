//! The steps of the blob experiment as a user calls them, at tiny sizes: every option once, and
//! whatever can go wrong.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod failures;
#[path = "../place/mod.rs"]
mod place;
#[expect(dead_code, reason = "it checks whole runs for others")]
#[path = "../schema/mod.rs"]
mod schema;
mod steps;

use std::process::Output;

use place::Place;
use serde_json::Value;

/// A place with a database of blobs, a folder, a tree and the names of the tree's files.
fn blobs() -> Place {
    let place = Place::new();
    done(&place, "init x.db --count 300 --size 5k --variance 1k --seed 7");
    done(&place, "export x.db flat");
    done(&place, "export x.db tree --tree --names names.db");
    place
}

fn told(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn blob(place: &Place, words: &str) -> Output {
    let words: Vec<&str> = std::iter::once("blob").chain(words.split(' ')).collect();
    place.run(&words)
}

/// What is printed by a command that succeeds.
fn done(place: &Place, words: &str) -> String {
    let output = blob(place, words);
    let (stdout, stderr) = told(&output);
    assert!(output.status.success(), "{words}: {stderr}");
    stdout
}

fn json(place: &Place, words: &str) -> Value {
    let text = done(place, &format!("{words} --output-format json"));
    if words.starts_with("run ") {
        return schema::check("blob-run", &text);
    }
    serde_json::from_str(&text).unwrap()
}

/// The message of a command that fails with this exit code.
fn refused(place: &Place, words: &str, code: i32) -> String {
    let output = blob(place, words);
    let (stdout, stderr) = told(&output);
    assert_eq!(output.status.code(), Some(code), "{words}: {stderr}");
    assert_eq!(stdout, "", "{words}");
    stderr
}
