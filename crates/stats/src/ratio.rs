//! The ratio of two treatments measured in the same blocks, with its interval and p-value.
//! Logarithms make a/b and b/a say the same thing; pairing removes what a block did to both.

use serde::{Deserialize, Serialize};

use crate::estimate::{Estimate, INTERVAL_MIN_REPLICATES, Method, logarithms};
use crate::student_t::{Sample, two_sided_quantile};

/// How a compares to b: the ratio a/b and the evidence that it is not one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatioComparison {
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
pub fn ratio_comparison(a: &[f64], b: &[f64], confidence_level: f64) -> Option<RatioComparison> {
    let differences = log_differences(a, b)?;
    if let [only] = differences[..] {
        let ratio = only.exp();
        return Some(RatioComparison {
            ratio: Estimate::range_only(ratio, &[ratio]),
            p_value: None,
        });
    }
    let sample = Sample::of(&differences)?;
    let quantile = two_sided_quantile(confidence_level, sample.freedom)?;
    if differences.len() < INTERVAL_MIN_REPLICATES {
        let ratios: Vec<f64> = differences.iter().map(|d| d.exp()).collect();
        let ratio = Estimate::range_only(sample.mean.exp(), &ratios);
        return Some(RatioComparison { ratio, p_value: None });
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
    Some(RatioComparison { ratio, p_value: Some(sample.two_sided_p()?) })
}

/// `ln(a[i]) - ln(b[i])` for each block, or None where that has no meaning.
pub(crate) fn log_differences(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let (a, b) = (logarithms(a)?, logarithms(b)?);
    (a.len() == b.len()).then(|| a.iter().zip(&b).map(|(a, b)| a - b).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
    }

    /// SciPy 1.17.1: `ttest_1samp(log(a) - log(b), 0)` and its confidence interval.
    #[test]
    fn seven_blocks_agree_with_scipy() {
        let a = [12.1, 11.8, 13.0, 12.4, 12.9, 11.9, 12.6];
        let b = [13.0, 12.9, 13.1, 13.6, 13.3, 13.4, 12.8];
        let RatioComparison { ratio, p_value } = ratio_comparison(&a, &b, 0.95).unwrap();
        assert_close(ratio.value, 0.94096984956304);
        assert_close(ratio.low.unwrap(), 0.9043669637544585);
        assert_close(ratio.high.unwrap(), 0.9790541818454666);
        assert_close(p_value.unwrap(), 0.009482782784036985);
        assert_eq!((ratio.method, ratio.replicates), (Method::StudentTLogRatio, 7));
    }

    /// Student's own sleep data (1908) as R's `t.test(paired = TRUE)` prints them: mean of the
    /// differences -1.58, p-value 0.002833, 95% from -2.4598858 to -0.7001142. Their exponentials
    /// are times whose logarithms are the data.
    #[test]
    fn students_sleep_data_as_r_prints_them() {
        let exp = |hours: [f64; 10]| hours.map(f64::exp);
        let a = exp([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]);
        let b = exp([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]);
        let RatioComparison { ratio, p_value } = ratio_comparison(&a, &b, 0.95).unwrap();
        assert!((ratio.value.ln() + 1.58).abs() < 1e-12);
        assert!((ratio.low.unwrap().ln() + 2.4598858).abs() < 5e-8);
        assert!((ratio.high.unwrap().ln() + 0.7001142).abs() < 5e-8);
        assert!((p_value.unwrap() - 0.002833).abs() < 5e-7);
    }

    #[test]
    fn what_a_block_does_to_both_leaves_no_trace() {
        let (a, b) = ([2.0, 2.1, 1.9, 2.0, 2.2], [1.0, 1.1, 1.0, 0.9, 1.0]);
        let blocks = [1.0, 7.0, 0.2, 31.0, 3.0];
        let slowed = |times: [f64; 5]| std::array::from_fn::<_, 5, _>(|i| times[i] * blocks[i]);
        let calm = ratio_comparison(&a, &b, 0.95).unwrap();
        let uneven = ratio_comparison(&slowed(a), &slowed(b), 0.95).unwrap();
        assert_close(uneven.ratio.low.unwrap(), calm.ratio.low.unwrap());
        assert_close(uneven.p_value.unwrap(), calm.p_value.unwrap());
    }

    #[test]
    fn without_spread_a_difference_has_p_0_and_equality_p_1() {
        let differs = ratio_comparison(&[2.0; 5], &[1.0; 5], 0.95).unwrap();
        assert_eq!((differs.p_value, differs.ratio.low), (Some(0.0), Some(differs.ratio.value)));
        let equal = ratio_comparison(&[2.0; 5], &[2.0; 5], 0.95).unwrap();
        assert_eq!(equal.p_value, Some(1.0));
    }

    #[test]
    fn under_five_blocks_there_is_a_range_and_no_verdict() {
        let comparison = ratio_comparison(&[2.0, 3.0], &[1.0, 1.0], 0.95).unwrap();
        assert_eq!(comparison.ratio.method, Method::RangeOnly);
        assert_eq!(comparison.p_value, None);
        assert_close(comparison.ratio.value, 6.0_f64.sqrt());
        assert_eq!(ratio_comparison(&[2.0], &[1.0], 0.95).unwrap().ratio.low, None);
    }

    #[test]
    fn meaningless_ratios_are_refused() {
        assert_eq!(ratio_comparison(&[1.0; 5], &[1.0; 4], 0.95), None);
        assert_eq!(ratio_comparison(&[1.0; 5], &[1.0, 1.0, 0.0, 1.0, 1.0], 0.95), None);
        assert_eq!(ratio_comparison(&[], &[], 0.95), None);
    }
}
