//! Open load on a real server: requests come when they are due, whatever became of those before.

use std::collections::HashSet;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use plan::{Arrivals, Mode};
use record::{Observation, Outcome};

use crate::closed_load::{options, outcomes, run};
use testing::loopback::{After, Loopback, with_length};

fn open(time: Duration, per_second: f64) -> Mode {
    Mode::Open { time, per_second, arrivals: Arrivals::Uniform }
}

#[test]
fn a_stall_is_in_the_time_of_every_request_that_it_delayed() {
    // 200 requests per second for 3 s; the server answers at once, but for one second it says
    // nothing to anybody. A closed client would see one slow request; here about 200 were due.
    let stalled: Arc<Mutex<()>> = Arc::default();
    let server = Loopback::serve(move |request, stream| {
        let held = stalled.lock().unwrap();
        if request.number == 100 {
            thread::sleep(Duration::from_secs(1));
        }
        drop(held);
        stream.write_all(&with_length(200, "ok")).unwrap();
        After::Keep
    });
    let sample = run(&server, 3, &options(8, open(Duration::from_secs(3), 200.0)));
    assert_eq!((sample.observations.len(), sample.failures()), (600, 0));
    assert_eq!(sample.offered_per_second, Some(200.0));
    let slow = |limit_ms: u64| {
        let slower = |one: &Observation| one.response_time_ns >= limit_ms * 1_000_000;
        sample.observations.iter().filter(slower).count()
    };
    // Due k/200 s after the stall began means waiting for the rest of the second.
    assert!(slow(1_000) >= 1, "{}", slow(1_000));
    assert!(slow(750) >= 50, "{}", slow(750));
    assert!(slow(500) >= 100, "{}", slow(500));
    assert!(slow(800) > 600 / 20, "the 95th percentile holds the stall: {}", slow(800));
}

#[test]
fn a_server_that_falls_behind_is_saturated_and_loses_nothing() {
    // One connection, and 20 ms an answer: 50 per second at most; 500 are asked for.
    let server = Loopback::serve(|_, stream| {
        thread::sleep(Duration::from_millis(20));
        stream.write_all(&with_length(200, "ok")).unwrap();
        After::Keep
    });
    let time = Duration::from_millis(400);
    let sample = run(&server, 1, &options(1, open(time, 500.0)));
    assert!(sample.saturated);
    assert_eq!((sample.observations.len(), sample.connections_opened), (200, 1));
    let not_sent = outcomes(&sample).iter().filter(|one| **one == Outcome::NotSent).count();
    assert!(not_sent >= 150 && not_sent as u64 == sample.failures(), "{not_sent}");
    assert!(sample.requests_per_second < 100.0);
}

#[test]
fn a_server_that_keeps_up_gets_all_requests_by_few_connections() {
    let server = Loopback::constant("ok");
    let time = Duration::from_secs(3);
    let poisson = Mode::Open { time, per_second: 40.0, arrivals: Arrivals::Poisson };
    let sample = run(&server, 3, &options(64, poisson));
    assert!(!testing::prove() || !sample.saturated);
    assert_eq!(sample.failures(), 0);
    let offered = sample.offered_per_second.unwrap();
    assert_eq!(sample.observations.len() as f64, offered * time.as_secs_f64());
    assert_eq!(sample.connections_opened as usize, server.connections());
    // Each round of three holds every request once.
    let mut all: Vec<_> = sample.observations.iter().collect();
    all.sort_by_key(|one| one.start_ns);
    for round in all.chunks_exact(3) {
        let requests: HashSet<_> = round.iter().map(|one| one.request).collect();
        assert_eq!(requests.len(), 3);
    }
}
