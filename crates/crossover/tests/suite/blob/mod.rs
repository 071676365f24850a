//! The steps of the blob experiment as a user calls them, at tiny sizes: every option once, and
//! whatever can go wrong.

mod failures;
mod steps;

use std::process::Output;

use serde_json::Value;

use crate::place::{Place, error, text};
use crate::schema;

/// A place with a database of blobs, a folder, a tree and the names of the tree's files.
fn blobs() -> Place {
    let place = Place::new();
    done(&place, "init x.db --count 300 --size 5k --variance 1k --seed 7");
    done(&place, "export x.db flat");
    done(&place, "export x.db tree --tree --names names.db");
    place
}

fn told(output: &Output) -> (String, String) {
    (text(&output.stdout), error(output))
}

fn blob_words(words: &str) -> Vec<&str> {
    std::iter::once("blob").chain(words.split(' ')).collect()
}

fn blob(place: &Place, words: &str) -> Output {
    place.run(&blob_words(words))
}

/// What is printed by a command that succeeds.
fn done(place: &Place, words: &str) -> String {
    place.expect(0, &blob_words(words))
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
    place.refused(code, &blob_words(words))
}
