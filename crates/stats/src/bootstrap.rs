//! The BCa bootstrap: intervals for statistics that Student's t does not serve, such as the
//! median over blocks. Only from 20 replicates: with fewer it covers too seldom.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::estimate::{Estimate, Method};
use crate::quantile::quantile;

/// Fewer replicates than this give no bootstrap interval (DESIGN.md, Validity, 2).
pub const BOOTSTRAP_MIN_REPLICATES: usize = 20;

/// With 15,000 resamples the share beyond a 2.5% bound is itself known within a tenth of itself,
/// 95 times in 100: (1.96 / 0.1)^2 * 0.975 / 0.025 (the advice of Hesterberg 2015, section 5).
const RESAMPLES: usize = 15_000;

/// The interval of `statistic` over the replicates by the bias-corrected and accelerated
/// bootstrap. The same seed gives the same interval.
///
/// None under [`BOOTSTRAP_MIN_REPLICATES`] replicates, when one of them or a value of the
/// statistic is not finite, or `confidence_level` is not strictly between 0 and 1.
/// Source: Efron 1987; Efron, Tibshirani 1993, "An Introduction to the Bootstrap", 14.3.
pub fn bca_interval(
    replicates: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    confidence_level: f64,
    seed: u64,
) -> Option<Estimate> {
    let level_is_valid = confidence_level > 0.0 && confidence_level < 1.0;
    let finite = replicates.iter().all(|x| x.is_finite());
    if replicates.len() < BOOTSTRAP_MIN_REPLICATES || !finite || !level_is_valid {
        return None;
    }
    let value = statistic(replicates);
    let resampled = resampled_sorted(replicates, &statistic, seed);
    let all_finite = value.is_finite() && resampled.iter().all(|x| x.is_finite());
    if !all_finite {
        return None;
    }
    let normal = Normal::standard();
    let bias = normal.inverse_cdf(share_below(&resampled, value));
    let acceleration = acceleration(replicates, &statistic)?;
    let bound = |probability: f64| {
        let z = bias + normal.inverse_cdf(probability);
        let corrected = normal.cdf(bias + z / (1.0 - acceleration * z));
        quantile(&resampled, corrected)
    };
    let tail = (1.0 - confidence_level) / 2.0;
    Some(Estimate {
        value,
        low: Some(bound(tail)?.min(value)),
        high: Some(bound(1.0 - tail)?.max(value)),
        confidence_level,
        method: Method::Bca,
        replicates: replicates.len(),
    })
}

fn resampled_sorted(replicates: &[f64], statistic: &impl Fn(&[f64]) -> f64, seed: u64) -> Vec<f64> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut resample = vec![0.0; replicates.len()];
    let mut values: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            for slot in &mut resample {
                *slot = replicates[generator.random_range(0..replicates.len())];
            }
            statistic(&resample)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The share of resampled values below `value`, ties by half, kept off 0 and 1 so that its
/// normal quantile is finite.
fn share_below(resampled: &[f64], value: f64) -> f64 {
    let below = resampled.partition_point(|x| *x < value);
    let not_above = resampled.partition_point(|x| *x <= value);
    let count = resampled.len() as f64;
    ((below + not_above) as f64 / 2.0 / count).clamp(0.5 / count, 1.0 - 0.5 / count)
}

/// How fast the standard error changes with the value, by the jackknife. 0 where leaving any
/// one replicate out changes nothing.
fn acceleration(replicates: &[f64], statistic: &impl Fn(&[f64]) -> f64) -> Option<f64> {
    let left_out: Vec<f64> = (0..replicates.len())
        .map(|out| {
            let others = [&replicates[..out], &replicates[out + 1..]].concat();
            statistic(&others)
        })
        .collect();
    let mean = left_out.iter().sum::<f64>() / left_out.len() as f64;
    let squares: f64 = left_out.iter().map(|x| (mean - x).powi(2)).sum();
    let cubes: f64 = left_out.iter().map(|x| (mean - x).powi(3)).sum();
    if squares == 0.0 {
        return Some(0.0);
    }
    let acceleration = cubes / (6.0 * squares.powf(1.5));
    acceleration.is_finite().then_some(acceleration)
}
