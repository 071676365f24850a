//! Failures of a real server under closed load: each is recorded as what it is.

use std::io::Write;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use plan::{LoadOptions, Mode};
use record::Outcome;
use testing::loopback::{After, Loopback, with_length};

use crate::closed_load::{LONG, observations, options, outcomes, run};

#[test]
fn wrong_answers_are_recorded_as_what_they_are() {
    let server = Loopback::serve(|request, stream| {
        let reply = match request.path() {
            "/0" => with_length(500, "ok"),
            "/1" => with_length(200, "no"),
            "/2" => b"HELLO\r\n\r\n".to_vec(),
            "/3" => b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok".to_vec(),
            _ => with_length(200, "ok"),
        };
        stream.write_all(&reply).unwrap();
        if request.path() == "/3" { After::Close } else { After::Keep }
    });
    let sample = run(&server, 5, &options(2, Mode::Passes(3)));
    assert_eq!(sample.observations.len(), 2 * 3 * 5);
    for one in sample.observations.iter() {
        let expected = match one.request {
            0 => Outcome::Status(500),
            1 => Outcome::WrongAnswer,
            2 => Outcome::Malformed,
            3 => Outcome::ConnectionLost,
            _ => Outcome::Ok,
        };
        assert_eq!(one.outcome, expected, "{one:?}");
    }
    assert_eq!(sample.failures(), 2 * 3 * 4);
}

#[test]
fn a_server_that_dies_in_the_middle_fails_the_rest_of_the_pass() {
    let server = Loopback::serve(|request, stream| {
        if request.number == 4 {
            return After::Die;
        }
        stream.write_all(&with_length(200, "ok")).unwrap();
        After::Keep
    });
    let sample = run(&server, 9, &options(1, Mode::Passes(1)));
    let mut expected = vec![Outcome::Ok; 4];
    expected.push(Outcome::ConnectionLost);
    expected.resize(9, Outcome::ConnectionFailed);
    assert_eq!(outcomes(&sample), expected);
    assert_eq!(sample.clients_given_up, 0);
}

#[test]
fn clients_of_a_steady_trial_give_up_on_a_dead_server() {
    let server = Loopback::serve(|_, _| After::Die);
    let mode = Mode::Steady { time: LONG, minimum_rounds: 1 };
    let sample = run(&server, 9, &options(2, mode));
    assert_eq!(sample.clients_given_up, 2);
    assert!(sample.failures() >= 20);
    assert_eq!(sample.failures(), sample.observations.len() as u64);
}

#[test]
fn a_timed_out_request_is_recorded_and_the_trial_goes_on() {
    let (finished, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let server = Loopback::serve(move |request, stream| {
        if request.path() == "/0" {
            let _ = wait.lock().unwrap().recv();
            return After::Close;
        }
        stream.write_all(&with_length(200, "ok")).unwrap();
        After::Keep
    });
    let impatient = LoadOptions { timeout: Duration::from_secs(5), ..options(1, Mode::Passes(1)) };
    let sample = run(&server, 3, &impatient);
    for one in sample.observations.iter() {
        let expected = if one.request == 0 { Outcome::TimedOut } else { Outcome::Ok };
        assert_eq!(one.outcome, expected);
    }
    assert_eq!(
        sample.connections_opened,
        if observations(&sample)[2].request == 0 { 1 } else { 2 }
    );
    drop(finished);
}
