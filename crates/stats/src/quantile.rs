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

/// Whether a trial of so many observations may show the percentile `p` (0.99 for p99): it must
/// leave at least ten observations beyond it, 10/(1 - p) in all.
pub fn percentile_supported(p: f64, observations: usize) -> bool {
    // 1 - 0.99 is a little less than 0.01: without the tolerance 1,000 would not support p99.
    (0.0..1.0).contains(&p) && observations as f64 * (1.0 - p) >= 10.0 - 1e-9
}
