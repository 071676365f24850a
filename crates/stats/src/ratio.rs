//! The ratio of two treatments measured in the same blocks, with its interval and p-value.
//! Logarithms make a/b and b/a say the same thing; pairing removes what a block did to both.

use serde::{Deserialize, Serialize};

use crate::estimate::{Estimate, INTERVAL_MIN_REPLICATES, Method};
use crate::student_t::{Sample, two_sided_quantile};

/// How a compares to b: the ratio a/b and the evidence that it is not one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// a/b: the geometric mean over blocks. Below one, a is smaller (faster, if times).
    pub ratio: Estimate,
    /// Two-sided p-value of the hypothesis that the ratio is one, before any correction for
    /// several verdicts ([`crate::holm`]). None under 5 blocks.
    pub p_value: Option<f64>,
}

/// Compares `a` with `b`, paired: `a[i]` and `b[i]` were measured in the same block.
///
/// None if the lengths differ, there are no pairs, a value is not finite and positive, or
/// `confidence_level` is not strictly between 0 and 1.
pub fn ratio_comparison(a: &[f64], b: &[f64], confidence_level: f64) -> Option<Comparison> {
    let differences = log_differences(a, b)?;
    if let [only] = differences[..] {
        let ratio = only.exp();
        return Some(Comparison { ratio: Estimate::range_only(ratio, &[ratio]), p_value: None });
    }
    let sample = Sample::of(&differences)?;
    let quantile = two_sided_quantile(confidence_level, sample.freedom)?;
    if differences.len() < INTERVAL_MIN_REPLICATES {
        let ratios: Vec<f64> = differences.iter().map(|d| d.exp()).collect();
        let ratio = Estimate::range_only(sample.mean.exp(), &ratios);
        return Some(Comparison { ratio, p_value: None });
    }
    let half_width = quantile * sample.standard_error;
    let ratio = Estimate {
        value: sample.mean.exp(),
        low: Some((sample.mean - half_width).exp()),
        high: Some((sample.mean + half_width).exp()),
        confidence_level,
        method: Method::StudentTLogRatio,
        replicates: differences.len(),
    };
    Some(Comparison { ratio, p_value: Some(sample.two_sided_p()?) })
}

/// `ln(a[i]) - ln(b[i])` for each block, or None where that has no meaning.
pub(crate) fn log_differences(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let positive = |values: &[f64]| values.iter().all(|x| x.is_finite() && *x > 0.0);
    if a.is_empty() || a.len() != b.len() || !positive(a) || !positive(b) {
        return None;
    }
    Some(a.iter().zip(b).map(|(a, b)| a.ln() - b.ln()).collect())
}
