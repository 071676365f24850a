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
