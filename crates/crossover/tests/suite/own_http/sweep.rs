//! `bench http --throughput` on servers with planted times: the number of clients at which they cross is known.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::report;
use crate::place::Place;

/// A server of `sweep.py`, ended with its test.
struct Planted {
    child: Child,
    url: String,
}

impl Planted {
    fn start(kind: &str, ms: f64) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/own_http/sweep.py");
        let mut child = Command::new("python3")
            .args([script, kind, &(ms / 1e3).to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { child, url: format!("http://127.0.0.1:{}", port.trim()) }
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The clients between which the report says that they cross: up to the first one at a time is faster.
fn crossing(
    serial: &Planted,
    parallel: &Planted,
    clients: &str,
    replicates: &str,
) -> Option<(f64, f64)> {
    let place = Place::new();
    let (one, other) =
        (format!("{}[label=serial]", serial.url), format!("{}[label=parallel]", parallel.url));
    let words = ["bench", "http", "--on", &one, "--on", &other, "--request=/", "--throughput"];
    let more = [
        "--time=1s",
        "--no-wait-for-quiet",
        "--output-format=json",
        "--clients",
        clients,
        "--replicates",
        replicates,
    ];
    let report = report(&place.run(&[&words[..], &more[..]].concat()));
    assert_eq!(report["response"]["name"], "requests_per_second", "{report}");
    let crossings = report["crossings"].as_array().unwrap();
    let found = crossings.iter().find(|one| one["kind"] == "bracketed")?;
    Some((found["low"].as_f64()?, found["high"].as_f64()?))
}

#[test]
fn applications_are_compared_by_requests_per_second() {
    let (serial, parallel) = (Planted::start("serial", 10.0), Planted::start("parallel", 35.0));
    let found = crossing(&serial, &parallel, "1,8", "5").unwrap();
    // Where exactly is a matter of the other work of the machine.
    assert!(1.0 <= found.0 && found.1 <= 8.0, "{found:?}");
}

/// Twenty sweeps whose crossing is known: at least 16 are named, and at most one of them wrongly. The
/// servers sleep, so that four sweeps at a time do not disturb each other.
#[test]
#[ignore = "it measures: make prove runs it"]
fn proof_planted_crossings_are_found() {
    let planted: Vec<(f64, f64)> = [8.0, 12.0]
        .into_iter()
        .flat_map(|hold_ms| {
            [1.5, 2.5, 3.5, 5.5, 6.5, 7.5, 9.5, 10.5, 12.5, 13.5].map(|clients| (hold_ms, clients))
        })
        .collect();
    let sweep = |(hold_ms, clients): &(f64, f64)| {
        let serial = Planted::start("serial", *hold_ms);
        let parallel = Planted::start("parallel", hold_ms * clients);
        let found = crossing(&serial, &parallel, "1,4,16", "5");
        println!("{hold_ms} ms, planted at {clients} clients: {found:?}");
        found.map(|(low, high)| low < *clients && *clients < high)
    };
    let found: Vec<Option<bool>> = std::thread::scope(|scope| {
        let parts = planted.chunks(planted.len() / 4);
        let threads: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(sweep).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let named = found.iter().flatten().count();
    let right = found.iter().flatten().filter(|right| **right).count();
    assert!(named >= 16 && named - right <= 1, "{named} named, {right} right");
}
