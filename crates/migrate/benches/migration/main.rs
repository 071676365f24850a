//! Migration benchmark, `cargo bench -p migrate --bench migration -- [OPTIONS]`: Crossover against
//! pgloader, DuckDB and `psql \copy`, interleaved in random order; a file of large blobs; the audit's time.
//! Every program is a process of its own, so that its memory can be measured. Missing tools are
//! named and skipped, failing ones left out from there on.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a benchmark"
)]

mod data;
mod tool;

use std::path::{Path, PathBuf};

use testing::benchmark::is_tiny;
use tool::{Measured, Shape, Tools, Way};

const HELP: &str = "\
Options (defaults in brackets):
  --file FILE     the naive dashboard's SQLite file [one is made]
  --rows N        rows of the one that is made [6500000]
  --pairs N       rounds of all tools, in random order; 0: none [15]
  --blob-rows N   rows of 10 KB in the blob file; 0: none [500000]
  --scale S       scale of the reference dataset that is audited; 0: none [1]
  --quick         small sizes: --rows 100000 --pairs 2 --blob-rows 2000 --scale 0.01
The program measured is $CROSSOVER, else target/release/crossover.";

struct Options {
    file: Option<PathBuf>,
    rows: u64,
    pairs: usize,
    blob_rows: u64,
    scale: f64,
}

impl Options {
    fn read() -> Option<Self> {
        let (rows, pairs, blob_rows, scale) = (6_500_000, 15, 500_000, 1.0);
        let mut options = Self { file: None, rows, pairs, blob_rows, scale };
        if is_tiny() {
            return Some(Self { rows: 2_000, pairs: 1, blob_rows: 20, scale: 0.001, ..options });
        }
        let mut arguments = std::env::args().skip(1).filter(|each| each != "--bench");
        while let Some(name) = arguments.next() {
            if name == "--quick" {
                (options.rows, options.pairs) = (100_000, 2);
                (options.blob_rows, options.scale) = (2_000, 0.01);
                continue;
            }
            let value = arguments.next()?;
            match name.as_str() {
                "--file" => options.file = Some(PathBuf::from(value)),
                "--rows" => options.rows = value.parse().ok()?,
                "--pairs" => options.pairs = value.parse().ok()?,
                "--blob-rows" => options.blob_rows = value.parse().ok()?,
                "--scale" => options.scale = value.parse().ok()?,
                _ => return None,
            }
        }
        Some(options)
    }
}

#[tokio::main]
async fn main() {
    let Some(options) = Options::read() else {
        println!("{HELP}");
        std::process::exit(2);
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("migration");
    std::fs::create_dir_all(&folder).unwrap();
    let tools = Tools::find(&folder).await;
    let mut missed = naive(&tools, &options, &folder);
    missed |= blobs(&tools, &options, &folder);
    missed |= audit(&tools, &options, &folder);
    if missed && !is_tiny() {
        std::process::exit(99);
    }
}

/// Moves the naive dashboard's file into its own tables. Returns `true` if a threshold was missed.
fn naive(tools: &Tools, options: &Options, folder: &Path) -> bool {
    if options.pairs == 0 {
        return false;
    }
    let file = options.file.clone().unwrap_or_else(|| data::naive(folder, options.rows));
    let (rows, csv) = data::csv_files(&file, folder);
    let mut missed = false;
    for shape in [Shape::Bare, Shape::Keyed] {
        println!("{}: {rows} rows, {}, {} rounds", file.display(), shape.name(), options.pairs);
        let ways = tools.ways();
        let mut failed = vec![false; ways.len()];
        let mut measured: Vec<Vec<Measured>> = ways.iter().map(|_| Vec::new()).collect();
        for _ in 0..options.pairs {
            // A seed of the standard library's own makes the order of this round.
            let mut order: Vec<usize> = (0..ways.len()).filter(|place| !failed[*place]).collect();
            order.sort_by_cached_key(|place| data::random_number(*place));
            for place in order {
                let (way, found) = (ways[place], tools.naive(ways[place], shape, &file, &csv));
                match found {
                    Ok(found) => {
                        println!("  {:24} {}", way.name(), found.show(rows));
                        measured[place].push(found);
                    }
                    Err(why) if way.is_peer() => {
                        let last = why.lines().rfind(|line| !line.trim().is_empty());
                        println!("  {:24} left out: {}", way.name(), last.unwrap_or(""));
                        failed[place] = true;
                    }
                    Err(why) => panic!("{why}"),
                }
            }
        }
        missed |= compare(&ways, shape, &measured);
    }
    missed
}

/// Prints Crossover's ratios to the other tools. Returns `true` if a threshold was missed.
fn compare(ways: &[Way], shape: Shape, measured: &[Vec<Measured>]) -> bool {
    let mut missed = false;
    let seconds =
        |place: usize| -> Vec<f64> { measured[place].iter().map(|each| each.seconds).collect() };
    let memory = |place: usize| measured[place].iter().map(|each| each.peak_bytes).max();
    for (place, way) in ways.iter().enumerate() {
        for (other, threshold) in way.thresholds(shape) {
            let Some(other_place) = ways.iter().position(|each| each == other) else { continue };
            let (own, others) = (seconds(place), seconds(other_place));
            // The rounds of both: a tool that has failed has fewer.
            let rounds = own.len().min(others.len());
            let compared = stats::ratio_comparison(&others[..rounds], &own[..rounds], 0.95);
            let Some(ratio) = compared else {
                println!("{}: not compared with {}", way.name(), other.name());
                continue;
            };
            let (low, high) = (ratio.ratio.low, ratio.ratio.high);
            let holds = low.unwrap_or(ratio.ratio.value) >= *threshold;
            missed |= !holds;
            println!(
                "{}: {:.2} times the rows per second of {} ({} to {}; rounds: {rounds}; at least \
                 {threshold}: {})",
                way.name(),
                ratio.ratio.value,
                other.name(),
                low.map_or("?".into(), |low| format!("{low:.2}")),
                high.map_or("?".into(), |high| format!("{high:.2}")),
                if holds { "met" } else { "missed" }
            );
            if let (Some(own), Some(others)) = (memory(place), memory(other_place))
                && *other == Way::Pgloader
            {
                let part = own as f64 / others as f64;
                missed |= part > 0.2;
                println!("{}: {part:.3} of its peak memory (at most 0.2)", way.name());
            }
        }
    }
    missed
}

/// A file of 10 KB blobs: memory stays bounded.
fn blobs(tools: &Tools, options: &Options, folder: &Path) -> bool {
    if options.blob_rows == 0 {
        return false;
    }
    let file = data::blobs(folder, options.blob_rows);
    let found = tools.create(&file);
    println!("{} blobs of 10 KB: {}", options.blob_rows, found.show(options.blob_rows));
    std::fs::remove_file(file).unwrap();
    println!("  peak memory under 300 MB: {}", met(found.peak_bytes < 300_000_000));
    found.peak_bytes >= 300_000_000
}

/// The audit of the reference dataset.
fn audit(tools: &Tools, options: &Options, folder: &Path) -> bool {
    if options.scale == 0.0 {
        return false;
    }
    let file = folder.join("reference.db");
    let found = tools.audit(&file, options.scale);
    println!("audit of the reference dataset, scale {}: {:.2} s", options.scale, found.seconds);
    println!("  under 10 s: {}", met(found.seconds < 10.0));
    found.seconds >= 10.0
}

fn met(holds: bool) -> &'static str {
    if holds { "met" } else { "missed" }
}
