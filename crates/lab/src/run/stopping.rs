//! When a round has blocks enough: by a number, by a precision, or because the time is over. What
//! the blocks *show* never ends a run: stopping on a verdict makes false ones likelier.

use std::time::{Duration, Instant};

use stats::{Estimate, INTERVAL_MIN_REPLICATES, Method};

use super::Finished;
use crate::analysis::{self, Analysis};

/// How many blocks round `index` is to have, now that `done` of them are recorded.
pub(super) fn blocks(finished: &Finished, index: usize, done: usize, clock: &Clock) -> usize {
    let plan = &finished.plan;
    let Some(round) = finished.run.rounds.get(index) else { return done };
    let mut blocks = round.blocks;
    if let Some(wanted) = plan.precision.filter(|_| done == blocks) {
        let analysis = analysis::analyse(plan, &round.cells, &finished.trials);
        blocks += usize::from(!is_precise(&analysis, wanted.0));
    }
    let per_block = crate::schedule::treatments(plan, &round.cells).len();
    let over = plan.budget.is_some_and(|budget| clock.after(per_block) > budget.duration());
    if over && done >= INTERVAL_MIN_REPLICATES { done } else { blocks }
}

/// Whether the interval of every mean and of every ratio is narrow enough.
fn is_precise(analysis: &Analysis, wanted: f64) -> bool {
    let means = analysis.treatments.iter().filter_map(|treatment| treatment.estimate.as_ref());
    let ratios = analysis.treatments.iter().filter_map(|treatment| treatment.ratio.as_ref());
    means.chain(ratios.map(|ratio| &ratio.estimate)).all(|one| half_width(one) <= wanted)
}

/// Half of the interval as a share of the value; infinite where there is none.
fn half_width(estimate: &Estimate) -> f64 {
    match (estimate.method, estimate.low, estimate.high) {
        (Method::RangeOnly, ..) | (_, None, _) | (_, _, None) => f64::INFINITY,
        (_, Some(low), Some(high)) => (high - low) / 2.0 / estimate.value.abs(),
    }
}

/// What the run has taken so far, and what a trial takes.
pub(super) struct Clock {
    begun: Instant,
    block_begun: Instant,
    per_trial: Duration,
}

impl Clock {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self { begun: now, block_begun: now, per_trial: Duration::ZERO }
    }

    /// A block begins.
    pub(super) fn begin(&mut self) {
        self.block_begun = Instant::now();
    }

    /// It ended after `trials` trials, starts and warm-ups included.
    pub(super) fn end(&mut self, trials: usize) {
        if let Some(trials) = u32::try_from(trials).ok().filter(|trials| *trials > 0) {
            self.per_trial = self.block_begun.elapsed() / trials;
        }
    }

    /// When `trials` more would be over, judged by those of the last block.
    pub(super) fn after(&self, trials: usize) -> Duration {
        self.begun.elapsed() + self.per_trial * u32::try_from(trials).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, high: f64) -> Estimate {
        stats::mean_estimate(&[low, low, high, high, (low + high) / 2.0], 0.95).unwrap()
    }

    #[test]
    fn precision_is_a_matter_of_width_alone() {
        let narrow = estimate(99.9, 100.1);
        let wide = estimate(80.0, 120.0);
        assert!(half_width(&narrow) < 0.003);
        assert!(half_width(&wide) > 0.2);
        let range = stats::mean_estimate(&[1.0, 1.0, 1.0], 0.95).unwrap();
        assert_eq!(half_width(&range), f64::INFINITY);
    }
}
