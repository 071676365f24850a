//! A laboratory without computers: trial times drawn from known distributions, so that tests can
//! ask how often the statistics find the truth. Everything follows from fixed seeds.
//! `CROSSOVER_PROVE=1 cargo test -p stats --release -- --nocapture` prints the figures of
//! docs/explanation/simulations.md.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests, and figures to quote")]

mod coverage;
mod crossings;
mod machine;
mod nothing_there;
mod planted;
mod power;
mod runner;

/// The number of experiments that is asked for; ten times as many with CROSSOVER_PROVE=1.
fn repetitions(asked: usize) -> usize {
    let prove = testing::prove();
    if prove { 10 * asked } else { asked }
}

/// How far the share of `count` draws may lie from the true `share` by chance: 3.3 standard
/// errors, exceeded once in a thousand. At 5,000 draws and 95% this is 0.01.
fn chance(share: f64, count: usize) -> f64 {
    3.3 * (share * (1.0 - share) / count as f64).sqrt()
}
