//! `cargo bench -p blob --bench kvtest`: microseconds per blob of ours beside SQLite's kvtest on the
//! same files, warm, in interleaved pairs. kvtest.c comes from Debian's source package and is linked
//! with the very library that this program is linked with, so that only the programs around SQLite
//! differ; a second kvtest is linked with the distribution's own SQLite.
//!
//! PAIRS (15), BLOBS (100000), READS (100000) and UPDATES (10000) in the environment; CASES takes a
//! part of a case's name. Exits 99 where ours is slower than kvtest by more than 5%.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

mod case;
mod ours;
mod source;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use blob::{ExportOptions, Form, InitOptions, Recipe};
use indicatif::ProgressBar;
use stats::ratio_comparison;

use case::{CASES, Case, Measured, Tool};

const CONFIDENCE_LEVEL: f64 = 0.95;
/// "No slower" means that the interval ends below this (DESIGN.md section 7, rule 11).
const NO_SLOWER: f64 = 1.05;

/// The files that both work on.
struct Data {
    folder: PathBuf,
    blobs: u64,
    reads: u64,
    updates: u64,
}

impl Data {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().map(String::as_str) == Some("ours") {
        return ours::run(&arguments[1..]);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kvtest");
    std::fs::create_dir_all(&folder).unwrap();
    let tools = match source::tools(&folder) {
        Ok(tools) => tools,
        Err(reason) => return println!("kvtest: skipped: {reason}"),
    };
    let pairs = number("PAIRS", 15);
    let data = Data {
        folder,
        blobs: number("BLOBS", 100_000),
        reads: number("READS", 100_000),
        updates: number("UPDATES", 10_000),
    };
    prepare(&data);
    println!("kvtest: {pairs} pairs; {} blobs of 8,000 to 12,000 bytes, warm", data.blobs);
    let wanted = std::env::var("CASES").unwrap_or_default();
    let mut missed = false;
    for case in CASES.iter().filter(|case| case.name.contains(&wanted)) {
        missed |= compare(case, &tools, &data, pairs);
    }
    if missed {
        std::process::exit(99);
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse().unwrap_or_else(|_| panic!("{name}={text} is no whole number"))
    })
}

/// Makes the files anew unless those of an earlier run are as wanted; reads them into the cache.
fn prepare(data: &Data) {
    let never = AtomicBool::new(false);
    let quiet = ProgressBar::hidden();
    let (blob_bytes, variance_bytes) = (10_000, 2_000);
    let recipe =
        Recipe { count: data.blobs, blob_bytes, variance_bytes, page_bytes: None, seed: 1 };
    let database = data.path("blobs.db");
    let fits =
        |path: &Path| blob::Target::open(path).is_ok_and(|target| target.recipe() == Some(&recipe));
    if !fits(&database) {
        let begin = std::time::Instant::now();
        blob::init(&database, &recipe, &InitOptions { replace: true }, &quiet, &never).unwrap();
        let megabytes = database.metadata().unwrap().len() as f64 / 1e6;
        let seconds = begin.elapsed().as_secs_f64();
        println!("init: {megabytes:.0} MB in {seconds:.2} s (1 GB in 10 s is the goal)");
    }
    for (name, form) in [("dir", Form::Folder), ("tree", Form::Tree)] {
        if !fits(&data.path(name)) {
            let options = ExportOptions { form, replace: true };
            blob::export(&database, &data.path(name), &options, &quiet, &never).unwrap();
        }
    }
    let paths = ["blobs.db", "dir", "tree"].map(|name| data.path(name));
    blob::warm(&paths, &never).unwrap();
}

/// Runs every tool once per pair, each pair beginning with another one; whether ours is too slow.
fn compare(case: &Case, tools: &[Tool], data: &Data, pairs: u64) -> bool {
    let mut measured: Vec<Vec<Measured>> = vec![Vec::new(); tools.len()];
    // One round that does not count: the first run of each finds its files as the last case left
    // them.
    for pair in 0..=pairs {
        for turn in 0..tools.len() {
            let place = (pair as usize + turn) % tools.len();
            let found = tools[place].measure(case, data);
            if pair > 0 {
                measured[place].push(found);
            }
        }
    }
    let times = |runs: &[Measured]| runs.iter().map(|run| run.time_us).collect::<Vec<_>>();
    let cpu = |runs: &[Measured]| runs.iter().map(|run| run.cpu_us).collect::<Vec<_>>();
    let (ours, others) = measured.split_first().unwrap();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    println!("{}: ours {:.3} us per blob", case.name, mean(&times(ours)));
    let mut missed = false;
    for (tool, runs) in tools[1..].iter().zip(others) {
        let (time, high) = ratio(&times(ours), &times(runs));
        let (cpu, _) = ratio(&cpu(ours), &cpu(runs));
        missed |= tool.is_yardstick() && high > NO_SLOWER;
        let verdict = if high <= NO_SLOWER { "no slower" } else { "missed" };
        let name = tool.name();
        println!("  {name} {:.3}; ours by it {time}: {verdict}; CPU {cpu}", mean(&times(runs)));
    }
    missed
}

/// The ratio of paired runs with its interval in words, and the interval's upper end.
fn ratio(ours: &[f64], others: &[f64]) -> (String, f64) {
    let Some(comparison) = ratio_comparison(ours, others, CONFIDENCE_LEVEL) else {
        return ("unknown (too few pairs)".to_owned(), f64::INFINITY);
    };
    let ratio = comparison.ratio;
    let (low, high) = (ratio.low.unwrap_or(f64::NAN), ratio.high.unwrap_or(f64::INFINITY));
    (format!("{:.3} ({low:.3} to {high:.3})", ratio.value), high)
}
