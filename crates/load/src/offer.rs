//! Offered load of an open trial: requests due, requests answered, and saturation of the server.

use std::time::{Duration, Instant};

use crate::TrialSample;
use plan::{Arrivals, LoadOptions, Mode};

/// In a steady state as many answers come as requests are due. A server is taken to be saturated
/// when in the second half of a trial more than this share of them is missing ...
const MISSING_SHARE_MAX: f64 = 0.05;
/// ... and more than chance explains: this many times the root of the number due.
const MISSING_ROOTS_MAX: f64 = 3.0;

/// Load of one open trial.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    pub time: Duration,
    pub per_second: f64,
    pub arrivals: Arrivals,
}

impl Offer {
    /// That of an open trial; none for a closed one.
    pub(super) fn of(options: &LoadOptions) -> Option<Self> {
        match options.mode {
            Mode::Open { time, per_second, arrivals } => Some(Self { time, per_second, arrivals }),
            Mode::Passes(_) | Mode::EachOnce | Mode::Steady { .. } => None,
        }
    }
}

/// The count of an open trial.
#[derive(Clone, Copy)]
pub(super) struct Tally {
    time: Duration,
    half: Instant,
    /// Requests are due until then.
    pub end: Instant,
    /// Requests whose turn has not come by then are given up.
    pub give_up_at: Instant,
    due: u64,
    due_in_second_half: u64,
    answered_in_second_half: u64,
    unsent: u64,
}

impl Tally {
    pub(super) fn new(begun: Instant, time: Duration) -> Self {
        let (half, end) = (begun + time / 2, begun + time);
        let give_up_at = end + time;
        let (due, due_in_second_half, answered_in_second_half, unsent) = (0, 0, 0, 0);
        Self {
            time,
            half,
            end,
            give_up_at,
            due,
            due_in_second_half,
            answered_in_second_half,
            unsent,
        }
    }

    pub(super) fn note_due(&mut self, due: Instant) {
        self.due += 1;
        self.due_in_second_half += self.in_second_half(due);
    }

    pub(super) fn note_answered(&mut self, end: Instant) {
        self.answered_in_second_half += self.in_second_half(end);
    }

    pub(super) fn note_unsent(&mut self) {
        self.unsent += 1;
    }

    /// Adds what another thread has counted.
    pub(super) fn add(&mut self, other: &Self) {
        self.due += other.due;
        self.due_in_second_half += other.due_in_second_half;
        self.answered_in_second_half += other.answered_in_second_half;
        self.unsent += other.unsent;
    }

    /// Writes what it means into the sample.
    pub(super) fn conclude(&self, sample: &mut TrialSample) {
        let right: u64 = sample.operations.iter().map(|one| one.count - one.failures).sum();
        sample.requests_per_second = right as f64 / sample.wall_time.as_secs_f64();
        sample.offered_per_second = Some(self.due as f64 / self.time.as_secs_f64());
        sample.saturated = self.unsent > 0 || self.is_behind();
    }

    fn in_second_half(&self, moment: Instant) -> u64 {
        u64::from(self.half <= moment && moment < self.end)
    }

    fn is_behind(&self) -> bool {
        let due = self.due_in_second_half as f64;
        let missing = due - self.answered_in_second_half as f64;
        missing > (due * MISSING_SHARE_MAX).max(due.sqrt() * MISSING_ROOTS_MAX)
    }
}
