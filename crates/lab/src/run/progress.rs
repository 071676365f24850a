//! The end that is expected of a run: by its pilot, then by whole blocks, which all hold the same
//! treatments.

use std::time::{Duration, Instant};

use host::OneOff;

use crate::error::RunError;
use crate::forecast::Forecast;
use crate::options::{ExpectedEnd, TimeLimit};

/// The time that the run has taken so far, and that of a trial.
pub(super) struct Clock {
    begun: Instant,
    block_begun: Instant,
    /// Time of a trial by the pilot, starts included; only for the first round.
    by_pilot: Option<Duration>,
    /// Blocks of the present round that were carried out as a whole or from where they had been
    /// interrupted: their time and their trials.
    blocks: Vec<(Duration, u32)>,
}

impl Clock {
    /// `by_pilot` is the time of a trial with its share of a start, where a pilot measured it.
    pub(super) fn start(now: Instant, by_pilot: Option<Duration>) -> Self {
        Self { begun: now, block_begun: now, by_pilot, blocks: Vec::new() }
    }

    /// A round begins: its trials may take another time than those before.
    pub(super) fn begin_round(&mut self, index: usize) {
        self.blocks.clear();
        if index > 0 {
            self.by_pilot = None;
        }
    }

    pub(super) fn begin(&mut self, now: Instant, one_off: &OneOff) {
        one_off.take();
        self.block_begun = now;
    }

    /// It ended after `trials` trials, starts and warm-ups included.
    pub(super) fn end(&mut self, now: Instant, trials: usize, one_off: &OneOff) {
        let taken = now.saturating_duration_since(self.block_begun).saturating_sub(one_off.take());
        let trials = u32::try_from(trials).unwrap_or(u32::MAX);
        if trials > 0 {
            self.blocks.push((taken, trials));
        }
    }

    /// Time of `trials` more, judged by those of this round; none before its first block.
    fn of(&self, trials: usize) -> Option<Duration> {
        let count = u32::try_from(trials).unwrap_or(u32::MAX);
        let measured: u32 = self.blocks.iter().map(|(_, trials)| trials).sum();
        let taken: Duration = self.blocks.iter().map(|(taken, _)| taken).sum();
        let each = if measured > 0 { Some(taken / measured) } else { self.by_pilot };
        each.map(|each| each.saturating_mul(count))
    }

    /// When `trials` more would be over.
    pub(super) fn after(&self, now: Instant, trials: usize) -> Duration {
        now.saturating_duration_since(self.begun) + self.of(trials).unwrap_or_default()
    }

    /// The time of `trials` more, and of those that bisection may add to them.
    pub(super) fn forecast(&self, trials: usize, added: usize) -> Option<Forecast> {
        let expected = self.of(trials)?;
        let times =
            self.blocks.iter().map(|(taken, trials)| taken.as_secs_f64() / f64::from(*trials));
        let each = self.blocks.last().map_or(1, |(_, trials)| *trials);
        let blocks = trials as f64 / f64::from(each);
        let forecast = Forecast::by_blocks(expected, &times.collect::<Vec<_>>(), blocks);
        Some(match added {
            0 => forecast,
            added => forecast.with_more(self.of(added).unwrap_or_default()),
        })
    }

    /// Refuses to go on where the blocks, each of `trials` trials, that the limit asks for do not fit.
    pub(super) fn check_limit(
        &self,
        now: Instant,
        trials: usize,
        limit: Option<TimeLimit>,
    ) -> Result<(), RunError> {
        let Some(TimeLimit { end, blocks_min: blocks }) = limit else { return Ok(()) };
        let left = end.saturating_duration_since(now);
        let needed = self.of(trials * blocks.saturating_sub(1)).unwrap_or_default();
        match needed > left {
            true => {
                Err(RunError::BlocksDoNotFit { block: self.of(trials).unwrap_or_default(), blocks })
            }
            false => Ok(()),
        }
    }

    /// Passes it on.
    pub(super) fn tell(&self, trials: usize, added: usize, expected_end: &ExpectedEnd) {
        if let Some(left) = self.forecast(trials, added) {
            expected_end.set(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(blocks: &[(u64, u32)]) -> Clock {
        let blocks = blocks.iter().map(|(taken, trials)| (Duration::from_secs(*taken), *trials));
        Clock { blocks: blocks.collect(), ..Clock::start(Instant::now(), None) }
    }

    #[test]
    fn what_is_left_follows_the_mean_of_whole_blocks() {
        assert_eq!(clock(&[]).of(12), None, "nothing is known before the first block");
        assert_eq!(clock(&[(40, 8), (20, 4)]).of(24), Some(Duration::from_secs(120)));
        assert_eq!(clock(&[(60, 12)]).of(0), Some(Duration::ZERO));
        let end = ExpectedEnd::default();
        clock(&[]).tell(12, 0, &end);
        assert_eq!(end.left(), None);
        clock(&[(36_000, 12)]).tell(24, 0, &end);
        let left = end.left().unwrap();
        assert!(left.shortest < Duration::from_secs(72_000));
        assert!(left.longest > Duration::from_secs(72_000));
    }

    #[test]
    fn a_pilot_tells_of_the_first_round_alone() {
        let mut clock = Clock::start(Instant::now(), Some(Duration::from_secs(10)));
        clock.begin_round(0);
        assert_eq!(clock.of(6), Some(Duration::from_secs(60)));
        clock.begin_round(1);
        assert_eq!(clock.of(6), None);
    }

    #[test]
    fn a_first_block_that_is_too_long_ends_the_run() {
        let minutes = |minutes: u64| Instant::now() + Duration::from_secs(60 * minutes);
        let clock = clock(&[(60, 6)]);
        let limit = |end, blocks_min| Some(TimeLimit { end, blocks_min });
        assert!(clock.check_limit(Instant::now(), 6, None).is_ok());
        assert!(clock.check_limit(Instant::now(), 6, limit(minutes(5), 5)).is_ok());
        assert!(clock.check_limit(Instant::now(), 6, limit(minutes(0), 0)).is_ok());
        let refused = clock.check_limit(Instant::now(), 6, limit(minutes(3), 5)).unwrap_err();
        assert_eq!(refused.to_string(), "a block takes 60 s: fewer than 5 fit the time");
    }

    #[test]
    fn trials_that_a_bisection_may_add_make_a_bound() {
        let forecast = clock(&[(60, 6)]).forecast(6, 6).unwrap();
        assert!(forecast.is_bound && forecast.longest > Duration::from_secs(120));
    }

    #[test]
    fn what_only_one_block_does_is_not_expected_of_the_others() {
        let one_off = OneOff::default();
        let mut clock = Clock::start(Instant::now(), None);
        one_off.add(Duration::from_secs(3600));
        clock.end(Instant::now(), 1, &one_off);
        assert_eq!(clock.of(1), Some(Duration::ZERO));
        assert_eq!(one_off.take(), Duration::ZERO);
    }
}
