//! Power of a comparison before it is measured: the smallest difference that it is likely to show.

use crate::estimate::{Estimate, INTERVAL_MIN_REPLICATES, Method};
use crate::student_t::{quantile, two_sided_quantile};

/// The standard deviation of the paired differences of logarithms behind the interval of a ratio;
/// none of a range.
pub fn log_deviation(ratio: &Estimate) -> Option<f64> {
    if ratio.method == Method::RangeOnly {
        return None;
    }
    let half_width = (ratio.high?.ln() - ratio.low?.ln()) / 2.0;
    let reach = two_sided_quantile(ratio.confidence_level, ratio.replicates as f64 - 1.0)?;
    Some(half_width / reach * (ratio.replicates as f64).sqrt())
}

/// The smallest difference, as a share of the other side (0.05: a ratio of 1.05), that a paired t
/// test of `blocks` shows with probability `power`, where the differences of logarithms have this
/// standard deviation and each of `verdicts` has Bonferroni's part of 1 - `confidence_level`.
///
/// None under 5 blocks. The usual formula of the sample size of a paired t test, as for the number
/// of blocks that would settle a comparison.
pub fn smallest_difference(
    blocks: usize,
    log_deviation: f64,
    verdicts: usize,
    confidence_level: f64,
    power: f64,
) -> Option<f64> {
    if blocks < INTERVAL_MIN_REPLICATES {
        return None;
    }
    let freedom = blocks as f64 - 1.0;
    let alpha = (1.0 - confidence_level) / verdicts.max(1) as f64;
    let needed = quantile(1.0 - alpha / 2.0, freedom)? + quantile(power, freedom)?;
    Some((needed * log_deviation / (blocks as f64).sqrt()).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The effect sizes that SciPy's noncentral t (`scipy.stats.nct`) gives for 90% power; the
    /// usual formula is up to 8% below them where blocks are few and verdicts many.
    #[test]
    fn differences_agree_with_exact_power() {
        for (blocks, verdicts, effect) in [(5, 1, 1.9659), (10, 1, 1.1546), (7, 12, 2.4188)] {
            let found = smallest_difference(blocks, 0.05, verdicts, 0.95, 0.9).unwrap();
            let expected = (effect * 0.05_f64).exp_m1();
            assert!(
                (found / expected - 1.0).abs() < 0.1,
                "{blocks} {verdicts}: {found} {expected}"
            );
        }
        assert_eq!(smallest_difference(4, 0.05, 1, 0.95, 0.9), None);
    }

    #[test]
    fn the_deviation_is_read_back_from_an_interval() {
        let a = [1.0, 1.1, 0.9, 1.05, 0.97];
        let ratio = crate::ratio_comparison(&a, &[1.0; 5], 0.95).unwrap().ratio;
        let logs: Vec<f64> = a.iter().map(|value: &f64| value.ln()).collect();
        let mean = logs.iter().sum::<f64>() / 5.0;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 4.0;
        assert!((log_deviation(&ratio).unwrap() / variance.sqrt() - 1.0).abs() < 1e-9);
        let few = crate::ratio_comparison(&a[..3], &[1.0; 3], 0.95).unwrap().ratio;
        assert_eq!(log_deviation(&few), None);
    }
}
