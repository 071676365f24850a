//! Addition of a relay to a round trip beside its delay, measured against a direct connection.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use record::RelayAddition;
use stats::{mean_estimate, quantile};

use super::{Relay, Upstream};

const BLOCKS: usize = 25;
const TRIPS_PER_BLOCK: usize = 20;
/// Bytes of a message: a short statement, a short answer.
const MESSAGE: [u8; 64] = [0; 64];
/// Timers are as late after this as after longer delays, which would only take longer to measure.
const PROBED_DELAY_MAX: Duration = Duration::from_millis(2);
const CONFIDENCE_LEVEL: f64 = 0.95;
/// An echo on this machine that takes longer does not come.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends messages to and fro, block by block directly, through a relay without delay, and through
/// one with the `shortest` delay of a plan.
///
/// # Errors
/// When a relay cannot be started, or does not carry the messages.
pub fn measure(program: &Path, shortest: Duration) -> io::Result<RelayAddition> {
    let delay = shortest.min(PROBED_DELAY_MAX);
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let upstream = Upstream::Tcp(vec![listener.local_addr()?]);
    let relays = [Duration::ZERO, delay].map(|delay| Relay::start(program, &upstream, delay));
    let [at_once, delayed] = relays;
    let (at_once, delayed) = (at_once?, delayed?);
    thread::scope(|scope| {
        let connect = |address: SocketAddr| {
            let ours = TcpStream::connect(address)?;
            let theirs = listener.accept()?.0;
            for one in [&ours, &theirs] {
                one.set_nodelay(true)?;
                one.set_read_timeout(Some(TIMEOUT))?;
            }
            scope.spawn(move || echo(theirs));
            io::Result::Ok(ours)
        };
        let mut direct = connect(listener.local_addr()?)?;
        let mut relayed = connect(at_once.address())?;
        let mut later = connect(delayed.address())?;
        let (mut direct_us, mut added_us, mut late_us) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..BLOCKS {
            let straight = median_us(&mut direct)?;
            direct_us.push(straight);
            added_us.push(median_us(&mut relayed)? - straight);
            late_us.push(median_us(&mut later)? - straight - delay.as_secs_f64() * 1e6);
        }
        let upper = |blocks: &[f64]| {
            let estimate = mean_estimate(blocks, CONFIDENCE_LEVEL);
            let upper = estimate.and_then(|one| Some((one.value, one.high?)));
            upper.ok_or_else(|| io::Error::other("too few round trips"))
        };
        let (added, late) = (upper(&added_us)?, upper(&late_us)?);
        Ok(RelayAddition {
            round_trips: BLOCKS * TRIPS_PER_BLOCK,
            direct_us: upper(&direct_us)?.0,
            added_us: added.0,
            added_us_high: added.1,
            delay_us: delay.as_secs_f64() * 1e6,
            late_us: late.0,
            late_us_high: late.1,
        })
    })
}

/// Ends when the other side closes.
fn echo(mut stream: TcpStream) {
    let mut message = MESSAGE;
    while stream.read_exact(&mut message).is_ok() && stream.write_all(&message).is_ok() {}
}

fn median_us(stream: &mut TcpStream) -> io::Result<f64> {
    let mut message = MESSAGE;
    let mut times = Vec::with_capacity(TRIPS_PER_BLOCK);
    for _ in 0..TRIPS_PER_BLOCK {
        let begun = Instant::now();
        stream.write_all(&message)?;
        stream.read_exact(&mut message)?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    quantile(&times, 0.5).ok_or_else(|| io::Error::other("too few round trips"))
}
