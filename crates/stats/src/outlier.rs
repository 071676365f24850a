//! Grubbs' test: whether the one value farthest from the mean of its siblings is too far for chance.

use statrs::statistics::Statistics;

use crate::student_t::quantile;

/// The index of the value farthest from the mean, if it is an outlier: Grubbs' statistic
/// |value - mean| / s beyond its two-sided critical value. `significance` is the chance to call
/// one out of normal values; divide it by the number of samples that are looked at.
///
/// None under five values, where the test has hardly any power, and for values that are not finite.
///
/// Grubbs, "Procedures for Detecting Outlying Observations in Samples", Technometrics 1969; the
/// critical value as in the NIST/SEMATECH e-Handbook, section 1.3.5.17.1.
#[must_use]
pub fn outlier(values: &[f64], significance: f64) -> Option<usize> {
    let n = values.len() as f64;
    if values.len() < 5 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (mean, deviation) = (values.mean(), values.std_dev());
    let distance = |value: f64| (value - mean).abs() / deviation;
    let (index, farthest) = values
        .iter()
        .enumerate()
        .max_by(|(_, a), (_, b)| distance(**a).total_cmp(&distance(**b)))?;
    let t = quantile(1.0 - significance / (2.0 * n), n - 2.0)?;
    let critical = (n - 1.0) / n.sqrt() * (t * t / (n - 2.0 + t * t)).sqrt();
    (distance(*farthest) > critical).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The masses of the e-Handbook's example: G is 2.4687, the two-sided critical value of eight
    /// values at 5% is 2.126, at 0.01% it is above 2.47.
    #[test]
    fn the_handbooks_outlier_is_found_but_not_at_a_stricter_level() {
        let masses = [199.31, 199.53, 200.19, 200.82, 201.92, 201.95, 202.18, 245.57];
        assert_eq!(outlier(&masses, 0.05), Some(7));
        assert_eq!(outlier(&masses[..7], 0.05), None);
        assert_eq!(outlier(&masses, 1e-12), None);
    }

    #[test]
    fn equal_few_and_infinite_values_have_none() {
        assert_eq!(outlier(&[3.0; 7], 0.05), None);
        assert_eq!(outlier(&[1.0, 1.0, 1.0, 90.0], 0.05), None);
        assert_eq!(outlier(&[1.0, 1.1, 1.0, 1.2, f64::INFINITY, 1.0], 0.05), None);
    }
}
