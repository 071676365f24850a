//! An estimate: a value with the interval that the replicates support, and how it was made.
//! A replicate is one treatment's response in one block, never a request inside a trial.

use serde::{Deserialize, Serialize};

use crate::student_t::{Sample, two_sided_quantile};

/// Under this many replicates no interval is given, only the range (DESIGN.md, Validity, 2).
pub const INTERVAL_MIN_REPLICATES: usize = 5;

/// How the bounds of an [`Estimate`] were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The mean and its interval by Student's t.
    StudentT,
    /// A ratio: Student's t on the paired differences of logarithms.
    StudentTLogRatio,
    /// Bias-corrected and accelerated bootstrap, from 20 replicates.
    Bca,
    /// Too few replicates for an interval: the bounds are the smallest and the largest one.
    RangeOnly,
}

/// A value with its interval. Units are those of the replicates; a ratio has none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate itself.
    pub value: f64,
    /// Lower bound: of the interval, or of the range for [`Method::RangeOnly`].
    /// None with one replicate only.
    pub low: Option<f64>,
    /// Upper bound, likewise.
    pub high: Option<f64>,
    /// How often such intervals cover the truth, 0.95 for 95%. 0 for [`Method::RangeOnly`]:
    /// a range promises nothing.
    pub confidence_level: f64,
    /// How the bounds were made.
    pub method: Method,
    /// How many replicates (blocks) it rests on.
    pub replicates: usize,
}

impl Estimate {
    /// The value with the smallest and the largest replicate, for samples too small for more.
    pub(crate) fn range_only(value: f64, replicates: &[f64]) -> Self {
        let low = replicates.iter().copied().fold(f64::INFINITY, f64::min);
        let high = replicates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let several = replicates.len() > 1;
        Self {
            value: value.clamp(low, high),
            low: several.then_some(low),
            high: several.then_some(high),
            confidence_level: 0.0,
            method: Method::RangeOnly,
            replicates: replicates.len(),
        }
    }
}

/// The mean of replicates with its interval by Student's t, or with their range when there are
/// fewer than [`INTERVAL_MIN_REPLICATES`].
///
/// None if there are no replicates, one is not finite, or `confidence_level` is not strictly
/// between 0 and 1. Source: Student 1908; Georges, Buytaert, Eeckhout 2007, section 3.2.
pub fn mean_estimate(replicates: &[f64], confidence_level: f64) -> Option<Estimate> {
    if let [only] = replicates {
        return only.is_finite().then(|| Estimate::range_only(*only, replicates));
    }
    let sample = Sample::of(replicates)?;
    let quantile = two_sided_quantile(confidence_level, sample.freedom)?;
    if replicates.len() < INTERVAL_MIN_REPLICATES {
        return Some(Estimate::range_only(sample.mean, replicates));
    }
    let half_width = quantile * sample.standard_error;
    Some(Estimate {
        value: sample.mean,
        low: Some(sample.mean - half_width),
        high: Some(sample.mean + half_width),
        confidence_level,
        method: Method::StudentT,
        replicates: replicates.len(),
    })
}
