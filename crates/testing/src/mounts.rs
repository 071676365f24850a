//! Mounts that only the processes of one test see: disks of any size.

use std::process::{Command, Output};

use crate::skip;

/// Runs `script`, which may mount, by `sh` with `environment`; in the folder where it is to begin.
/// None, and a skip is noted, where this system allows no mount.
///
/// # Panics
/// Without `unshare` and `sh`.
#[expect(clippy::expect_used, reason = "it is for tests")]
pub fn run_with_own_mounts(
    script: &str,
    folder: &std::path::Path,
    environment: &[(&str, &std::ffi::OsStr)],
) -> Option<Output> {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).current_dir(folder);
    command.env_remove("DATABASE_URL").envs(environment.iter().copied());
    let output = command.output().expect("unshare is part of util-linux");
    let told = String::from_utf8_lossy(&output.stderr);
    if told.contains("unshare:") || told.contains("mount:") {
        skip("this system allows no mount, so no disk can be small");
        return None;
    }
    Some(output)
}
