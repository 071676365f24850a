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

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_adjusted(p_values: &[f64], expected: &[f64]) {
        for (found, expected) in holm(p_values).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
        }
    }

    /// The example of the English Wikipedia, "Holm-Bonferroni method", with
    /// R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`.
    #[test]
    fn textbook_example() {
        assert_adjusted(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
    }

    /// statsmodels: `multipletests(p, method="holm")`; with ties.
    #[test]
    fn eight_values_agree_with_statsmodels() {
        assert_adjusted(
            &[0.0021, 0.012, 0.32, 0.0009, 0.04, 0.012, 0.71, 0.019],
            &[0.0147, 0.072, 0.64, 0.0072, 0.12, 0.072, 0.71, 0.076],
        );
    }

    #[test]
    fn what_is_no_number_rejects_nothing() {
        assert_eq!(holm(&[f64::NAN, 0.01]), vec![1.0, 0.02]);
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }
}
