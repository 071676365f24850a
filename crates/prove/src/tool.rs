//! Tools of the system, run to their end.

use std::path::Path;
use std::process::Command;

use anyhow::{bail, ensure};

/// Runs the program that `words` begin with, on the path `last`.
pub fn run(words: &[&str], last: &Path) -> anyhow::Result<()> {
    let [program, rest @ ..] = words else { bail!("no program") };
    let output = Command::new(program).args(rest).arg(last).output()?;
    ensure!(
        output.status.success(),
        "`{} {}`: {}",
        words.join(" "),
        last.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}
