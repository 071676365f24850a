//! The ratio of two treatments that were not measured in the same blocks: Welch's t on logarithms,
//! which asks neither for pairs nor for equal spread.

use crate::estimate::logarithms;
use crate::estimate::{Estimate, Method};
use crate::ratio::RatioComparison;
use crate::student_t::{Sample, two_sided_quantile};

/// Fewer replicates than this on either side give no interval and no verdict: with two, the
/// standard deviation of a side has one degree of freedom.
pub const WELCH_MIN_REPLICATES: usize = 3;

/// Compares `a` with `b`, which have nothing to do with each other but the treatment: the ratio of
/// their geometric means, with its interval and p-value from [`WELCH_MIN_REPLICATES`] on each side.
/// `replicates` of the result is the smaller side's.
///
/// None if a side is empty, a value is not finite and positive, or `confidence_level` is not
/// strictly between 0 and 1. Source: Welch 1947; the degrees of freedom are Satterthwaite's (1946).
pub fn unpaired_ratio_comparison(
    a: &[f64],
    b: &[f64],
    confidence_level: f64,
) -> Option<RatioComparison> {
    let (a, b) = (logarithms(a)?, logarithms(b)?);
    let replicates = a.len().min(b.len());
    let sample = difference(&a, &b).filter(|_| replicates >= WELCH_MIN_REPLICATES);
    let Some(sample) = sample else {
        let ratio = (mean(&a) - mean(&b)).exp();
        let ratio = Estimate { replicates, ..Estimate::range_only(ratio, &[ratio]) };
        return Some(RatioComparison { ratio, p_value: None });
    };
    let half_width = two_sided_quantile(confidence_level, sample.freedom)? * sample.standard_error;
    let ratio = Estimate {
        value: sample.mean.exp(),
        low: Some((sample.mean - half_width).exp()),
        high: Some((sample.mean + half_width).exp()),
        confidence_level,
        method: Method::WelchLogRatio,
        replicates,
    };
    Some(RatioComparison { ratio, p_value: Some(sample.two_sided_p()?) })
}

/// Mean, standard error and degrees of freedom of the difference of two means.
pub(crate) fn difference(a: &[f64], b: &[f64]) -> Option<Sample> {
    let (one, other) = (Sample::of(a)?, Sample::of(b)?);
    let (u, v) = (one.standard_error.powi(2), other.standard_error.powi(2));
    let welch = (u + v).powi(2) / (u.powi(2) / one.freedom + v.powi(2) / other.freedom);
    Some(Sample {
        mean: one.mean - other.mean,
        standard_error: (u + v).sqrt(),
        // Without any spread the quotient is not a number, and any freedom gives the same answer.
        freedom: if welch.is_finite() { welch } else { one.freedom + other.freedom },
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first example of the English Wikipedia's "Welch's t-test", with more digits from an
    /// incomplete beta function written for this test: t -2.45536, 24.98853 degrees of freedom,
    /// p 0.0213780, difference -3.98410 to -0.34924. Exponentials have these logarithms.
    #[test]
    fn wikipedias_example() {
        let a = [
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
            21.4,
        ]
        .map(f64::exp);
        let b = [
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5,
            24.4,
        ]
        .map(f64::exp);
        let RatioComparison { ratio, p_value } = unpaired_ratio_comparison(&a, &b, 0.95).unwrap();
        assert!((p_value.unwrap() - 0.021378001462866728).abs() < 1e-10);
        assert!((ratio.low.unwrap().ln() + 3.984096267140931).abs() < 1e-8);
        assert!((ratio.high.unwrap().ln() + 0.3492370661924118).abs() < 1e-8);
        assert_eq!((ratio.method, ratio.replicates), (Method::WelchLogRatio, 15));
    }

    /// By the same independent incomplete beta function.
    #[test]
    fn sides_of_four_and_five() {
        let (a, b) = ([12.1, 11.8, 13.0, 12.4], [13.0, 12.9, 13.1, 13.6, 13.3]);
        let RatioComparison { ratio, p_value } = unpaired_ratio_comparison(&a, &b, 0.95).unwrap();
        assert!((p_value.unwrap() - 0.038004131369261125).abs() < 1e-9);
        assert!((ratio.low.unwrap() - 0.8788400000748894).abs() < 1e-9);
        assert!((ratio.high.unwrap() - 0.9940962351951694).abs() < 1e-9);
    }

    #[test]
    fn too_few_replicates_are_a_ratio_and_no_verdict() {
        let few = unpaired_ratio_comparison(&[2.0, 8.0], &[1.0, 1.0, 1.0], 0.95).unwrap();
        assert_eq!((few.p_value, few.ratio.low, few.ratio.replicates), (None, None, 2));
        assert!((few.ratio.value - 4.0).abs() < 1e-12);
        assert_eq!(unpaired_ratio_comparison(&[], &[1.0], 0.95), None);
        assert_eq!(unpaired_ratio_comparison(&[-1.0; 3], &[1.0; 3], 0.95), None);
        let equal = unpaired_ratio_comparison(&[2.0; 3], &[2.0; 4], 0.95).unwrap();
        assert_eq!(equal.p_value, Some(1.0));
    }
}
