//! The forms of a database's address (`{django_url}`, `{jdbc_url}` and others), each read by the
//! library that it is meant for. `make prove` installs the libraries.

use std::path::Path;

use crate::place::{Place, error};

#[test]
#[ignore = "it needs libraries of four languages: make prove"]
fn proof_every_form_of_an_address_is_read_by_its_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = root.join("../../target/foreign-clients").canonicalize().unwrap();
    let place = Place::new();
    let data = rusqlite::Connection::open(place.path("item.db")).unwrap();
    let rows = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                INSERT INTO item VALUES (1, 'a'), (2, 'b'), (3, 'c')";
    data.execute_batch(rows).unwrap();
    let here = root.join("tests/suite/foreign_clients").display().to_string();
    let plan = include_str!("plan.toml").replace("HERE", &here);
    let plan = plan.replace("TOOLS", &tools.display().to_string());
    place.write("plan.toml", &plan);
    let output = place.run(&["bench", "plan.toml"]);
    let said = error(&output);
    // One block decides nothing.
    assert_eq!(output.status.code(), Some(3), "{said}");
}
