//! Crates that describe an experiment and its result compile without a database driver, a socket, TLS
//! or an async runtime.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::process::Command;

const FORBIDDEN: [&str; 8] =
    ["hyper", "libsqlite3-sys", "mio", "mysql", "rusqlite", "rustls", "tokio", "tokio-postgres"];

/// The upper crates of the dry side, which need all others, with the most crates each may need.
const CRATES_MAX: [(&str, usize); 3] = [("plan", 90), ("record", 120), ("report", 150)];

/// The packages that one crate of the workspace needs when it is built by itself.
fn needed_by(name: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--edges", "normal", "--prefix", "none"]);
    let output = cargo.args(["--format", "{p}", "--package", name]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let package = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    lines.lines().map(package).collect()
}

#[test]
fn describing_an_experiment_needs_no_driver() {
    let drivers = |needed: &BTreeSet<String>| {
        let names: Vec<_> = needed.iter().filter_map(|one| one.split(' ').next()).collect();
        FORBIDDEN.into_iter().filter(|one| names.contains(one)).collect::<Vec<_>>()
    };
    for (name, most) in CRATES_MAX {
        let needed = needed_by(name);
        assert_eq!(drivers(&needed), [""; 0], "needed by {name}");
        assert!(needed.len() <= most, "{name} needs {} crates, more than {most}", needed.len());
    }
    // The same reading finds them where they are needed.
    assert_eq!(drivers(&needed_by("lab")), FORBIDDEN);
}
