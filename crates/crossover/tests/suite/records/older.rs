//! Runs that the program of an earlier commit recorded: still listed, reported, compared.

use std::process::Command;

use crate::place::Place;
use crate::schema;

/// Two runs of one plan: two engines, two levels of the swept factor, five blocks.
const IDS: [&str; 2] = ["20261125-023152-sql-c3ad", "20261125-023201-sql-b06f"];

/// Runs of one commit each.
fn recorded(archive: &str) -> Place {
    let place = Place::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/records/fixtures");
    let archive = format!("{fixtures}/{archive}");
    let folder = place.path("runs");
    std::fs::create_dir_all(&folder).unwrap();
    let unpacked = Command::new("tar").args(["xzf", &archive, "-C"]).arg(&folder).status();
    assert!(unpacked.unwrap().success());
    place
}

#[test]
fn runs_of_an_older_program_are_listed_and_reported() {
    let http = ["20261127-081430-http-e245"];
    for (archive, ids, treatment_count, requests) in [
        ("runs-95c7a39.tar.gz", &IDS[..], 4, Some(25)),
        // One engine at two numbers of clients, for a second each.
        ("runs-a0971886.tar.gz", &http[..], 2, None),
    ] {
        let place = recorded(archive);
        let listed = schema::check("runs", &place.expect(0, &["runs", "--output-format=json"]));
        for run in listed.as_array().unwrap() {
            assert_eq!(
                (&run["error"], &run["blocks"]),
                (&serde_json::Value::Null, &5.into()),
                "{run}"
            );
        }
        for id in ids {
            let document = place.expect(0, &["report", id, "--format=json"]);
            let document = schema::check("report", &document);
            assert_eq!(document["run"]["id"], *id);
            let treatments = document["treatments"].as_array().unwrap();
            assert_eq!(treatments.len(), treatment_count);
            for treatment in treatments {
                assert_eq!(treatment["failures"], 0);
                assert!(requests.is_none_or(|requests| treatment["requests"] == requests));
            }
            let headline = document["summary"]["headline"].as_str().unwrap();
            let text = place.expect(0, &["report", id, "--format=text"]);
            assert!(text.contains(headline), "{text}");
        }
    }
}

#[test]
fn runs_of_an_older_program_are_compared() {
    let place = recorded("runs-95c7a39.tar.gz");
    let compared = place.expect(3, &["compare", IDS[0], IDS[1], "--output-format=json"]);
    let compared = schema::check("compare", &compared);
    assert_eq!(compared["design"], "too_few_sittings");
    assert_eq!(compared["rows"].as_array().unwrap().len(), 4);
}
