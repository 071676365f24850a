//! A client that shares its processor with busy programs waits for it, and its own counters tell.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use load::http::{PreparedRequest, Target};
use load::resource::pin_this_thread;
use load::{self, Expected};
use plan::available_cpus;
use plan::{ConnectionUse, LoadOptions, Mode};
use report::warning::CLIENT_WAIT_MAX;

use testing::loopback::{After, Loopback, with_length};

static GOING_ON: AtomicBool = AtomicBool::new(false);

/// Busy threads beside the client: it gets a quarter of its processor.
const BUSY: usize = 3;

#[test]
fn a_client_starved_of_its_processor_is_noticed() {
    let Some(&cpu) = available_cpus().first() else {
        return testing::skip("this system does not tell which processors a program may use");
    };
    // Long answers, so that the client has work to do: it hashes them.
    let answer = with_length(200, &"x".repeat(1 << 20));
    let server = Loopback::serve(move |_, stream| match stream.write_all(&answer) {
        Ok(()) => After::Keep,
        Err(_) => After::Close,
    });
    let target = Target::parse(&server.url()).unwrap();
    let request = PreparedRequest::get(&target, "long", "/", &[]).unwrap();
    let options = LoadOptions {
        clients: 1,
        mode: Mode::Passes(100),
        think_time: Duration::ZERO,
        connection: ConnectionUse::PerClient,
        seed: 1,
        timeout: Duration::from_secs(600),
        left_out: Vec::new(),
        client_cpus: Some(vec![cpu]),
    };
    let done = AtomicBool::new(false);
    let sample = thread::scope(|scope| {
        for _ in 0..BUSY {
            scope.spawn(|| {
                pin_this_thread(&[cpu]).unwrap();
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let expected = [Expected::Status(200)];
        let sample = load::run(&target, &[request], &[1], &expected, &options, &GOING_ON);
        done.store(true, Ordering::Relaxed);
        sample.unwrap()
    });
    let counters = host::observe::of_client(&sample.client_use, sample.wall_time.as_secs_f64());
    let waited = counters["client_processor_wait_fraction"];
    assert!(waited > CLIENT_WAIT_MAX, "{waited} of the trial; {counters:?}");
}
