//! `make bench`, part "load generator": ours beside oha and wrk on a trivial local server at 1, 8
//! and 64 connections, in interleaved pairs; then our answer checks on against off. Ratios with
//! their intervals: throughput (to oha no lower), CPU per request (to oha at most 1, to wrk at
//! most 1.5), and the nine requests with checks (less than 1% more than without).
//!
//! PAIRS and SECONDS in the environment set the number of pairs (15) and the length of each run (2).
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

mod checks;
mod generators;
mod server;

use testing::benchmark::{before, from_environment, is_tiny, ratio};

use generators::{Generator, Measured};

const CONNECTIONS: [u16; 3] = [1, 8, 64];
/// Upper bound of our generator's cost by its cost at an earlier commit.
const CPU_RATIO_MAX: f64 = 1.05;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("serve") => return server::serve(),
        Some("load") => return generators::load(&arguments[1..]),
        _ => {}
    }
    let pairs = from_environment("PAIRS", 15);
    let seconds = from_environment("SECONDS", 2);
    println!("load generator: {pairs} pairs, {seconds} s each, checks on in ours");
    let server = server::start();
    let others = match before() {
        Some(program) => vec![Generator::Before(program)],
        None if is_tiny() => Vec::new(),
        None => generators::others(),
    };
    for connections in CONNECTIONS {
        compare(&server.url, connections, &others, pairs, seconds);
    }
    drop(server);
    if before().is_some() {
        return;
    }
    checks::compare(pairs, seconds);
}

/// Runs every generator once per pair, each pair beginning with another one.
fn compare(url: &str, connections: u16, others: &[Generator], pairs: u64, seconds: u64) {
    let mut ours = Vec::new();
    let mut theirs: Vec<Vec<Measured>> = vec![Vec::new(); others.len()];
    for pair in 0..pairs {
        let all = others.len() + 1;
        for turn in 0..all {
            match (pair as usize + turn) % all {
                0 => ours.push(Generator::Ours.run(url, connections, seconds)),
                other => {
                    let measured = others[other - 1].run(url, connections, seconds);
                    theirs[other - 1].push(measured);
                }
            }
        }
    }
    let throughput = |runs: &[Measured]| runs.iter().map(Measured::per_second).collect::<Vec<_>>();
    let cpu = |runs: &[Measured]| runs.iter().map(Measured::cpu_us).collect::<Vec<_>>();
    println!("{connections} connections:");
    println!("  ours: {}", absolute(&ours));
    for (other, runs) in others.iter().zip(&theirs) {
        let name = other.name();
        println!("  {name}: {}", absolute(runs));
        let at_most = before().map(|_| CPU_RATIO_MAX);
        let (by_time, by_cpu) = (
            ratio(&throughput(&ours), &throughput(runs), None),
            ratio(&cpu(&ours), &cpu(runs), at_most),
        );
        println!("    throughput, ours by {name}: {by_time}");
        println!("    CPU per request, ours by {name}: {by_cpu}");
    }
}

fn absolute(runs: &[Measured]) -> String {
    let mean =
        |value: fn(&Measured) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    format!(
        "{:.0} per second, {:.2} us of CPU each",
        mean(Measured::per_second),
        mean(Measured::cpu_us)
    )
}
