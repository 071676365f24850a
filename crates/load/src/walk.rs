//! Rounds of a client in a closed trial: its next request, and the end of its work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::order::Rounds;
use plan::{LoadOptions, Mode};
use record::Outcome;

/// Connections that fail one after another before a client of a steady trial gives up: a dead
/// server refuses a hundred thousand times per second.
const CONNECTION_FAILURES_MAX: u32 = 10;

/// State that all clients of a closed trial share.
pub(super) struct Walkers<'a> {
    pub options: &'a LoadOptions,
    pub weights: Vec<u32>,
    /// Clients that have not finished their minimum of rounds.
    behind: Arc<AtomicUsize>,
}

impl<'a> Walkers<'a> {
    pub(super) fn new(options: &'a LoadOptions, weights: &[u32]) -> Self {
        Self::of(options, weights, Arc::new(AtomicUsize::new(usize::from(options.clients))))
    }

    /// Those of whom this many are `behind`.
    pub(super) fn of(options: &'a LoadOptions, weights: &[u32], behind: Arc<AtomicUsize>) -> Self {
        let most = match options.mode {
            Mode::EachOnce => 1,
            Mode::Passes(_) | Mode::Steady { .. } | Mode::Open { .. } => u32::MAX,
        };
        let is_left_out = |index: usize| options.left_out.get(index).is_some_and(|out| *out);
        let weights = weights.iter().enumerate();
        let weights = weights
            .map(|(index, weight)| if is_left_out(index) { 0 } else { (*weight).min(most) })
            .collect();
        Self { options, weights, behind }
    }

    /// Client `number`, before its first request.
    pub(super) fn client(&self, number: u16) -> Walk<'_> {
        Walk {
            number,
            walkers: self,
            rounds: Rounds::new(&self.weights, self.options.seed, number),
            is_behind: true,
            connection_failures: 0,
        }
    }
}

/// One client in its rounds. Its place among those that are behind is given back however it ends,
/// so that no other client waits for one that has failed.
pub(super) struct Walk<'a> {
    pub number: u16,
    walkers: &'a Walkers<'a>,
    rounds: Rounds,
    is_behind: bool,
    /// Connections that could not be made, since the last that could.
    connection_failures: u32,
}

impl Walk<'_> {
    /// The next request; none when the trial that began at `begun` is over for this client.
    pub(super) fn next(&mut self, begun: Instant) -> Option<u16> {
        let (minimum_rounds, goes_on) = match self.walkers.options.mode {
            Mode::Passes(passes) => (passes, self.rounds.finished() < passes),
            Mode::EachOnce => (1, self.rounds.finished() < 1),
            Mode::Steady { time, minimum_rounds } => (minimum_rounds, begun.elapsed() < time),
            Mode::Open { time, .. } => (0, begun.elapsed() < time),
        };
        if self.has_given_up() || self.rounds.finished() >= minimum_rounds {
            self.catch_up();
        }
        let steady = matches!(self.walkers.options.mode, Mode::Steady { .. });
        let waited_for = steady && self.walkers.behind.load(Ordering::Relaxed) > 0;
        (!self.has_given_up() && (goes_on || waited_for)).then(|| self.rounds.next())
    }

    /// Notes what became of a request.
    pub(super) fn note(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::ConnectionFailed => self.connection_failures += 1,
            _ => self.connection_failures = 0,
        }
    }

    pub(super) fn has_given_up(&self) -> bool {
        let steady = matches!(self.walkers.options.mode, Mode::Steady { .. });
        steady && self.connection_failures >= CONNECTION_FAILURES_MAX
    }

    /// `true` until it has finished its minimum of rounds.
    pub(super) fn is_behind(&self) -> bool {
        self.is_behind
    }

    fn catch_up(&mut self) {
        if self.is_behind {
            self.is_behind = false;
            self.walkers.behind.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        self.catch_up();
    }
}
