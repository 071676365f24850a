//! `cargo bench -p lab --bench client_processes`: what clients of SQLite cost around SQLite. Point
//! selects of workload oltp by client processes and by threads, beside a program in C that is linked
//! with the very library that this program carries, on one file of the same rows, in interleaved
//! pairs. Ratios of the processor time per operation with their intervals: by processes between 0.9
//! and 1.1. Ours also keeps an observation of each operation, which the program in C does not.
//!
//! PAIRS, SECONDS and ROWS in the environment set the number of pairs (10), the length of each run (3)
//! and the size of the table (100000).
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use oltp::OltpTarget;
use plan::oltp::TableOptions;
use serde_json::Value;
use testing::benchmark::{from_environment, is_tiny, program, ratio};
use testing::bundled_sqlite::BundledSqlite;

/// "Within 10%".
const COST_RATIO_MAX: f64 = 1.1;

struct Setting {
    folder: PathBuf,
    control: PathBuf,
    rows: u64,
    seconds: u64,
}

#[derive(Clone, Copy)]
struct Measured {
    per_second: f64,
    cpu_us: f64,
}

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("client_processes");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let setting = Setting {
        control: folder.join("control"),
        folder,
        rows: from_environment("ROWS", 100_000),
        seconds: from_environment("SECONDS", 3),
    };
    let pairs = from_environment("PAIRS", 10);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/client_processes/control.c");
    BundledSqlite::find().unwrap().compile(&source, &setting.control).unwrap();
    fill(&setting);
    println!(
        "client_processes: {pairs} pairs, {} s each, a table of {} rows",
        setting.seconds, setting.rows
    );
    let all: &[u16] = if is_tiny() { &[2] } else { &[1, 2, 4, 8] };
    for clients in all {
        for form in ["processes", "threads"] {
            compare(&setting, *clients, form, pairs);
        }
    }
}

/// The file of the program in C: the rows that workload oltp makes for ours.
fn fill(setting: &Setting) {
    let target = OltpTarget::Sqlite {
        path: setting.folder.join("control.db"),
        pragmas: Vec::new(),
        library: None,
    };
    let table_size = u32::try_from(setting.rows).unwrap();
    let tables = TableOptions { table_size, ..TableOptions::default() };
    oltp::fill(&target, &tables, &|_, _| {}, &AtomicBool::new(false)).unwrap();
}

fn compare(setting: &Setting, clients: u16, form: &str, pairs: u64) {
    let (mut ours, mut control) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        let mut sides = [true, false];
        if pair % 2 == 1 {
            sides.reverse();
        }
        for is_ours in sides {
            match is_ours {
                true => ours.push(run_ours(setting, clients, form)),
                false => control.push(run_control(setting, clients, form)),
            }
        }
    }
    let mean = |of: fn(&Measured) -> f64, all: &[Measured]| {
        all.iter().map(of).sum::<f64>() / all.len() as f64
    };
    println!("{clients} clients as {form}:");
    for (name, all) in [("ours", &ours), ("control", &control)] {
        let (rate, cost) = (mean(|one| one.per_second, all), mean(|one| one.cpu_us, all));
        println!("  {name:8} {rate:.0} per second, {cost:.3} us of CPU each");
    }
    let costs = |all: &[Measured]| all.iter().map(|one| one.cpu_us).collect::<Vec<f64>>();
    let at_most = (form == "processes" && !is_tiny()).then_some(COST_RATIO_MAX);
    let ratio = ratio(&costs(&ours), &costs(&control), at_most);
    println!("    CPU per operation, ours by control: {ratio}");
}

fn run_control(setting: &Setting, clients: u16, form: &str) -> Measured {
    let output = Command::new(&setting.control)
        .arg(setting.folder.join("control.db"))
        .args([setting.rows.to_string(), setting.seconds.to_string(), clients.to_string()])
        .arg(form)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<f64> =
        printed.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [count, cpu_seconds] = numbers[..] else { panic!("{printed}") };
    Measured { per_second: count / setting.seconds as f64, cpu_us: cpu_seconds / count * 1e6 }
}

/// One block of one trial by the whole program.
fn run_ours(setting: &Setting, clients: u16, form: &str) -> Measured {
    let runs = setting.folder.join("runs");
    let _ = fs::remove_dir_all(&runs);
    let output = Command::new(program())
        .current_dir(&setting.folder)
        .args(["bench", "oltp", "--on=sqlite", "--workload=point_select", "--replicates=1"])
        .args(["--distribution=uniform", "--warm-up=1s", "--runs=runs", "--clients-as", form])
        .args(["--table-size".to_owned(), setting.rows.to_string()])
        .args(["--time".to_owned(), format!("{}s", setting.seconds)])
        .args(["--clients".to_owned(), clients.to_string()])
        .env("CROSSOVER_DATA_DIR", setting.folder.join("data"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let trial = fs::read(run.join("trials/0001.json")).unwrap();
    let trial: Value = serde_json::from_slice(&trial).unwrap();
    let number = |name: &str| trial[name].as_f64();
    // A trial of a moment has no processor time of its own.
    let cpu_us = number("cpu_seconds_per_request").map_or(f64::NAN, |seconds| seconds * 1e6);
    Measured { per_second: number("requests_per_second").unwrap(), cpu_us }
}
