//! Stopping rules of a round: a number of blocks, a precision, or the end of the time. A result of
//! the blocks never ends a run: stopping on a verdict makes false ones likelier.

use std::time::Duration;

use stats::{Estimate, INTERVAL_MIN_REPLICATES, Method};

use plan::Design;
use record::Finished;
use report::analysis::{self, Analysis};

/// How many blocks round `index` is to have, now that `done` of them are recorded.
pub(super) fn blocks(
    design: &Design<'_>,
    finished: &Finished,
    index: usize,
    done: usize,
    after: impl Fn(usize) -> Duration,
) -> usize {
    let Some(round) = finished.run.rounds.get(index) else { return done };
    let before: usize = finished.run.rounds.iter().take(index).map(|round| round.blocks).sum();
    let goes_on = finished.trials.iter().any(|trial| trial.block > before + done);
    if goes_on || index + 1 < finished.run.rounds.len() {
        // Of a run taken up again: recorded blocks stay, and later rounds are numbered from here.
        return round.blocks;
    }
    let is_precise = || {
        let wanted = design.precision?;
        let analysis = analysis::analyse(design, &round.cells, &finished.trials);
        Some(is_precise(&analysis, wanted.0))
    };
    let per_block = design.treatments_at(&round.cells).len();
    let over = design.budget.is_some_and(|budget| after(per_block) > budget.duration());
    wanted(round.blocks, done, is_precise, over)
}

/// `blocks` as planned, one more where these are not precise enough, or `done` where the next one
/// would end after the budget and there are enough for intervals.
fn wanted(
    blocks: usize,
    done: usize,
    is_precise: impl FnOnce() -> Option<bool>,
    over: bool,
) -> usize {
    if over && done >= INTERVAL_MIN_REPLICATES {
        return done;
    }
    if done == blocks && is_precise() == Some(false) { blocks + 1 } else { blocks }
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

#[cfg(test)]
mod tests {
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt as _, SeedableRng as _};

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

    #[test]
    fn blocks_are_added_until_precise_and_within_the_budget() {
        let wanted =
            |blocks, done, precise: Option<bool>, over| wanted(blocks, done, || precise, over);
        assert_eq!(wanted(10, 9, Some(false), false), 10, "the width is looked at after the last");
        assert_eq!(wanted(10, 10, Some(false), false), 11);
        assert_eq!(wanted(11, 11, Some(true), false), 11);
        assert_eq!(wanted(10, 10, Some(false), true), 10);
        assert_eq!(wanted(7, 5, None, true), 5);
        assert_eq!(wanted(7, 4, None, true), 7, "five blocks are the least for an interval");
        assert_eq!(wanted(7, 7, None, false), 7);
    }

    /// Blocks of noise `spread`, drawn until ten or more are precise enough; whether the interval
    /// covers the true mean of 1.
    fn covers(spread: f64, precision: f64, random: &mut Xoshiro256PlusPlus) -> bool {
        let mut blocks = Vec::new();
        loop {
            // Box and Muller's way from two uniform numbers to a normal one.
            let (u, v): (f64, f64) = (random.random(), random.random());
            let normal = (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos();
            blocks.push(1.0 + spread * normal);
            let Some(estimate) = stats::mean_estimate(&blocks, 0.95) else { continue };
            if blocks.len() >= 10 && half_width(&estimate) <= precision {
                return estimate.low <= Some(1.0) && Some(1.0) <= estimate.high;
            }
        }
    }

    #[test]
    fn intervals_of_sequential_stopping_keep_their_coverage() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for spread in [0.03, 0.05, 0.08] {
            let covered = (0..4_000).filter(|_| covers(spread, 0.03, &mut random)).count();
            let share = covered as f64 / 4_000.0;
            println!("noise {spread}: {share}");
            assert!((0.92..0.965).contains(&share), "noise {spread}: {share}");
        }
    }
}
