//! Runs that the program of commit 95c7a39 recorded: still listed, reported, compared.

use std::process::Command;

use crate::place::Place;
use crate::schema;

const IDS: [&str; 2] = ["20261125-023152-sql-c3ad", "20261125-023201-sql-b06f"];

/// Two runs of one plan: two engines, two levels of the swept factor, five blocks.
fn recorded() -> Place {
    let place = Place::new();
    let archive =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/records/fixtures/runs-95c7a39.tar.gz");
    let folder = place.path("runs");
    std::fs::create_dir_all(&folder).unwrap();
    let unpacked = Command::new("tar").args(["xzf", archive, "-C"]).arg(&folder).status();
    assert!(unpacked.unwrap().success());
    place
}

#[test]
fn runs_of_an_older_program_are_listed_and_reported() {
    let place = recorded();
    let listed = schema::check("runs", &place.expect(0, &["runs", "--output-format=json"]));
    for run in listed.as_array().unwrap() {
        assert_eq!((&run["readable"], &run["blocks"]), (&true.into(), &5.into()), "{run}");
    }
    for id in IDS {
        let document = place.expect(0, &["report", id, "--format=json"]);
        let document = schema::check("report", &document);
        assert_eq!(document["run"]["id"], id);
        let treatments = document["treatments"].as_array().unwrap();
        assert_eq!(treatments.len(), 4);
        for treatment in treatments {
            assert_eq!((&treatment["requests"], &treatment["failures"]), (&25.into(), &0.into()));
        }
        let headline = document["summary"]["headline"].as_str().unwrap();
        let text = place.expect(0, &["report", id, "--format=text"]);
        assert!(text.contains(headline), "{text}");
    }
}

#[test]
fn runs_of_an_older_program_are_compared() {
    let place = recorded();
    let compared = place.expect(3, &["compare", IDS[0], IDS[1], "--output-format=json"]);
    let compared = schema::check("compare", &compared);
    assert_eq!(compared["design"], "too_few_sittings");
    assert_eq!(compared["rows"].as_array().unwrap().len(), 4);
}
