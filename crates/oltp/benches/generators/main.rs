//! `cargo bench -p oltp --bench generators`: our load generator beside sysbench and pgbench, on
//! one PostgreSQL 18 by its Unix socket, one table of a million rows, the same statements and the
//! same distribution, in interleaved pairs. Ratios with their intervals: CPU per transaction at 2
//! clients (read only: to sysbench at most 0.8; point select: to the better of both at most 0.9)
//! and at 64 (at most 0.5), throughput at 1, 2, 8 and 64 (no lower); at 1,024 clients memory (under
//! 50 MB) and fairness (the slowest at least half of the mean). The server's CPU is beside it.
//!
//! PAIRS, SECONDS, ROWS in the environment set the number of pairs (15), the length of each run
//! (4) and the size of the table (1000000); CASES a part of what is measured, by name.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

mod generator;
mod processes;
mod server;

use generator::{Generator, Measured, Work};
use server::Server;
use testing::benchmark::{before, from_environment, is_tiny, ratio};

/// Upper bound of our generator's cost by its cost at an earlier commit.
const CPU_RATIO_MAX: f64 = 1.05;

/// What is measured: its name, the transactions, the clients, and the one by one others.
const CASES: [(&str, Work, u16, &[Generator]); 6] = [
    ("point_select_2", Work::PointSelect, 2, &[Generator::Sysbench, Generator::Pgbench]),
    ("read_only_1", Work::ReadOnly, 1, &[Generator::Sysbench]),
    ("read_only_2", Work::ReadOnly, 2, &[Generator::Sysbench]),
    ("read_only_8", Work::ReadOnly, 8, &[Generator::Sysbench]),
    ("read_only_64", Work::ReadOnly, 64, &[Generator::Sysbench]),
    ("read_only_1024", Work::ReadOnly, 1_024, &[Generator::Sysbench]),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().map(String::as_str) == Some("load") {
        return generator::load(&arguments[1..]);
    }
    let pairs = from_environment("PAIRS", 15);
    let seconds = from_environment("SECONDS", 4);
    let rows = u32::try_from(from_environment("ROWS", 1_000_000)).expect("ROWS fit 32 bits");
    let wanted = std::env::var("CASES").unwrap_or_default();
    println!("generators: {pairs} pairs, {seconds} s each, a table of {rows} rows");
    let ours_alone = is_tiny() || before().is_some();
    let others = if ours_alone { Vec::new() } else { Generator::OTHERS.to_vec() };
    let there: Vec<Generator> = others.into_iter().filter(Generator::is_there).collect();
    let server = Server::start(rows);
    for (name, work, clients, others) in CASES {
        // A thousand connections are not tiny.
        if is_tiny() && clients > 64
            || !wanted.is_empty() && !wanted.split(',').any(|one| one == name)
        {
            continue;
        }
        let others: Vec<Generator> = match before() {
            Some(_) => vec![Generator::Before],
            None => others.iter().copied().filter(|other| there.contains(other)).collect(),
        };
        // A thousand connections take seconds to open: fewer, longer runs.
        let (pairs, seconds) =
            if clients > 64 { (pairs.min(5), seconds * 3) } else { (pairs, seconds) };
        println!("{name}:");
        compare(&server, work, clients, &others, (pairs, seconds));
    }
}

/// Runs every generator once per pair, each pair beginning with another one; one round before that
/// warms the server.
fn compare(
    server: &Server,
    work: Work,
    clients: u16,
    others: &[Generator],
    (pairs, seconds): (u64, u64),
) {
    let all: Vec<Generator> =
        std::iter::once(Generator::Ours).chain(others.iter().copied()).collect();
    let mut runs: Vec<Vec<Measured>> = vec![Vec::new(); all.len()];
    Generator::Ours.run(server, work, clients, seconds);
    for pair in 0..pairs as usize {
        for turn in 0..all.len() {
            let which = (pair + turn) % all.len();
            runs[which].push(all[which].run(server, work, clients, seconds));
        }
    }
    for (generator, runs) in all.iter().zip(&runs) {
        println!("  {:9}{}", generator.name(), absolute(runs));
    }
    let (ours, theirs) = runs.split_first().unwrap();
    for (other, runs) in others.iter().zip(theirs) {
        let compared = [
            ("throughput", Measured::per_second as fn(&Measured) -> f64, None),
            ("CPU per transaction", Measured::cpu_ms, before().map(|_| CPU_RATIO_MAX)),
            ("the server's CPU per transaction", Measured::server_cpu_ms, None),
        ];
        for (what, value, at_most) in compared {
            let values = |runs: &[Measured]| runs.iter().map(value).collect::<Vec<f64>>();
            let ratio = ratio(&values(ours), &values(runs), at_most);
            println!("    {what}, ours by {}: {ratio}", other.name());
        }
    }
}

fn absolute(runs: &[Measured]) -> String {
    let mean =
        |value: fn(&Measured) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    let memory = runs.iter().map(|run| run.memory_bytes).max().unwrap_or_default();
    let fairness: Vec<f64> = runs.iter().filter_map(|run| run.slowest_by_mean).collect();
    let fairness = match fairness.iter().copied().reduce(f64::min) {
        Some(slowest) => format!(", slowest client by mean {slowest:.2}"),
        None => String::new(),
    };
    format!(
        "{:.0} per second, {:.4} ms of CPU each ({:.4} user), server {:.4} ms, {:.1} MB{fairness}",
        mean(Measured::per_second),
        mean(Measured::cpu_ms),
        mean(Measured::user_cpu_ms),
        mean(Measured::server_cpu_ms),
        memory as f64 / 1e6,
    )
}
