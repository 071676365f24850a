//! Estimate of the time a run still takes, by whole blocks: all blocks hold the same treatments.

use std::time::{Duration, Instant};

use host::OneOff;

use crate::options::ExpectedEnd;

/// The time that the run has taken so far, and that of a trial.
pub(super) struct Clock {
    begun: Instant,
    block_begun: Instant,
    /// Blocks of the present round that were carried out as a whole or from where they had been
    /// interrupted: their time and their trials.
    measured: Duration,
    trials: u32,
}

impl Clock {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self { begun: now, block_begun: now, measured: Duration::ZERO, trials: 0 }
    }

    /// A round begins: its trials may take another time than those before.
    pub(super) fn begin_round(&mut self) {
        (self.measured, self.trials) = (Duration::ZERO, 0);
    }

    pub(super) fn begin(&mut self, one_off: &OneOff) {
        one_off.take();
        self.block_begun = Instant::now();
    }

    /// It ended after `trials` trials, starts and warm-ups included.
    pub(super) fn end(&mut self, trials: usize, one_off: &OneOff) {
        let taken = self.block_begun.elapsed().saturating_sub(one_off.take());
        let trials = u32::try_from(trials).unwrap_or(u32::MAX);
        if trials > 0 {
            (self.measured, self.trials) = (self.measured + taken, self.trials + trials);
        }
    }

    /// Time of `trials` more, judged by those of this round; none before its first block.
    fn of(&self, trials: usize) -> Option<Duration> {
        let trials = u32::try_from(trials).unwrap_or(u32::MAX);
        (self.trials > 0).then(|| (self.measured / self.trials).saturating_mul(trials))
    }

    /// When `trials` more would be over.
    pub(super) fn after(&self, trials: usize) -> Duration {
        self.begun.elapsed() + self.of(trials).unwrap_or_default()
    }

    /// Tells when `trials` more will be over.
    pub(super) fn tell(&self, trials: usize, expected_end: &ExpectedEnd) {
        if let Some(left) = self.of(trials) {
            expected_end.set(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(measured_seconds: u64, trials: u32) -> Clock {
        Clock { measured: Duration::from_secs(measured_seconds), trials, ..Clock::start() }
    }

    #[test]
    fn what_is_left_follows_the_mean_of_whole_blocks() {
        assert_eq!(clock(0, 0).of(12), None, "nothing is known before the first block");
        assert_eq!(clock(60, 12).of(24), Some(Duration::from_secs(120)));
        assert_eq!(clock(60, 12).of(0), Some(Duration::ZERO));
        let end = ExpectedEnd::default();
        clock(0, 0).tell(12, &end);
        assert_eq!(end.left(), None);
        clock(36_000, 12).tell(24, &end);
        assert!(end.left() > Some(Duration::from_secs(71_000)));
    }

    #[test]
    fn what_only_one_block_does_is_not_expected_of_the_others() {
        let one_off = OneOff::default();
        let mut clock = Clock::start();
        one_off.add(Duration::from_secs(3600));
        clock.end(1, &one_off);
        assert_eq!(clock.of(1), Some(Duration::ZERO));
        assert_eq!(one_off.take(), Duration::ZERO);
    }
}
