//! Tells the laboratory which compiler built it, since the record of a run names it, and builds
//! it again when the report's page has changed.

use std::path::Path;
use std::process::Command;

fn main() {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).arg("--version").output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-env=CROSSOVER_RUSTC={}", version.as_deref().unwrap_or("unknown").trim());
    let page = Path::new("../../web/dist/report.html");
    // A path that does not exist would make every build a new one; its parents exist or change
    // when it appears.
    let watched = page.ancestors().find(|path| path.exists()).unwrap_or(page);
    println!("cargo::rerun-if-changed={}", watched.display());
    println!("cargo::rerun-if-changed=build.rs");
}
