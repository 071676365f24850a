//! Signs from comparisons: the faster side at each level, corrected over all the verdicts of an
//! experiment.

use super::{LevelResult, Sign};
use crate::{RatioComparison, holm};

/// The sign each comparison shows when all of them are corrected together by Holm's method, so
/// that the chance of any false sign is at most 1 - `confidence_level`.
///
/// `planned` is the number of verdicts the experiment may come to hold, levels found by bisection
/// included: those not measured yet count as tests that showed nothing. So a level measured later
/// never takes a sign away, and levels may be chosen by what the earlier ones showed. 0 stands for
/// the comparisons given. Comparisons without a p-value (under 5 blocks) show nothing and do not
/// count.
pub fn signs(comparisons: &[RatioComparison], planned: usize, confidence_level: f64) -> Vec<Sign> {
    let mut p_values: Vec<f64> = comparisons.iter().filter_map(|c| c.p_value).collect();
    p_values.resize(p_values.len().max(planned), 1.0);
    let mut adjusted = holm(&p_values).into_iter();
    comparisons
        .iter()
        .map(|comparison| {
            let p = comparison.p_value.and_then(|_| adjusted.next()).unwrap_or(1.0);
            match comparison.ratio.value {
                value if p > 1.0 - confidence_level || value == 1.0 => Sign::Undecided,
                value if value < 1.0 => Sign::AFaster,
                _ => Sign::BFaster,
            }
        })
        .collect()
}

/// The results of all sweeps of an experiment whose levels were fixed before it began, each a
/// list of (level, comparison of times a/b), in the order given and corrected together.
pub fn classify(
    sweeps: &[Vec<(f64, RatioComparison)>],
    confidence_level: f64,
) -> Vec<Vec<LevelResult>> {
    classify_planned(sweeps, 0, confidence_level)
}

/// Like [`classify`], for an experiment that bisects: `planned` as for [`signs`], which is for
/// every sweep its first levels and [`super::MOST_LEVELS_MORE`].
pub fn classify_planned(
    sweeps: &[Vec<(f64, RatioComparison)>],
    planned: usize,
    confidence_level: f64,
) -> Vec<Vec<LevelResult>> {
    let all: Vec<RatioComparison> =
        sweeps.iter().flatten().map(|(_, comparison)| *comparison).collect();
    let measured = all.iter().filter(|comparison| comparison.p_value.is_some()).count();
    let verdicts = measured.max(planned);
    let mut signs = signs(&all, planned, confidence_level).into_iter();
    sweeps
        .iter()
        .map(|sweep| {
            let with_signs = sweep.iter().zip(signs.by_ref());
            with_signs
                .map(|((level, comparison), sign)| LevelResult {
                    level: *level,
                    ratio: comparison.ratio,
                    sign,
                    verdicts,
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio_comparison;

    fn compare(a: [f64; 5]) -> RatioComparison {
        ratio_comparison(&a, &[1.0, 1.1, 0.9, 1.0, 1.05], 0.95).unwrap()
    }

    #[test]
    fn a_verdict_that_holds_alone_may_fall_among_many() {
        let clear = compare([3.0, 3.2, 2.8, 3.1, 3.1]);
        let slight = compare([1.02, 1.2, 0.93, 1.04, 1.10]);
        let nothing = compare([1.1, 1.0, 1.0, 0.9, 1.1]);
        assert!(slight.p_value.unwrap() < 0.05, "{slight:?}");
        assert_eq!(signs(&[slight], 0, 0.95), [Sign::BFaster]);
        let among_many = signs(&[nothing, slight, clear, nothing, nothing], 0, 0.95);
        let [u, b] = [Sign::Undecided, Sign::BFaster];
        assert_eq!(among_many, [u, u, b, u, u]);
    }

    #[test]
    fn levels_measured_later_take_no_planned_sign_away() {
        let slight = compare([1.02, 1.2, 0.93, 1.04, 1.10]);
        let nothing = compare([1.1, 1.0, 1.0, 0.9, 1.1]);
        let p = slight.p_value.unwrap();
        let planned = 2;
        let confidence_level = 1.0 - p * 1.5;
        let sign =
            |comparisons: &[RatioComparison]| signs(comparisons, planned, confidence_level)[0];
        assert_eq!(sign(&[slight]), Sign::Undecided, "one more is planned");
        assert_eq!(sign(&[slight, nothing]), Sign::Undecided);
        assert_eq!(signs(&[slight], 0, confidence_level), [Sign::BFaster]);
    }

    #[test]
    fn sweeps_share_the_correction_and_few_blocks_give_no_verdict() {
        let clear = compare([0.30, 0.32, 0.28, 0.31, 0.31]);
        let too_few = ratio_comparison(&[1.0, 1.0], &[9.0, 9.0], 0.95).unwrap();
        let results = classify(&[vec![(7.0, clear), (31.0, too_few)], vec![(7.0, clear)]], 0.95);
        assert_eq!(results[0][0].sign, Sign::AFaster);
        assert_eq!(results[0][1].sign, Sign::Undecided);
        assert_eq!(results[1].len(), 1);
        assert!(results.iter().flatten().all(|result| result.verdicts == 2));
    }
}
