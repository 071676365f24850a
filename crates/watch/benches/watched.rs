//! `cargo bench -p watch --bench watched`: what a watch costs the application that it looks at. A writer in
//! WAL mode commits without a pause, with `crossover watch` at its default rate beside it and alone, in
//! interleaved pairs. Equal within 2% by two one-sided tests, or not shown to be.
//!
//! PAIRS and SECONDS in the environment set the number of pairs (30) and the length of each run (2).
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use testing::benchmark::{equal, from_environment, program, ratio};

/// "Equal within 2%".
const MARGIN: f64 = 0.02;
const WARM_UP: Duration = Duration::from_millis(500);

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("app.db");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.pragma_update(None, "synchronous", "normal").unwrap();
    connection
        .execute_batch(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER NOT NULL); \
             WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 1000) \
             INSERT INTO t SELECT n, 0 FROM i",
        )
        .unwrap();
    let (pairs, seconds) = (from_environment("PAIRS", 30), from_environment("SECONDS", 2));
    println!("watched: {pairs} pairs, {seconds} s each");
    let time = Duration::from_secs(seconds);
    write(&connection, time);
    let (mut watched, mut alone) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        for is_watched in [pair % 2 == 0, pair % 2 == 1] {
            match is_watched {
                true => watched.push(write_watched(&connection, &path, time)),
                false => alone.push(write(&connection, time)),
            }
        }
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    println!("  watched {:.0} commits a second, alone {:.0}", mean(&watched), mean(&alone));
    println!("    throughput, watched by alone: {}", ratio(&watched, &alone, None));
    println!("    {}", equal(&watched, &alone, MARGIN));
}

/// Commits a second, after as much of a warm-up as both sides need: the watch begins with a pause.
fn write(connection: &Connection, time: Duration) -> f64 {
    commit(connection, WARM_UP);
    commit(connection, time)
}

fn commit(connection: &Connection, time: Duration) -> f64 {
    let (begun, mut commits) = (Instant::now(), 0_i64);
    while begun.elapsed() < time {
        let update = "UPDATE t SET n = n + 1 WHERE id = ?1";
        connection.prepare_cached(update).unwrap().execute([commits % 1000 + 1]).unwrap();
        commits += 1;
    }
    commits as f64 / begun.elapsed().as_secs_f64()
}

fn write_watched(connection: &Connection, path: &Path, time: Duration) -> f64 {
    let mut watch = Command::new(program())
        .arg("watch")
        .arg(path)
        .args(["--time", "1h", "--live"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Its beginning is not part of the time.
    let mut output = std::io::BufReader::new(watch.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut String::new()).unwrap();
    let rate = write(connection, time);
    kill_process(Pid::from_child(&watch), Signal::INT).unwrap();
    std::io::Read::read_to_string(&mut output, &mut String::new()).unwrap();
    watch.wait().unwrap();
    rate
}
