//! Packages of this program, installed as a user does. `make prove PART=packages` tries the others.

use std::path::Path;
use std::process::Command;

use crate::place::{Place, error, text};

/// Without network, and without a package of Python that packs.
#[test]
fn a_wheel_of_this_program_installs_and_starts() {
    let bash = |place: &Place, script: &str| {
        let mut command = Command::new("bash");
        command.args(["-euc", script]).current_dir(place.folder.path());
        command
            .env("ROOT", Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .env("BINARY", env!("CARGO_BIN_EXE_crossover"))
            .env("SOURCE_DATE_EPOCH", "1700000000");
        command.output().unwrap()
    };
    let place = Place::new();
    if !bash(&place, "python3 -c 'import ensurepip, venv'").status.success() {
        testing::skip("python3-venv is missing");
        return;
    }
    // The licences are of no interest here, and gathering them asks cargo.
    place.write("THIRD-PARTY.txt", "none\n");
    let installed = bash(
        &place,
        "strip -o crossover \"$BINARY\"
         \"$ROOT/packaging/wheel\" crossover 2.17 .
         python3 -m venv venv
         venv/bin/pip install --quiet --no-index --no-deps ./*.whl
         venv/bin/crossover --version
         venv/bin/crossover-lab --version",
    );
    let version = text(
        &Command::new(env!("CARGO_BIN_EXE_crossover")).arg("--version").output().unwrap().stdout,
    );
    assert_eq!(text(&installed.stdout), version.repeat(2), "{}", error(&installed));
}
