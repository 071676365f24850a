//! `make bench`, part "ten million": a run of ten million observations on a trivial local server,
//! the largest memory that this program needed for it (at most 200 MB), and how long its report
//! takes (at most 10 s). OBSERVATIONS in the environment makes it smaller.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

#[path = "load_generator/server.rs"]
mod server;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ::server::Locations;
use indicatif::ProgressBar;
use lab::options::{ExpectedEnd, RunOptions};
use lab::run::start;
use plan::{Plan, Seconds, TrialSettings};
use record::Finished;

const BLOCKS: u64 = 5;
const ENGINES: u64 = 2;
const CLIENTS: u64 = 8;
const MEGABYTE: f64 = 1e6;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return server::serve();
    }
    let wanted: u64 = std::env::var("OBSERVATIONS").map_or(10_000_000, |text| {
        text.parse().unwrap_or_else(|_| panic!("OBSERVATIONS={text} is not a whole number"))
    });
    let server = server::start();
    let folder = tempfile::tempdir().unwrap();
    let measure = |blocks: u64, seconds: u64| {
        let path = |name: &str| folder.path().join(name);
        let locations = Locations {
            cache: path("cache"),
            data: path("data"),
            runtime: path("runtime"),
            offline: false,
        };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let options = RunOptions {
            runs: &path("runs"),
            command_line: "make bench".to_owned(),
            locations: &locations,
            runtime: runtime.handle(),
            progress: &ProgressBar::hidden(),
            expected_end: &ExpectedEnd::default(),
            say: &|_| {},
            interrupted: &AtomicBool::new(false),
            time_limit: None,
        };
        start(plan(&server.url, blocks, seconds), &options).unwrap()
    };
    let per_second = observations(&measure(1, 1)) / ENGINES;
    let seconds = (wanted / (per_second * BLOCKS * ENGINES)).max(1);
    let finished = measure(BLOCKS, seconds + 1);
    let bytes = peak_memory_bytes();
    println!("{} observations in one run, {seconds} s a trial", observations(&finished));
    println!("  largest memory of the program: {:.0} MB (at most 200)", bytes / MEGABYTE);

    let begun = Instant::now();
    let read = Finished::read(finished.folder).unwrap();
    let document = report::document(&read);
    let text = report::text(&document, None);
    let page = report::html(&document).map_or_else(
        |error| error.to_string(),
        |page| format!("a page of {:.1} MB", page.len() as f64 / MEGABYTE),
    );
    let took = begun.elapsed().as_secs_f64();
    println!("  its report: {took:.2} s (at most 10), {} lines and {page}", text.lines().count());
}

fn plan(url: &str, blocks: u64, seconds: u64) -> Plan {
    let text = format!(
        "title = \"ten million\"\nworkload = \"http\"\nreplicates = {blocks}\n\
         engines = [\"{url}[label=one]\", \"{url}[label=two]\"]\n\
         [factors]\nclients = [{CLIENTS}]\n[[request]]\npath = \"/\"\n"
    );
    let mut plan = plan::read(&text, "ten-million.toml").unwrap();
    plan.trial = TrialSettings::Steady { time: Seconds(seconds) };
    plan
}

fn observations(finished: &Finished) -> u64 {
    finished.trials.iter().map(|trial| trial.requests).sum()
}

/// The largest resident memory so far (VmHWM of /proc/self/status).
fn peak_memory_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1024.0
}
