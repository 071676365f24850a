//! Writes over HTTP: their bodies, and reads of the same mix that they change.

use super::{ADDRESS, ENGINES, OwnApplication, report};

const POST: [&str; 4] = ["--environment", ADDRESS, "--request=POST /item", "--body={\"price\": 4}"];

#[test]
fn a_read_that_each_write_changes_is_named_with_the_remedy() {
    let application = OwnApplication::new();
    for engine in ENGINES {
        let more = [&POST[..], &["--request=/count"]].concat();
        let said = application.refusal(engine, "", &more);
        let cause = "the answer to /count is another one after POST /item";
        assert!(said.contains(cause), "{said}");
        assert!(said.contains("--json-ignore '/*/0'"), "{said}");
    }
    let more = [&POST[..], &["--request=/count", "--json-ignore=/*/0"]].concat();
    report(&application.bench(&ENGINES, "", &more));
}

/// After the first time it is always the same.
#[test]
fn a_read_that_a_write_sets_once_is_compared() {
    let application = OwnApplication::new();
    let more = ["--environment", ADDRESS, "--request=/first", "--request=PUT /item"];
    report(&application.bench(&ENGINES, "", &[&more[..], &["--body={\"price\": 9}"]].concat()));
}

#[test]
fn a_body_comes_from_a_file_and_is_refused_without_its_request() {
    let application = OwnApplication::new();
    std::fs::write(application.place.path("item.json"), "{\"price\": 7}").unwrap();
    let more = ["--environment", ADDRESS, "--request=POST /item", "--body=item.json"];
    report(&application.bench(&["sqlite"], "", &[&more[..], &["--ready=/count"]].concat()));
    let output = application.bench(&["sqlite"], "", &["--request=/count", "--body=item.json"]);
    assert_eq!(output.status.code(), Some(2));
}
