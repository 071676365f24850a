//! Holm's step-down correction: several verdicts, one chance of any false one.
//! Uniformly better than Bonferroni's and, like it, valid however the tests depend on each other.

/// Adjusted p-values, in the order given: reject where the adjusted value is at most the
/// significance wanted for the whole family. Values that are not numbers count as 1.
///
/// Source: Holm 1979, "A simple sequentially rejective multiple test procedure". The smallest
/// of m is multiplied by m, the next by m - 1 and so on; none falls below the one before it.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let clean = |p: f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| clean(p_values[i]).total_cmp(&clean(p_values[j])));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        largest = largest.max((clean(p_values[index]) * left).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}
