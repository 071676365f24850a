//! Interruption by SIGINT, SIGTERM or SIGHUP: the first one asks for an orderly end, a later one ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::progress::say;

/// A program that runs ours, such as `timeout` or `npm`, passes on what the terminal has sent to both:
/// it arrives twice within milliseconds, and is one interruption.
const REPEATED_WITHIN: Duration = Duration::from_secs(1);

/// A flag that the first signal sets.
pub fn listen() -> anyhow::Result<Arc<AtomicBool>> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot listen for signals")?;
    if !survives_its_terminal() {
        signals.add_signal(SIGHUP).context("cannot listen for signals")?;
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    let wait = move || {
        let mut first = None;
        for _ in signals.forever() {
            let now = Instant::now();
            if ends_at_once(*first.get_or_insert(now), now) {
                say("ended at once by a second signal; nothing was tidied up");
                signal_hook::low_level::exit(130);
            }
            flag.store(true, Ordering::Relaxed);
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait)
        .context("cannot listen for signals")?;
    Ok(interrupted)
}

/// `nohup` has it ignore SIGHUP, so that it goes on when its terminal closes.
fn survives_its_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

fn ends_at_once(first: Instant, now: Instant) -> bool {
    now - first > REPEATED_WITHIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_arrives_twice_at_once_is_one() {
        let first = Instant::now();
        assert!(!ends_at_once(first, first));
        assert!(!ends_at_once(first, first + Duration::from_millis(20)));
        assert!(ends_at_once(first, first + Duration::from_secs(2)));
    }
}
