//! Moments on the monotonic clock, which all processes of a machine share.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock at `moment`.
pub fn to_monotonic_ns(moment: Instant) -> u64 {
    let (now, clock_ns) = now();
    let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    match moment.checked_duration_since(now) {
        Some(later) => clock_ns.saturating_add(ns(later)),
        None => clock_ns.saturating_sub(ns(now - moment)),
    }
}

/// The moment at which the monotonic clock shows `monotonic_ns`.
pub fn from_monotonic_ns(monotonic_ns: u64) -> Instant {
    let (now, clock_ns) = now();
    match monotonic_ns.checked_sub(clock_ns) {
        Some(later) => now + Duration::from_nanos(later),
        None => {
            let earlier = Duration::from_nanos(clock_ns - monotonic_ns);
            now.checked_sub(earlier).unwrap_or(now)
        }
    }
}

/// One moment by both clocks.
fn now() -> (Instant, u64) {
    let clock = clock_gettime(ClockId::Monotonic);
    let now = Instant::now();
    let seconds = u64::try_from(clock.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(clock.tv_nsec).unwrap_or(0);
    (now, seconds * 1_000_000_000 + nanoseconds)
}
