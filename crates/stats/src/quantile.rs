//! Sample quantiles, and when a percentile may be shown at all.

/// The quantile `p` of values sorted in ascending order, by Hyndman and Fan's type 7 (the
/// default of R, NumPy and spreadsheets): linear between the two nearest order statistics.
///
/// None if there are no values or `p` is not between 0 and 1.
/// Source: Hyndman, Fan 1996, "Sample Quantiles in Statistical Packages".
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    if sorted.is_empty() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let position = p * (sorted.len() - 1) as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    // Not below + (above - below) * share: that overflows where the values lie far apart.
    let share = position.fract();
    Some(if below == above { below } else { below * (1.0 - share) + above * share })
}

/// The fewest observations that support the percentile `p`, which is below 1.
pub fn percentile_min_observations(p: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 10")]
    let least = (OBSERVATIONS_BEYOND / (1.0 - p) - 1e-6).ceil() as u64;
    least
}

/// Observations that a percentile leaves beyond it where it may be shown.
const OBSERVATIONS_BEYOND: f64 = 10.0;

/// Whether a trial of `observations` may show the percentile `p` (0.99 for p99): it must leave at
/// least ten observations beyond it, 10/(1 - p) in all.
pub fn percentile_supported(p: f64, observations: usize) -> bool {
    // 1 - 0.99 is a little less than 0.01: without the tolerance 1,000 would not support p99.
    (0.0..1.0).contains(&p) && observations as f64 * (1.0 - p) >= OBSERVATIONS_BEYOND - 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The English Wikipedia's worked example ("Percentile", the variant C = 1, which is type 7):
    /// the 40th percentile of 15, 20, 35, 40, 50 is 29.
    #[test]
    fn textbook_example() {
        assert!((quantile(&[15.0, 20.0, 35.0, 40.0, 50.0], 0.4).unwrap() - 29.0).abs() < 1e-12);
    }

    /// NumPy 2.4.6: `numpy.quantile`, whose default is type 7.
    #[test]
    fn agrees_with_numpy() {
        let sorted = [0.4, 1.2, 3.1, 4.4, 4.4, 8.0, 9.7];
        let expected =
            [(0.0, 0.4), (0.05, 0.64), (0.25, 2.15), (0.5, 4.4), (0.9, 8.68), (0.99, 9.598)];
        for (p, expected) in expected {
            assert!((quantile(&sorted, p).unwrap() - expected).abs() < 1e-12, "{p}");
        }
        assert_eq!(quantile(&sorted, 1.0), Some(9.7));
        assert_eq!(quantile(&sorted, 1.1), None);
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn percentiles_need_ten_observations_beyond_them() {
        assert!(percentile_supported(0.5, 20) && !percentile_supported(0.5, 19));
        assert!(percentile_supported(0.99, 1_000) && !percentile_supported(0.99, 999));
        assert!(percentile_supported(0.999, 10_000) && !percentile_supported(0.999, 9_999));
        assert!(!percentile_supported(1.0, usize::MAX));
    }

    #[test]
    fn the_fewest_observations_support_their_percentile() {
        for (p, expected) in [(0.5, 20), (0.9, 100), (0.95, 200), (0.99, 1_000), (0.999, 10_000)] {
            let least = percentile_min_observations(p);
            assert_eq!(least, expected);
            assert!(percentile_supported(p, expected as usize));
            assert!(!percentile_supported(p, expected as usize - 1));
        }
    }
}
