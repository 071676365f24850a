//! Equivalence: "the same within d" is something to show, not the absence of a difference.

use serde::{Deserialize, Serialize};

use crate::estimate::INTERVAL_MIN_REPLICATES;
use crate::estimate::logarithms;
use crate::ratio::log_differences;
use crate::student_t::Sample;
use crate::welch::{self, WELCH_MIN_REPLICATES};

/// The evidence that two treatments are the same within a margin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Equivalence {
    /// The margin: 0.05 means that the ratio lies between 1/1.05 and 1.05.
    pub margin: f64,
    /// The larger of the two one-sided p-values; equivalent where it is at most 1 minus the
    /// confidence level, which is where the interval of confidence 1 - 2p lies inside the margin.
    pub p_value: f64,
}

/// Two one-sided t tests on the paired differences of logarithms: is a/b within
/// 1/(1 + margin) and 1 + margin? The margin is symmetric for logarithms, so that a against b
/// and b against a agree.
///
/// None under 5 pairs, for lengths that differ, values that are not finite and positive, or a
/// margin that is not finite and positive. Source: Schuirmann 1987.
pub fn equivalence(a: &[f64], b: &[f64], margin: f64) -> Option<Equivalence> {
    if !(margin.is_finite() && margin > 0.0) {
        return None;
    }
    let differences = log_differences(a, b)?;
    if differences.len() < INTERVAL_MIN_REPLICATES {
        return None;
    }
    two_one_sided(&Sample::of(&differences)?, margin)
}

/// The same for sides that were not measured in the same blocks, by Welch's t.
///
/// None under [`WELCH_MIN_REPLICATES`] on either side, otherwise as for [`equivalence`].
pub fn unpaired_equivalence(a: &[f64], b: &[f64], margin: f64) -> Option<Equivalence> {
    if !(margin.is_finite() && margin > 0.0) || a.len().min(b.len()) < WELCH_MIN_REPLICATES {
        return None;
    }
    two_one_sided(&welch::difference(&logarithms(a)?, &logarithms(b)?)?, margin)
}

fn two_one_sided(sample: &Sample, margin: f64) -> Option<Equivalence> {
    let bound = margin.ln_1p();
    let not_below = sample.upper_p(-bound)?;
    let not_above = Sample { mean: -sample.mean, ..*sample }.upper_p(-bound)?;
    Some(Equivalence { margin, p_value: not_below.max(not_above) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 7] = [12.1, 11.8, 13.0, 12.4, 12.9, 11.9, 12.6];
    const B: [f64; 7] = [13.0, 12.9, 13.1, 13.6, 13.3, 13.4, 12.8];

    /// statsmodels: `ttost_paired(log(a), log(b), -log1p(d), log1p(d))`. The interval of the
    /// ratio is 0.904 to 0.979: the same within 10% or 15%, not within 5%.
    #[test]
    fn agrees_with_statsmodels() {
        let expected =
            [(0.05, 0.7573406831652191), (0.10, 0.03883977522189547), (0.15, 0.001401360948492834)];
        for (margin, p_value) in expected {
            let found = equivalence(&A, &B, margin).unwrap().p_value;
            assert!((found / p_value - 1.0).abs() < 1e-9, "{margin}: {found}");
        }
    }

    /// By an incomplete beta function written for this test, on the data of `welch.rs`.
    #[test]
    fn sides_without_pairs() {
        let (a, b) = ([12.1, 11.8, 13.0, 12.4], [13.0, 12.9, 13.1, 13.6, 13.3]);
        let found = unpaired_equivalence(&a, &b, 0.15).unwrap().p_value;
        assert!((found - 0.015414232270554901).abs() < 1e-9, "{found}");
        assert_eq!(unpaired_equivalence(&a[..2], &b, 0.15), None);
    }

    #[test]
    fn too_little_data_shows_no_equivalence() {
        assert_eq!(equivalence(&A[..4], &A[..4], 0.05), None);
        assert_eq!(equivalence(&A, &B, 0.0), None);
        assert_eq!(equivalence(&A, &A, 0.05).unwrap().p_value, 0.0);
    }
}
