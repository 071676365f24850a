//! Closed load on a real server: how many requests, and in which orders.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use load::http::{PreparedRequest, Target};
use load::{self, Expected, LoadError, OperationTotals, TrialSample};
use plan::{ConnectionUse, LoadOptions, Mode, derive_seed};
use record::Answer;
use record::{Observation, Outcome};
use xxhash_rust::xxh3::xxh3_128;

use testing::loopback::{After, Loopback, with_length};

static GOING_ON: AtomicBool = AtomicBool::new(false);
pub(crate) const LONG: Duration = Duration::from_secs(600);

pub(crate) fn options(clients: u16, mode: Mode) -> LoadOptions {
    LoadOptions {
        clients,
        mode,
        think_time: Duration::ZERO,
        connection: ConnectionUse::PerClient,
        seed: 1,
        timeout: LONG,
        left_out: Vec::new(),
        client_cpus: None,
    }
}

/// A round of `count` requests with the paths /0, /1, ...
fn requests(server: &Loopback, count: usize) -> (Target, Vec<PreparedRequest>) {
    let target = Target::parse(&server.url()).unwrap();
    let request = |number| {
        PreparedRequest::get(&target, &format!("r{number}"), &format!("/{number}"), &[]).unwrap()
    };
    let all = (0..count).map(request).collect();
    (target, all)
}

fn exactly(body: &str) -> Expected {
    Expected::Exact(Answer {
        status: 200,
        body_bytes: body.len() as u64,
        body_hash: xxh3_128(body.as_bytes()),
    })
}

/// Runs `count` requests of weight 1 that expect the body `ok`.
pub(crate) fn run(server: &Loopback, count: usize, options: &LoadOptions) -> TrialSample {
    let (target, requests) = requests(server, count);
    let expected = vec![exactly("ok"); count];
    load::run(&target, &requests, &vec![1; count], &expected, options, &GOING_ON).unwrap()
}

/// Client by client, each in the order of time.
pub(crate) fn observations(sample: &TrialSample) -> Vec<Observation> {
    let mut all: Vec<_> = sample.observations.iter().collect();
    all.sort_by_key(|one| (one.client, one.start_ns));
    all
}

fn orders(sample: &TrialSample) -> BTreeMap<u16, Vec<u16>> {
    let mut orders: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    for one in observations(sample) {
        orders.entry(one.client).or_default().push(one.request);
    }
    orders
}

pub(crate) fn outcomes(sample: &TrialSample) -> Vec<Outcome> {
    observations(sample).iter().map(|one| one.outcome).collect()
}

#[test]
fn a_pass_of_9_by_3_clients_is_27_requests_in_3_orders() {
    let server = Loopback::constant("ok");
    let sample = run(&server, 9, &options(3, Mode::Passes(1)));
    assert_eq!((sample.observations.len(), sample.failures(), server.requests()), (27, 0, 27));
    let orders = orders(&sample);
    assert_eq!(orders.len(), 3);
    for order in orders.values() {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..9).collect::<Vec<u16>>());
    }
    assert_eq!(orders.values().collect::<HashSet<_>>().len(), 3, "{orders:?}");
    assert_eq!((sample.connections_opened, server.connections()), (3, 3));
}

#[test]
fn the_same_seed_gives_the_same_orders_and_another_seed_others() {
    let server = Loopback::constant("ok");
    let with_seed =
        |seed| orders(&run(&server, 9, &LoadOptions { seed, ..options(3, Mode::Passes(2)) }));
    let seed = derive_seed(4711, &[2, 17]);
    assert_eq!(with_seed(seed), with_seed(seed));
    assert_ne!(with_seed(seed), with_seed(derive_seed(4711, &[3, 17])));
    assert_ne!(derive_seed(4711, &[2]), derive_seed(4711, &[2, 0]));
}

#[test]
fn a_pass_holds_each_request_as_often_as_its_weight_says() {
    let server = Loopback::constant("ok");
    let (target, requests) = requests(&server, 3);
    let expected = [(); 3].map(|()| exactly("ok"));
    let options = options(2, Mode::Passes(5));
    let sample = load::run(&target, &requests, &[1, 0, 3], &expected, &options, &GOING_ON).unwrap();
    for order in orders(&sample).values() {
        for pass in order.chunks(4) {
            let mut pass = pass.to_vec();
            pass.sort_unstable();
            assert_eq!(pass, [0, 2, 2, 2]);
        }
    }
    assert_eq!(sample.observations.len(), 2 * 5 * 4);
    let means: Vec<_> =
        sample.operations.iter().map(OperationTotals::mean_response_time_ns).collect();
    assert!(means[0].is_some() && means[1].is_none() && means[2].is_some());
    assert_eq!(sample.operations[2].count, 2 * 5 * 3);
}

#[test]
fn each_once_does_each_request_once_whatever_its_weight() {
    let server = Loopback::constant("ok");
    let (target, requests) = requests(&server, 3);
    let expected = [(); 3].map(|()| exactly("ok"));
    let weights = [1_000_000, 0, 3];
    let options = options(2, Mode::EachOnce);
    let sample = load::run(&target, &requests, &weights, &expected, &options, &GOING_ON).unwrap();
    for order in orders(&sample).values() {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 2]);
    }
}

#[test]
fn a_connection_per_request_is_opened_inside_the_response_time() {
    let server = Loopback::constant("ok");
    let per_request =
        LoadOptions { connection: ConnectionUse::PerRequest, ..options(2, Mode::Passes(1)) };
    let sample = run(&server, 9, &per_request);
    assert_eq!((sample.connections_opened, server.connections()), (18, 18));
    assert_eq!(sample.failures(), 0);
}

#[test]
fn times_lie_on_one_line_and_inside_the_trial() {
    let server = Loopback::constant("ok");
    let sample = run(&server, 9, &options(3, Mode::Passes(4)));
    let wall = u64::try_from(sample.wall_time.as_nanos()).unwrap();
    let end = |one: &Observation| one.start_ns + one.response_time_ns;
    let all = observations(&sample);
    for pair in all.windows(2) {
        if pair[0].client == pair[1].client {
            assert!(end(&pair[0]) <= pair[1].start_ns, "{pair:?}");
        }
    }
    assert!(all.iter().all(|one| one.response_time_ns > 0 && end(one) <= wall));
    assert!(sample.client_cpu_seconds > 0.0);
    // Three threads.
    let cpu_at_most = 3.0 * sample.wall_time.as_secs_f64();
    assert!(!testing::prove() || sample.client_cpu_seconds <= cpu_at_most);
}

#[test]
fn requests_sent_before_the_end_are_waited_for_and_counted() {
    let time = Duration::from_millis(300);
    let server = Loopback::serve(move |_, stream| {
        // The client began before this request came, so its time is over after as much again.
        let received = Instant::now();
        while received.elapsed() < time {
            thread::yield_now();
        }
        stream.write_all(&with_length(200, "ok")).unwrap();
        After::Keep
    });
    let steady = |clients, minimum_rounds| options(clients, Mode::Steady { time, minimum_rounds });
    // One client: of two the first would go on until the other has begun.
    let sample = run(&server, 3, &steady(1, 0));
    assert_eq!(outcomes(&sample), [Outcome::Ok]);
    let sample = run(&server, 3, &steady(2, 1));
    assert_eq!(outcomes(&sample)[..6], vec![Outcome::Ok; 2 * 3]);
}

#[test]
fn clients_go_on_until_the_last_one_has_finished_its_round() {
    // The server holds the very first request until the other client has sent many more than its
    // own round.
    let ahead = Arc::new(AtomicUsize::new(0));
    let server = {
        let ahead = Arc::clone(&ahead);
        Loopback::serve(move |request, stream| {
            if request.number > 0 {
                ahead.fetch_add(1, Ordering::SeqCst);
            } else {
                while ahead.load(Ordering::SeqCst) < 50 {
                    thread::yield_now();
                }
            }
            stream.write_all(&with_length(200, "ok")).unwrap();
            After::Keep
        })
    };
    let time = Duration::ZERO;
    let sample = run(&server, 3, &options(2, Mode::Steady { time, minimum_rounds: 1 }));
    assert!(sample.observations.len() >= 50 + 3);
    assert_eq!(sample.failures(), 0);
}

#[test]
fn a_steady_trial_goes_on_until_its_time_is_over() {
    let server = Loopback::constant("ok");
    let time = Duration::from_millis(500);
    let sample = run(&server, 3, &options(2, Mode::Steady { time, minimum_rounds: 0 }));
    assert!(sample.wall_time >= time);
    assert_eq!(sample.observations.len(), server.requests());
    assert!(sample.requests_per_second > 0.0);
}

#[test]
fn answers_that_nobody_knows_beforehand_must_be_alike() {
    let server = Loopback::serve(|request, stream| {
        let body = if request.path() == "/0" { request.number.to_string() } else { "1".into() };
        stream.write_all(&with_length(200, &body)).unwrap();
        After::Keep
    });
    let (target, requests) = requests(&server, 2);
    let expected = [Expected::Alike(200), Expected::Alike(200)];
    let options = options(3, Mode::Passes(1));
    let sample = load::run(&target, &requests, &[1, 1], &expected, &options, &GOING_ON).unwrap();
    let wrong: Vec<u16> = sample
        .observations
        .iter()
        .filter(|one| one.outcome == Outcome::WrongAnswer)
        .map(|one| one.request)
        .collect();
    assert_eq!(wrong, [0, 0]);
    assert_eq!(sample.failures(), 2);
}

#[test]
fn an_interruption_ends_the_trial_and_keeps_nothing() {
    let interrupted = Arc::new(AtomicBool::new(false));
    let set_by_server = Arc::clone(&interrupted);
    let (finished, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let server = Loopback::serve(move |_, _| {
        set_by_server.store(true, Ordering::SeqCst);
        let _ = wait.lock().unwrap().recv();
        After::Close
    });
    let (target, requests) = requests(&server, 1);
    let mode = Mode::Steady { time: LONG, minimum_rounds: 1 };
    let expected = [Expected::Status(200)];
    let result = load::run(&target, &requests, &[1], &expected, &options(2, mode), &interrupted);
    assert!(matches!(result, Err(LoadError::Interrupted)));
    drop(finished);
}

#[test]
fn loads_that_make_no_sense_are_refused() {
    let server = Loopback::constant("ok");
    let (target, requests) = requests(&server, 1);
    let refusal = |weights: &[u32], options: &LoadOptions| {
        let expected = [Expected::Status(200)];
        load::run(&target, &requests, weights, &expected, options, &GOING_ON)
            .unwrap_err()
            .to_string()
    };
    assert!(refusal(&[0], &options(1, Mode::Passes(1))).contains("weight above 0"));
    assert!(refusal(&[1, 1], &options(1, Mode::Passes(1))).contains("as many of each"));
    assert!(refusal(&[1], &options(0, Mode::Passes(1))).contains("0 clients"));
    assert!(refusal(&[1], &options(1, Mode::Passes(0))).contains("0 passes"));
    let elsewhere = LoadOptions { client_cpus: Some(vec![1023]), ..options(3, Mode::Passes(1)) };
    assert!(refusal(&[1], &elsewhere).contains("[1023]"));
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_client_that_thinks_pauses_between_answer_and_request() {
    let server = Loopback::constant("ok");
    let think_time = Duration::from_millis(5);
    let thinking = LoadOptions { think_time, ..options(3, Mode::Passes(2)) };
    let sample = run(&server, 3, &thinking);
    assert_eq!((sample.observations.len(), sample.failures()), (3 * 2 * 3, 0));
    for pair in observations(&sample).windows(2).filter(|pair| pair[0].client == pair[1].client) {
        let pause = pair[1].start_ns - (pair[0].start_ns + pair[0].response_time_ns);
        assert!(u128::from(pause) >= think_time.as_nanos(), "{pair:?}");
    }
}

#[test]
fn many_clients_share_a_few_threads_and_all_are_heard() {
    let server = Loopback::constant("ok");
    let sample = run(&server, 4, &options(200, Mode::Passes(3)));
    assert_eq!((sample.observations.len(), sample.failures()), (200 * 3 * 4, 0));
    assert_eq!(orders(&sample).len(), 200);
    assert_eq!((sample.connections_opened, server.connections()), (200, 200));
}

#[test]
fn an_idle_connection_closed_by_the_server_is_replaced() {
    // Each connection is closed with its answer, without a word about it in the head: held back
    // until then, the answer arrives together with the end.
    let server = Loopback::serve(|_, stream| {
        rustix::net::sockopt::set_tcp_cork(&*stream, true).unwrap();
        stream.write_all(&with_length(200, "ok")).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        After::Close
    });
    // The kernel holds an answer back for 200 ms at most; the server has ended by then.
    let think_time = Duration::from_secs(1);
    let thinking = LoadOptions { think_time, ..options(1, Mode::Passes(2)) };
    let sample = run(&server, 1, &thinking);
    assert_eq!((sample.observations.len(), sample.failures()), (2, 0));
    assert_eq!(sample.connections_opened, 2);
}
