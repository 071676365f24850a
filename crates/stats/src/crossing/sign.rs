//! From comparisons to signs: which side each level shows, corrected over all the verdicts of
//! an experiment.

use super::{LevelResult, Sign};
use crate::{Comparison, holm};

/// The sign each comparison shows when all of them are corrected together by Holm's method, so
/// that the chance of any false sign is at most 1 - `confidence_level`. Comparisons without a
/// p-value (under 5 blocks) show nothing and do not count as verdicts.
pub fn signs(comparisons: &[Comparison], confidence_level: f64) -> Vec<Sign> {
    let p_values: Vec<f64> = comparisons.iter().filter_map(|c| c.p_value).collect();
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

/// The results of all sweeps of an experiment, each a list of (level, comparison of times a/b),
/// in the order given and corrected together.
pub fn classify(sweeps: &[Vec<(f64, Comparison)>], confidence_level: f64) -> Vec<Vec<LevelResult>> {
    let all: Vec<Comparison> = sweeps.iter().flatten().map(|(_, comparison)| *comparison).collect();
    let verdicts = all.iter().filter(|comparison| comparison.p_value.is_some()).count();
    let mut signs = signs(&all, confidence_level).into_iter();
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
