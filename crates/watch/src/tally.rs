//! Samples of a lock, added up by holder and by batch of time.

use std::collections::BTreeMap;
use std::time::Duration;

use stats::{Estimate, mean_estimate};

use crate::lock::Holder;

/// Batches of time whose means make the intervals: samples within a hold depend on each other.
const BATCHES: usize = 20;
/// Parts of the time asked for, of which batches are made at the end: the watch may end early.
const PARTS: usize = 20 * BATCHES;
const CONFIDENCE: f64 = 0.95;
/// Intervals between samples that a hold must span to be measured by them.
const INTERVALS_MEASURED: u32 = 5;

/// One part of the time watched.
#[derive(Clone, Debug, Default)]
struct Batch {
    samples: u32,
    held: BTreeMap<Holder, u32>,
    commits: u32,
}

/// A lock that one holder has kept since a sample, without a commit in between.
#[derive(Clone, Copy, Debug)]
struct OpenHold {
    holder: Holder,
    commits: Option<u32>,
    first: Duration,
    last: Duration,
}

impl OpenHold {
    /// As far as seen.
    fn length(&self) -> Duration {
        self.last.saturating_sub(self.first)
    }
}

/// Samples of one exclusive lock.
#[derive(Debug)]
pub struct LockTally {
    part: Duration,
    parts: Vec<Batch>,
    last: Duration,
    commits: Option<u32>,
    hold: Option<OpenHold>,
    /// Longest time over which each holder was seen without a commit.
    longest: BTreeMap<Holder, Duration>,
    /// Holds of at least this length are seen by several samples.
    measured_from: Duration,
    measured: Vec<Duration>,
}

impl LockTally {
    pub fn new(time: Duration, interval: Duration) -> Self {
        Self {
            part: (time / PARTS as u32).max(Duration::from_millis(1)),
            parts: vec![Batch::default(); PARTS],
            last: Duration::ZERO,
            commits: None,
            hold: None,
            longest: BTreeMap::new(),
            measured_from: interval * INTERVALS_MEASURED,
            measured: Vec::new(),
        }
    }

    /// One look: the holder, and the counter of commits where it can be read.
    pub fn add(&mut self, at: Duration, holder: Option<Holder>, commits: Option<u32>) {
        let place = (at.as_nanos() / self.part.as_nanos()) as usize;
        let last = self.parts.len() - 1;
        let batch = &mut self.parts[place.min(last)];
        batch.samples += 1;
        if let Some(holder) = holder {
            *batch.held.entry(holder).or_default() += 1;
        }
        if let (Some(before), Some(now)) = (self.commits, commits) {
            // A counter that goes back is another one: all programs closed the file in between.
            let made = now.wrapping_sub(before);
            batch.commits += if made < u32::MAX / 2 { made } else { 0 };
        }
        self.commits = commits.or(self.commits);
        self.last = at;
        self.follow_hold(at, holder);
    }

    fn follow_hold(&mut self, at: Duration, holder: Option<Holder>) {
        match (&mut self.hold, holder) {
            (Some(hold), Some(holder)) if hold.holder == holder && hold.commits == self.commits => {
                hold.last = at;
            }
            (_, holder) => {
                self.end_hold();
                let commits = self.commits;
                self.hold = holder.map(|holder| OpenHold { holder, commits, first: at, last: at });
            }
        }
        if let Some(hold) = &self.hold {
            let longest = self.longest.entry(hold.holder).or_default();
            *longest = hold.length().max(*longest);
        }
    }

    fn end_hold(&mut self) {
        let length = self.hold.take().map(|hold| hold.length());
        self.measured.extend(length.filter(|length| *length >= self.measured_from));
    }

    /// To be called once, after the last look.
    pub fn finish(&mut self) {
        self.end_hold();
        self.measured.sort_unstable();
    }

    /// Batches of equal length over the time watched so far, with looks in each; a rest that is shorter
    /// belongs to the last.
    fn batches(&self) -> Vec<Batch> {
        let end = self.parts.iter().rposition(|part| part.samples > 0).map_or(0, |last| last + 1);
        let length = (end / BATCHES).max(1);
        let mut batches: Vec<Batch> = Vec::new();
        for (place, part) in self.parts[..end].iter().enumerate() {
            let is_rest = end - place / length * length < length;
            match batches.last_mut() {
                Some(last) if place % length > 0 || is_rest || last.samples == 0 => last.add(part),
                _ => batches.push(part.clone()),
            }
        }
        batches.retain(|batch| batch.samples > 0);
        batches
    }

    pub fn samples(&self) -> u64 {
        self.parts.iter().map(|batch| u64::from(batch.samples)).sum()
    }

    pub fn commits(&self) -> u64 {
        self.parts.iter().map(|batch| u64::from(batch.commits)).sum()
    }

    pub fn measured_from(&self) -> Duration {
        self.measured_from
    }

    /// Share of the samples in which `holder`, or any, had the lock.
    pub fn share(&self, holder: Option<Holder>) -> Option<Estimate> {
        let shares: Vec<f64> = self
            .batches()
            .iter()
            .map(|batch| batch.held(holder) / f64::from(batch.samples))
            .collect();
        mean_estimate(&shares, CONFIDENCE)
    }

    /// Holders that were seen, the one with most samples first, and the longest time of each.
    pub fn holders(&self) -> Vec<(Holder, Duration)> {
        let mut holders: Vec<(Holder, Duration)> =
            self.longest.iter().map(|(holder, longest)| (*holder, *longest)).collect();
        let samples = |holder: Holder| -> f64 {
            self.parts.iter().map(|batch| batch.held(Some(holder))).sum()
        };
        holders.sort_by(|(a, _), (b, _)| samples(*b).total_cmp(&samples(*a)));
        holders
    }

    /// Mean time of a hold in ms: the share of time by the commits in it. `None` without a commit, and
    /// where no look met a hold.
    pub fn mean_hold_ms(&self) -> Option<Estimate> {
        let commits = self.commits() as f64;
        let look_ms =
            self.last.as_secs_f64() * 1e3 / self.samples().saturating_sub(1).max(1) as f64;
        let batches = self.batches();
        let held_ms: Vec<f64> = batches.iter().map(|batch| batch.held(None) * look_ms).collect();
        let all: f64 = held_ms.iter().sum();
        if commits == 0.0 || all == 0.0 {
            return None;
        }
        let value = all / commits;
        let mean_commits = commits / held_ms.len() as f64;
        // The interval of a ratio of two sums, by the batches' deviations from it.
        let deviation = |(batch, held): (&Batch, &f64)| {
            (held - value * f64::from(batch.commits)) / mean_commits
        };
        let deviations: Vec<f64> = batches.iter().zip(&held_ms).map(deviation).collect();
        let around = mean_estimate(&deviations, CONFIDENCE)?;
        let has_interval = around.confidence_level > 0.0;
        let bound =
            |offset: Option<f64>| offset.filter(|_| has_interval).map(|by| (value + by).max(0.0));
        Some(Estimate { value, low: bound(around.low), high: bound(around.high), ..around })
    }

    /// The length in ms that this share of holds does not exceed; `None` where it is too short to be
    /// measured.
    pub fn hold_quantile_ms(&self, share: f64) -> Option<f64> {
        let holds = self.commits().max(self.measured.len() as u64);
        let longer = ((1.0 - share) * holds as f64).floor() as usize;
        let place = self.measured.len().checked_sub(longer + 1)?;
        Some(self.measured.get(place)?.as_secs_f64() * 1e3)
    }
}

impl Batch {
    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.commits += other.commits;
        for (holder, samples) in &other.held {
            *self.held.entry(*holder).or_default() += samples;
        }
    }

    fn held(&self, holder: Option<Holder>) -> f64 {
        let samples: u32 = match holder {
            Some(holder) => self.held.get(&holder).copied().unwrap_or_default(),
            None => self.held.values().sum(),
        };
        f64::from(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that holds the lock for 30 ms of every 100 ms and commits at the end of each hold.
    fn planted() -> LockTally {
        let interval = Duration::from_millis(5);
        let mut tally = LockTally::new(Duration::from_secs(20), interval);
        for step in 0..4_000_u32 {
            let at = interval * step;
            let phase = at.as_millis() % 100;
            let holder = (phase < 30).then_some(Holder::Process(7));
            let commits = (at.as_millis() / 100) as u32 + u32::from(phase >= 30);
            tally.add(at, holder, Some(commits));
        }
        tally.finish();
        tally
    }

    #[test]
    fn share_and_mean_hold_of_a_planted_writer() {
        let tally = planted();
        let share = tally.share(None).unwrap();
        assert!((share.value - 0.3).abs() < 0.001, "{share:?}");
        assert_eq!(tally.commits(), 200);
        let hold = tally.mean_hold_ms().unwrap();
        assert!((hold.value - 30.0).abs() < 0.1, "{hold:?}");
        let (holder, longest) = tally.holders()[0];
        assert_eq!((holder, longest), (Holder::Process(7), Duration::from_millis(25)));
        assert_eq!(tally.hold_quantile_ms(0.5), Some(25.0));
    }

    #[test]
    fn holds_shorter_than_five_looks_have_no_percentile() {
        let interval = Duration::from_millis(5);
        let mut tally = LockTally::new(Duration::from_secs(1), interval);
        for step in 0..200_u32 {
            // WatchState at every tenth look, one commit each.
            let holder = (step % 10 == 0).then_some(Holder::Process(7));
            tally.add(interval * step, holder, Some(step / 10));
        }
        tally.finish();
        assert_eq!(tally.hold_quantile_ms(0.95), None);
        assert!(tally.mean_hold_ms().is_some());
    }
}
