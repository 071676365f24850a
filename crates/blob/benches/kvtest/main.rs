//! `cargo bench -p blob --bench kvtest`: microseconds per blob of ours beside SQLite's kvtest on the
//! same files, the same blobs in the same order, warm, in interleaved pairs. kvtest.c comes from
//! Debian's source package and is linked with the very library that this program is linked with, so
//! that only the programs around SQLite differ; a second kvtest is linked with the distribution's own
//! SQLite and runs once in each pair.
//!
//! A pass of half a second wanders by a tenth on a virtual machine, so a pair of reads is PASSES (5)
//! passes of each, one after the other in changing order, and counts by its median; updates, slower
//! and steadier, are one pass each. PAIRS (15), BLOBS (100000), READS (100000) and UPDATES (10000) are
//! taken from the environment too; CASES takes parts of cases' names, with semicolons between them
//! (`CASES='read dir;read tree'`). Everything takes about 20 minutes on two cores of an EPYC. Exits 99
//! where ours is not shown to be no slower than kvtest.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

mod case;
mod ids;
mod ours;
mod source;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use blob::{BlobForm, ExportOptions, InitOptions, Recipe};
use indicatif::ProgressBar;
use stats::{quantile, ratio_comparison};
use testing::benchmark::is_tiny;

use case::{CASES, Case, Measured, Tool};

const CONFIDENCE_LEVEL: f64 = 0.95;
/// "No slower" means that the interval ends below this (DESIGN.md section 7, rule 11).
const NO_SLOWER: f64 = 1.05;

/// The files that both work on, and how much of it.
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
    let wanted = std::env::var("CASES").unwrap_or_default();
    let is_wanted = |case: &&Case| wanted.split(';').any(|part| case.name.contains(part.trim()));
    let cases: Vec<&Case> = CASES.iter().filter(is_wanted).collect();
    let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    assert!(!cases.is_empty(), "CASES={wanted} names none of: {}", names.join("; "));
    let found = if is_tiny() { Ok(vec![Tool::Ours]) } else { source::tools(&folder) };
    let tools = match found {
        Ok(tools) => tools,
        Err(reason) => return println!("kvtest: skipped: {reason}"),
    };
    let (pairs, passes) = (number("PAIRS", 15), number("PASSES", 5));
    let data = Data {
        folder,
        blobs: number("BLOBS", 100_000),
        reads: number("READS", 100_000),
        updates: number("UPDATES", 10_000),
    };
    prepare(&data);
    println!("kvtest: {pairs} pairs; {} blobs of 8,000 to 12,000 bytes, warm", data.blobs);
    let mut missed = false;
    for case in cases {
        let passes = if case.updates() { 1 } else { passes };
        missed |= compare(case, &tools, &data, pairs, passes);
    }
    if missed {
        std::process::exit(99);
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        let number = text.parse::<u64>().ok().filter(|number| *number > 0);
        number.unwrap_or_else(|| panic!("{name}={text} is not a whole number above 0"))
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
    let fits = |path: &Path| {
        blob::BlobTarget::open(path).is_ok_and(|target| target.recipe() == Some(&recipe))
    };
    if !fits(&database) {
        let begin = std::time::Instant::now();
        blob::init(&database, &recipe, &InitOptions { replace: true }, &quiet, &never).unwrap();
        let megabytes = database.metadata().unwrap().len() as f64 / 1e6;
        let seconds = begin.elapsed().as_secs_f64();
        println!("init: {megabytes:.0} MB in {seconds:.2} s (1 GB in 10 s is the goal)");
    }
    for (name, form) in [("dir", BlobForm::Folder), ("tree", BlobForm::Tree)] {
        if !fits(&data.path(name)) {
            let options = ExportOptions { form, replace: true };
            blob::export(&database, &data.path(name), &options, &quiet, &never).unwrap();
        }
    }
    let paths = ["blobs.db", "dir", "tree"].map(|name| data.path(name));
    blob::warm(&paths, &never).unwrap();
}

/// Measures one case in `pairs` of `passes`; whether ours is not shown to be no slower.
fn compare(case: &Case, tools: &[Tool], data: &Data, pairs: u64, passes: u64) -> bool {
    let mut measured: Vec<Vec<Measured>> = vec![Vec::new(); tools.len()];
    // One round that does not count: the first run of each finds its files as the last case left
    // them.
    pair(case, tools, data, 0, 1);
    for number in 0..pairs {
        for (all, found) in measured.iter_mut().zip(pair(case, tools, data, number, passes)) {
            all.push(found);
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

/// Runs every tool `passes` times, each round beginning with another one; the medians. The
/// distribution's kvtest is no yardstick and runs in the first round only.
fn pair(case: &Case, tools: &[Tool], data: &Data, number: u64, passes: u64) -> Vec<Measured> {
    let mut runs: Vec<Vec<Measured>> = vec![Vec::new(); tools.len()];
    for pass in 0..passes {
        let takes_part =
            |place: &usize| pass == 0 || !matches!(tools[*place], Tool::Distribution(_));
        let mut order: Vec<usize> = (0..tools.len()).filter(takes_part).collect();
        let first = (number + pass) as usize % order.len();
        order.rotate_left(first);
        for place in order {
            runs[place].push(tools[place].measure(case, data));
        }
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        quantile(&values, 0.5).unwrap()
    };
    let middle = |runs: &Vec<Measured>| Measured {
        time_us: median(runs.iter().map(|run| run.time_us).collect()),
        cpu_us: median(runs.iter().map(|run| run.cpu_us).collect()),
    };
    runs.iter().map(middle).collect()
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
