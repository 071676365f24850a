//! Steadiness of a trial's times: its second half against its first.

use record::Observations;

/// The geometric mean over operations of (mean response time of those sent in the second half of
/// the trial) by (that of the first half). `None` where an operation has no right answer in a half.
#[must_use]
pub fn second_half_ratio(observations: &Observations, operations: usize) -> Option<f64> {
    let middle_ns = observations.iter().map(|one| one.start_ns).max()? / 2;
    let mut sums = vec![[(0u64, 0u64); 2]; operations];
    for one in observations.iter().filter(|one| !one.outcome.is_failure()) {
        let half = usize::from(one.start_ns > middle_ns);
        let (count, sum) = sums.get_mut(usize::from(one.request))?.get_mut(half)?;
        *count += 1;
        *sum += one.response_time_ns;
    }
    let mut logarithms = 0.0;
    for [first, second] in &sums {
        let mean = |(count, sum): &(u64, u64)| (*count > 0).then(|| *sum as f64 / *count as f64);
        logarithms += (mean(second)? / mean(first)?).ln();
    }
    Some((logarithms / operations.max(1) as f64).exp()).filter(|ratio| ratio.is_finite())
}
