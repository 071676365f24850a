//! Student's t distribution, as the intervals and the p-values of this crate need it.
//! The distribution itself is statrs's; here are only the two questions asked of it.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::statistics::Statistics;

/// The value that a t variable with `freedom` degrees of freedom stays under with `probability`.
/// None unless `freedom` is positive and `probability` strictly between 0 and 1.
pub(crate) fn quantile(probability: f64, freedom: f64) -> Option<f64> {
    if !(probability > 0.0 && probability < 1.0) {
        return None;
    }
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(probability))
}

/// How many standard errors a two-sided interval of this confidence level reaches each way.
pub(crate) fn two_sided_quantile(confidence_level: f64, freedom: f64) -> Option<f64> {
    if !(confidence_level > 0.0 && confidence_level < 1.0) {
        return None;
    }
    quantile(0.5 + confidence_level / 2.0, freedom)
}

/// The probability that a t variable lies above `t`.
pub(crate) fn upper_tail(t: f64, freedom: f64) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.sf(t))
}

/// Mean and standard error of replicates, the raw material of every t statistic here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub mean: f64,
    pub standard_error: f64,
    /// Degrees of freedom: replicates - 1.
    pub freedom: f64,
}

impl Sample {
    /// None under two replicates, or when one of them is not finite.
    pub fn of(replicates: &[f64]) -> Option<Self> {
        if replicates.len() < 2 || replicates.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let count = replicates.len() as f64;
        Some(Self {
            mean: replicates.mean(),
            standard_error: replicates.std_dev() / count.sqrt(),
            freedom: count - 1.0,
        })
    }

    /// The upper tail of t for the hypothesis that the true mean is `hypothesis`: small when the
    /// replicates lie above it. Without any spread it is 0, 1/2 or 1, as the mean lies above,
    /// on or below the hypothesis.
    pub fn upper_p(&self, hypothesis: f64) -> Option<f64> {
        let difference = self.mean - hypothesis;
        if self.standard_error == 0.0 {
            return Some(if difference == 0.0 { 0.5 } else { f64::from(difference < 0.0) });
        }
        upper_tail(difference / self.standard_error, self.freedom)
    }

    /// Two-sided p-value of the hypothesis that the true mean is zero.
    pub fn two_sided_p(&self) -> Option<f64> {
        let away = Self { mean: self.mean.abs(), ..*self };
        Some((2.0 * away.upper_p(0.0)?).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, to the three digits printed.
    #[test]
    fn quantiles_are_those_of_the_printed_table() {
        let table = [
            (0.975, 1.0, 12.706),
            (0.975, 4.0, 2.776),
            (0.975, 6.0, 2.447),
            (0.975, 9.0, 2.262),
            (0.975, 19.0, 2.093),
            (0.95, 4.0, 2.132),
            (0.90, 6.0, 1.440),
            (0.995, 4.0, 4.604),
            (0.999, 4.0, 7.173),
        ];
        for (probability, freedom, expected) in table {
            let found = quantile(probability, freedom).unwrap();
            assert!((found - expected).abs() < 6e-4, "{probability} {freedom}: {found}");
        }
    }

    /// SciPy 1.17.1: `scipy.stats.t.ppf` and `t.sf`, far out where Holm's correction reads them.
    #[test]
    fn far_tails_agree_with_scipy() {
        let quantiles =
            [(1.0 - 0.05 / 240.0, 6.0, 7.020961726911266), (1.0 - 1e-6, 4.0, 41.5778541501515)];
        for (probability, freedom, expected) in quantiles {
            let found = quantile(probability, freedom).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-9, "{probability} {freedom}: {found}");
        }
        let tails = [
            (2.0, 4.0, 0.05805826175840778),
            (12.0, 6.0, 1.0153703097686596e-05),
            (40.0, 19.0, 4.153878599669217e-20),
        ];
        for (t, freedom, expected) in tails {
            let found = upper_tail(t, freedom).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-9, "{t} {freedom}: {found}");
        }
    }

    #[test]
    fn impossible_questions_have_no_answer() {
        assert_eq!(quantile(1.0, 4.0), None);
        assert_eq!(quantile(f64::NAN, 4.0), None);
        assert_eq!(quantile(0.5, 0.0), None);
        assert_eq!(two_sided_quantile(-0.95, 4.0), None);
    }
}
