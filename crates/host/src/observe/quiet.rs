//! Wait before a trial until other programs leave the machine alone. This program and everything
//! it started are part of the experiment and are not waited for.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use load::resource::{MachineCounters, ServerSide};

/// The machine is looked at for so long; the kernel counts in ticks of 10 ms.
const LOOK_FOR: Duration = Duration::from_millis(100);
/// Cores that others may use meanwhile: in a window that short a tick more or less must not decide.
const OTHER_CORES_MAX: f64 = 0.25;
/// Between two looks at a busy machine.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A trial is kept waiting no longer than this. Only where something is really measured: an
/// unoptimised build does not wait.
const WAIT_AT_MOST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 0 } else { 60 });

/// The waits of one run. After one without result the following trials only look, until a look
/// finds the machine quiet: on a machine that is never quiet a run would not end otherwise.
#[derive(Debug)]
pub struct Quiet {
    at_most: Duration,
    without_result: Cell<bool>,
    /// Time that all waits together may still take; none without such a bound.
    allowance: Cell<Option<Duration>>,
}

impl Quiet {
    /// Where the plan wants it, trials wait, all together at most `allowance`.
    pub fn new(wanted: bool, allowance: Option<Duration>) -> Self {
        let at_most = if wanted { WAIT_AT_MOST } else { Duration::ZERO };
        Self { at_most, without_result: Cell::new(false), allowance: Cell::new(allowance) }
    }

    /// Waits before a trial; `tell` gets the reason before the wait begins.
    pub fn wait(
        &self,
        side: Option<&ServerSide>,
        interrupted: &AtomicBool,
        tell: impl FnOnce(String),
    ) -> QuietWait {
        let at_most = if self.without_result.get() { Duration::ZERO } else { self.at_most };
        let at_most = self.allowance.get().map_or(at_most, |allowance| at_most.min(allowance));
        let mut wait = wait_for_quiet(side, Duration::ZERO, interrupted);
        if !wait.is_quiet() && !at_most.is_zero() {
            tell(format!(
                "other programs use {:.1} cores: waiting up to {} s until they rest; \
                 --no-wait-for-quiet skips this",
                wait.other_cores.unwrap_or_default(),
                at_most.as_secs()
            ));
            wait = wait_for_quiet(side, at_most, interrupted);
            let waited = Duration::from_secs_f64(wait.waited_seconds);
            let left = self.allowance.get().map(|allowance| allowance.saturating_sub(waited));
            self.allowance.set(left);
        }
        self.without_result.set(!wait.is_quiet());
        wait
    }
}

/// How long a trial was kept waiting, and for what.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuietWait {
    /// Zero where the first look found the machine quiet.
    pub waited_seconds: f64,
    /// Cores that other programs used in the last look; `None` where this system does not tell.
    pub other_cores: Option<f64>,
}

impl QuietWait {
    /// Whether the wait ended because the machine was quiet (or cannot be judged).
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.other_cores.is_none_or(|cores| cores <= OTHER_CORES_MAX)
    }
}

/// Waits until other programs use less than a quarter of a core, at most `at_most`; with zero it
/// only looks. `side`: processes of the server side that this program did not start.
#[must_use]
pub fn wait_for_quiet(
    side: Option<&ServerSide>,
    at_most: Duration,
    interrupted: &AtomicBool,
) -> QuietWait {
    let mut ours = ServerSide { roots: vec![std::process::id()] };
    ours.roots.extend(side.iter().flat_map(|side| &side.roots));
    let begin = Instant::now();
    let mut wait = QuietWait { waited_seconds: 0.0, other_cores: other_cores(&ours) };
    while !wait.is_quiet() && begin.elapsed() < at_most && !interrupted.load(Ordering::Relaxed) {
        thread::sleep(LOOK_EVERY);
        wait.other_cores = other_cores(&ours);
        wait.waited_seconds = begin.elapsed().as_secs_f64();
    }
    wait
}

/// Cores in use by all other programs, over a short window.
fn other_cores(ours: &ServerSide) -> Option<f64> {
    let (machine, used) = (MachineCounters::read().ok()?, ours.snapshot().ok()?);
    let begin = Instant::now();
    thread::sleep(LOOK_FOR);
    let machine = MachineCounters::read().ok()?.since(&machine);
    let used = ours.snapshot().ok()?.since(&used);
    let wall = begin.elapsed().as_secs_f64();
    let idle = machine.idle_seconds? + machine.steal_seconds?;
    // Not those that this program may use: idle time is counted over all of them.
    Some((machine.processors as f64 - (idle + used.cpu_seconds()) / wall).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_waits_for_nobody_and_an_interrupted_wait_ends() {
        let look = wait_for_quiet(None, Duration::ZERO, &AtomicBool::new(false));
        assert_eq!(look.waited_seconds, 0.0);
        assert!(look.other_cores.is_some());
        let stopped = wait_for_quiet(None, Duration::from_secs(3600), &AtomicBool::new(true));
        assert_eq!(stopped.waited_seconds, 0.0);
    }

    #[test]
    fn after_a_wait_in_vain_the_next_trial_only_looks() {
        let mut quiet = Quiet::new(false, None);
        quiet.at_most = Duration::from_secs(3600);
        quiet.without_result.set(true);
        let wait = quiet.wait(None, &AtomicBool::new(false), |_| {});
        assert_eq!(wait.waited_seconds, 0.0);
        assert_eq!(quiet.without_result.get(), !wait.is_quiet());
    }

    #[test]
    fn an_allowance_that_is_used_up_allows_no_wait() {
        let mut quiet = Quiet::new(false, Some(Duration::ZERO));
        quiet.at_most = Duration::from_secs(3600);
        let wait = quiet.wait(None, &AtomicBool::new(false), |_| {});
        assert_eq!(wait.waited_seconds, 0.0);
    }
}
