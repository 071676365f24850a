//! Benchmarks inside `make test`: tiny, ours alone, and nothing is judged.

use std::path::{Path, PathBuf};

/// Small sizes, no peers, no thresholds: the benchmark only has to run.
pub fn is_tiny() -> bool {
    std::env::var_os("CROSSOVER_BENCH_TINY").is_some()
}

/// The program that is measured: $CROSSOVER, or what `make release` has built.
pub fn program() -> PathBuf {
    std::env::var_os("CROSSOVER").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/crossover"),
        PathBuf::from,
    )
}
