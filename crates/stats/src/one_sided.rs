//! One-sided tests of a ratio: "not slower by more than a margin" is one statement to show, and "enough for
//! all" is an intersection of such statements, which needs no correction for their number.

use crate::estimate::INTERVAL_MIN_REPLICATES;
use crate::ratio::log_differences;
use crate::student_t::Sample;

/// The p-values of a ratio a/b against a bound, each of one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneSided {
    /// Small where a/b is shown below the bound.
    pub below_p: f64,
    /// Small where a/b is shown above it.
    pub above_p: f64,
}

/// Tests the ratio a/b, paired by block, against `bound` (1.05: not more than 5% above).
///
/// None under 5 pairs, for lengths that differ, values that are not finite and positive, or a bound
/// that is not. Source: Berger 1982 (intersection-union tests).
pub fn one_sided(a: &[f64], b: &[f64], bound: f64) -> Option<OneSided> {
    if !(bound.is_finite() && bound > 0.0) {
        return None;
    }
    let differences = log_differences(a, b)?;
    if differences.len() < INTERVAL_MIN_REPLICATES {
        return None;
    }
    let sample = Sample::of(&differences)?;
    let above_p = sample.upper_p(bound.ln())?;
    let below_p = Sample { mean: -sample.mean, ..sample }.upper_p(-bound.ln())?;
    Some(OneSided { below_p, above_p })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio_comparison;

    const A: [f64; 7] = [12.1, 11.8, 13.0, 12.4, 12.9, 11.9, 12.6];
    const B: [f64; 7] = [13.0, 12.9, 13.1, 13.6, 13.3, 13.4, 12.8];

    #[test]
    fn the_bound_of_an_interval_is_where_a_one_sided_test_turns() {
        // An interval of 90% ends where the one-sided test has 5%.
        let ratio = ratio_comparison(&A, &B, 0.90).unwrap().ratio;
        let (low, high) = (ratio.low.unwrap(), ratio.high.unwrap());
        assert!((one_sided(&A, &B, high).unwrap().below_p - 0.05).abs() < 1e-9);
        assert!((one_sided(&A, &B, low).unwrap().above_p - 0.05).abs() < 1e-9);
        let there = one_sided(&A, &B, 1.05).unwrap();
        assert!(there.below_p < 0.001 && there.above_p > 0.999, "{there:?}");
    }

    #[test]
    fn too_little_data_shows_nothing() {
        assert_eq!(one_sided(&A[..4], &B[..4], 1.05), None);
        assert_eq!(one_sided(&A, &B, 0.0), None);
        assert_eq!(one_sided(&A, &[0.0; 7], 1.05), None);
    }
}
