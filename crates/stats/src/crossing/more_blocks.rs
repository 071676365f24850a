//! Estimate of the further blocks that would settle an inconclusive stretch, from the spread.

use super::{LevelResult, Side};
use crate::estimate::{INTERVAL_MIN_REPLICATES, Method};
use crate::power::log_deviation;
use crate::student_t::quantile;

/// Nobody runs more; beyond it the honest answer is that blocks will not settle it.
const MOST_BLOCKS: usize = 1_000;

/// The chance of showing the difference that the estimate promises.
const POWER: f64 = 0.8;

/// About how many more blocks the undecided levels of `stretch` need until there is an answer.
///
/// If an estimate lies on the other side than `shown` (or, where nothing is shown, estimates lie
/// on both), a crossing is likely, and one level per side must become clear: the cheapest.
/// Otherwise every level must show the one side, so the dearest counts.
pub(super) fn more_blocks(stretch: &[LevelResult], shown: Option<Side>) -> Option<usize> {
    let undecided = || stretch.iter().filter(|result| result.sign.faster().is_none());
    let leaning = |side: Side| {
        let of_side = move |result: &&LevelResult| leans(result) == side;
        undecided().filter(of_side).map(more_blocks_of)
    };
    let cheapest = |side: Side| leaning(side).flatten().min();
    let exists = |side: Side| leaning(side).next().is_some();
    let dearest = || undecided().map(more_blocks_of).collect::<Option<Vec<_>>>()?.into_iter().max();
    match shown {
        Some(Side::A) if exists(Side::B) => cheapest(Side::B),
        Some(Side::B) if exists(Side::A) => cheapest(Side::A),
        None if exists(Side::A) && exists(Side::B) => {
            Some(cheapest(Side::A)?.max(cheapest(Side::B)?))
        }
        _ => dearest(),
    }
}

fn leans(result: &LevelResult) -> Side {
    if result.ratio.value < 1.0 { Side::A } else { Side::B }
}

/// The smallest n with |d| sqrt(n) / s >= t(1 - alpha/2, n - 1) + t(0.8, n - 1), less the blocks
/// there are: d and s are mean and standard deviation of the paired differences of logarithms,
/// alpha is Bonferroni's share of the experiment's (1 - confidence level) / verdicts. The usual
/// sample size of a paired t test, with the observed d taken for the true one.
pub fn more_blocks_of(result: &LevelResult) -> Option<usize> {
    let ratio = &result.ratio;
    let blocks = ratio.replicates;
    if ratio.method == Method::RangeOnly {
        return Some(INTERVAL_MIN_REPLICATES.saturating_sub(blocks).max(1));
    }
    let effect = ratio.value.ln().abs() / log_deviation(ratio)?;
    let alpha = (1.0 - ratio.confidence_level) / result.verdicts.max(1) as f64;
    let enough = |n: usize| {
        let freedom = n as f64 - 1.0;
        let needed = quantile(1.0 - alpha / 2.0, freedom)? + quantile(POWER, freedom)?;
        Some(effect * (n as f64).sqrt() >= needed)
    };
    if !enough(MOST_BLOCKS)? {
        return None;
    }
    let (mut too_few, mut plenty) = (blocks, MOST_BLOCKS.max(blocks + 1));
    while plenty - too_few > 1 {
        let middle = too_few + (plenty - too_few) / 2;
        if enough(middle)? {
            plenty = middle;
        } else {
            too_few = middle;
        }
    }
    Some(plenty - blocks)
}

#[cfg(test)]
mod tests {
    use super::super::Sign::{AFaster, Undecided};
    use super::super::tests::level;
    use super::*;
    use crate::Estimate;

    /// A ratio whose effect size is `d` standard deviations, undecided among `verdicts`.
    fn undecided(d: f64, verdicts: usize) -> LevelResult {
        LevelResult { verdicts, ..level(1.0, (d * 0.1).exp(), Undecided) }
    }

    /// statsmodels: `TTestPower().solve_power(d, alpha=0.05 / verdicts, power=0.8)` gives 33.37,
    /// 9.94, 198.15 and, for eight verdicts, 54.91 blocks in all; ten have been run.
    #[test]
    fn sample_sizes_agree_with_exact_power() {
        for (d, verdicts, expected) in [(0.5, 1, 24), (0.2, 1, 189), (0.5, 8, 45)] {
            let found = more_blocks_of(&undecided(d, verdicts)).unwrap();
            assert!(found.abs_diff(expected) <= 1, "{d} {verdicts}: {found}");
        }
        assert_eq!(more_blocks_of(&undecided(-0.5, 1)), more_blocks_of(&undecided(0.5, 1)));
    }

    #[test]
    fn a_hopeless_difference_has_no_number() {
        assert_eq!(more_blocks_of(&undecided(0.01, 1)), None);
        assert_eq!(more_blocks_of(&undecided(0.0, 1)), None);
    }

    #[test]
    fn under_five_blocks_five_are_wanted_first() {
        let few = Estimate::range_only(1.1, &[1.0, 1.2]);
        assert_eq!(more_blocks_of(&LevelResult { ratio: few, ..undecided(0.5, 1) }), Some(3));
    }

    #[test]
    fn the_estimates_tell_which_level_must_become_clear() {
        let (near, far) = (undecided(0.3, 1), undecided(0.6, 1));
        let (near_cost, far_cost) = (more_blocks_of(&near), more_blocks_of(&far));
        assert!(far_cost < near_cost);
        // Both lean to b: one of them shown makes a bracket with a, both are needed without it.
        assert_eq!(more_blocks(&[near, far], Some(Side::A)), far_cost);
        assert_eq!(more_blocks(&[near, far], Some(Side::B)), near_cost);
        assert_eq!(more_blocks(&[near, far], None), near_cost);
        // Nothing shown and leaning both ways: one of each.
        assert_eq!(more_blocks(&[undecided(-0.3, 1), near, far], None), near_cost);
        // Levels that show a side cost nothing.
        let shown = level(1.0, 0.99, AFaster);
        assert_eq!(more_blocks(&[shown, far], Some(Side::A)), far_cost);
    }
}
