//! Compresses SQLite's source, so that the program can compile it with other flags.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

/// 1.8 MB of 9.6; the next levels take longer for 1% less.
const LEVEL: i32 = 17;

fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    // Of libsqlite3-sys, whose library the program is linked with.
    let source = PathBuf::from(variable("DEP_SQLITE3_INCLUDE")?).join("sqlite3.c");
    let target = PathBuf::from(variable("OUT_DIR")?).join("sqlite3.c.zst");
    fs::write(target, zstd::encode_all(fs::File::open(&source)?, LEVEL)?)?;
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
