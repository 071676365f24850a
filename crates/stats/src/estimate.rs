//! An estimate: a value with the interval that the replicates support, and how it was made.
//! A replicate is one treatment's response in one block, never a request inside a trial.

use serde::{Deserialize, Serialize};

use crate::student_t::{Sample, two_sided_quantile};

/// Under this many replicates no interval is given, only the range (METHOD.md, section 5).
pub const INTERVAL_MIN_REPLICATES: usize = 5;

/// How the bounds of an [`Estimate`] were made. The report page knows these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub enum Method {
    /// The mean and its interval by Student's t.
    StudentT,
    /// The geometric mean and its interval by Student's t on logarithms.
    StudentTLog,
    /// A ratio: Student's t on the paired differences of logarithms.
    StudentTLogRatio,
    /// A ratio without pairs: Welch's t on logarithms.
    WelchLogRatio,
    /// Bias-corrected and accelerated bootstrap, from 20 replicates.
    Bca,
    /// Too few replicates for an interval: the bounds are the smallest and the largest one.
    RangeOnly,
}

/// A value with its interval. Units are those of the replicates; a ratio has none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Estimate {
    pub value: f64,
    /// Lower bound: of the interval, or of the range for [`Method::RangeOnly`].
    /// None with one replicate only.
    pub low: Option<f64>,
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
    /// Of a ratio a/b the ratio b/a.
    #[must_use]
    pub fn inverse(self) -> Self {
        let of = |bound: Option<f64>| bound.map(|bound| 1.0 / bound);
        Self { value: 1.0 / self.value, low: of(self.high), high: of(self.low), ..self }
    }

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

/// The geometric mean of positive replicates with its interval by Student's t on their logarithms,
/// or with their range when there are fewer than [`INTERVAL_MIN_REPLICATES`]. No bound is ever
/// negative, and the ratio of two such values is what [`crate::ratio_comparison`] estimates.
///
/// None if there are no replicates, one is not finite and positive, or `confidence_level` is not
/// strictly between 0 and 1.
pub fn geometric_mean_estimate(replicates: &[f64], confidence_level: f64) -> Option<Estimate> {
    let of_logarithms = mean_estimate(&logarithms(replicates)?, confidence_level)?;
    let value = of_logarithms.value.exp();
    if of_logarithms.method == Method::RangeOnly {
        return Some(Estimate::range_only(value, replicates));
    }
    Some(Estimate {
        value,
        low: of_logarithms.low.map(f64::exp),
        high: of_logarithms.high.map(f64::exp),
        method: Method::StudentTLog,
        ..of_logarithms
    })
}

/// None where there are none, or where one has no meaning.
pub(crate) fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let positive = values.iter().all(|x| x.is_finite() && *x > 0.0);
    (positive && !values.is_empty()).then(|| values.iter().map(|x| x.ln()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SciPy 1.17.1: `t.interval(0.95, 6, mean(log(x)), sem(log(x)))`, exponentials.
    #[test]
    fn a_geometric_mean_has_an_interval_above_zero() {
        let times = [12.0, 0.4, 3.0, 55.0, 0.9, 7.0, 1.5];
        let estimate = geometric_mean_estimate(&times, 0.95).unwrap();
        assert_eq!((estimate.method, estimate.replicates), (Method::StudentTLog, 7));
        let arithmetic = mean_estimate(&times, 0.95).unwrap();
        assert!(arithmetic.low < Some(0.0) && estimate.low > Some(0.0));
        let expected = [3.576_440_453_5, 0.758_358_505_4, 16.866_595_715_4];
        let found = [estimate.value, estimate.low.unwrap(), estimate.high.unwrap()];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
        }
        assert_eq!(geometric_mean_estimate(&[1.0, 0.0, 2.0], 0.95), None);
        let few = geometric_mean_estimate(&[1.0, 4.0], 0.95).unwrap();
        assert_eq!((few.value, few.low, few.method), (2.0, Some(1.0), Method::RangeOnly));
    }

    /// Michelson's 100 measurements of the speed of light, in thousands of km/s less 299,
    /// times 1000: the data set Michelso of the NIST Statistical Reference Datasets.
    const MICHELSON: [u16; 100] = [
        850, 740, 900, 1070, 930, 850, 950, 980, 980, 880, 1000, 980, 930, 650, 760, 810, 1000,
        1000, 960, 960, 960, 940, 960, 940, 880, 800, 850, 880, 900, 840, 830, 790, 810, 880, 880,
        830, 800, 790, 760, 800, 880, 880, 880, 860, 720, 720, 620, 860, 970, 950, 880, 910, 850,
        870, 840, 840, 850, 840, 840, 840, 890, 810, 810, 820, 800, 770, 760, 740, 750, 760, 910,
        920, 890, 860, 880, 720, 840, 850, 850, 780, 890, 840, 780, 810, 760, 810, 790, 810, 820,
        850, 870, 870, 810, 740, 810, 940, 950, 800, 810, 870,
    ];

    fn michelson() -> Vec<f64> {
        MICHELSON.iter().map(|x| 299.0 + f64::from(*x) / 1000.0).collect()
    }

    /// Mean and standard deviation are NIST's certified values, the bounds SciPy's.
    #[test]
    fn mean_and_interval_of_the_nist_data_set() {
        let replicates = michelson();
        let sample = Sample::of(&replicates).unwrap();
        assert!((sample.mean - 299.8524).abs() < 1e-10);
        assert!((sample.standard_error * 10.0 - 0.0790105478190518).abs() < 1e-12);
        let at = |level| {
            let estimate = mean_estimate(&replicates, level).unwrap();
            assert_eq!((estimate.method, estimate.replicates), (Method::StudentT, 100));
            (estimate.low.unwrap(), estimate.high.unwrap())
        };
        let close = |found: (f64, f64), low: f64, high: f64| {
            assert!((found.0 - low).abs() < 1e-9 && (found.1 - high).abs() < 1e-9, "{found:?}");
        };
        close(at(0.95), 299.8367225931663, 299.86807740683366);
        close(at(0.99), 299.83164862660254, 299.87315137339743);
    }

    #[test]
    fn under_five_replicates_there_is_a_range_and_no_confidence() {
        let estimate = mean_estimate(&[3.0, 1.0, 2.0, 6.0], 0.95).unwrap();
        assert_eq!(estimate.method, Method::RangeOnly);
        assert_eq!((estimate.value, estimate.low, estimate.high), (3.0, Some(1.0), Some(6.0)));
        assert_eq!(estimate.confidence_level, 0.0);
        let single = mean_estimate(&[3.0], 0.95).unwrap();
        assert_eq!((single.value, single.low, single.high), (3.0, None, None));
        assert_eq!(mean_estimate(&[3.0; 5], 0.95).unwrap().method, Method::StudentT);
    }

    #[test]
    fn its_json_is_what_the_report_page_reads() {
        let estimate = mean_estimate(&[2.0, 4.0], 0.95).unwrap();
        let json = serde_json::to_string(&estimate).unwrap();
        let expected = concat!(
            r#"{"value":3.0,"low":2.0,"high":4.0,"confidence_level":0.0,"#,
            r#""method":"RangeOnly","replicates":2}"#
        );
        assert_eq!(json, expected);
    }

    #[test]
    fn nothing_is_estimated_from_nothing() {
        assert_eq!(mean_estimate(&[], 0.95), None);
        assert_eq!(mean_estimate(&[f64::NAN], 0.95), None);
        assert_eq!(mean_estimate(&[1.0, 2.0, 3.0, 4.0, f64::INFINITY], 0.95), None);
        assert_eq!(mean_estimate(&[1.0; 5], 1.0), None);
    }
}
