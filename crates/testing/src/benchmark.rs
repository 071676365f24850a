//! Benchmarks: their sizes, the programs that they compare, and the ratios that they print. Inside
//! `make test` they are tiny, ours alone, and nothing is judged.

use std::path::{Path, PathBuf};

use stats::{INTERVAL_MIN_REPLICATES, ratio_comparison};

const CONFIDENCE_LEVEL: f64 = 0.95;

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

/// The same benchmark built at an earlier commit: $BEFORE, which `make bench-before` sets. Then it
/// is the only other side.
pub fn before() -> Option<PathBuf> {
    std::env::var_os("BEFORE").map(PathBuf::from)
}

/// The whole number in the environment variable `name`.
///
/// # Panics
/// If it is not a whole number.
#[expect(clippy::panic, reason = "a benchmark stops where it cannot go on")]
pub fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a whole number"))
    })
}

/// The ratio of paired runs with its interval; where `at_most` is given, whether the interval lies
/// below it.
pub fn ratio(ours: &[f64], theirs: &[f64], at_most: Option<f64>) -> String {
    let Some(comparison) = ratio_comparison(ours, theirs, CONFIDENCE_LEVEL) else {
        return "none: too few pairs, or a run without an answer".to_owned();
    };
    let estimate = comparison.ratio;
    let (low, high) = (estimate.low.unwrap_or(f64::NAN), estimate.high.unwrap_or(f64::NAN));
    let what = if estimate.replicates < INTERVAL_MIN_REPLICATES { "range" } else { "95%" };
    let judged = at_most.map_or(String::new(), |bound| match high < bound {
        true => format!(", under {bound}"),
        false => format!(", NOT shown to be under {bound}"),
    });
    format!("{:.3} ({what}: {low:.3} to {high:.3}){judged}", estimate.value)
}

/// In words: paired runs are shown to be equal within `margin` by two one-sided tests, or not.
pub fn equal(ours: &[f64], theirs: &[f64], margin: f64) -> String {
    let Some(found) = stats::equivalence(ours, theirs, margin) else {
        return "no test of equality: too few pairs".to_owned();
    };
    let word = match found.p_value <= 1.0 - CONFIDENCE_LEVEL {
        true => "equal",
        false => "NOT shown to be equal",
    };
    format!("{word} within {:.0}% (p {:.3})", margin * 100.0, found.p_value)
}
