//! Arrival times of an open load: drawn beforehand from a seed, independent of the server
//! (Schroeder, Wierman, Harchol-Balter 2006).

use std::time::Duration;

use plan::{Arrivals, derive_seed};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng};

/// Distinguishes the seed of arrivals from those of the clients' orders.
const ARRIVALS: u64 = u64::MAX;

/// The times of arrival of one trial, counted from its start, without end.
pub struct Schedule {
    arrivals: Arrivals,
    per_second: f64,
    next: f64,
    count: u64,
    random: Xoshiro256PlusPlus,
}

impl Schedule {
    pub fn new(arrivals: Arrivals, per_second: f64, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, &[ARRIVALS]));
        Self { arrivals, per_second, next: 0.0, count: 0, random }
    }
}

impl Iterator for Schedule {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.next = match self.arrivals {
            // The inverse of the distribution; 1 - u is never 0.
            Arrivals::Poisson => {
                self.next - (1.0 - self.random.random::<f64>()).ln() / self.per_second
            }
            Arrivals::Uniform => self.count as f64 / self.per_second,
        };
        self.count += 1;
        Some(Duration::try_from_secs_f64(self.next).unwrap_or(Duration::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(arrivals: Arrivals, seed: u64, count: usize) -> Vec<f64> {
        let times: Vec<_> = Schedule::new(arrivals, 50.0, seed).take(count + 1).collect();
        times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect()
    }

    #[test]
    fn uniform_arrivals_are_a_metronome() {
        let gaps = gaps(Arrivals::Uniform, 1, 1_000);
        assert!(gaps.iter().all(|gap| (gap - 0.02).abs() < 1e-6));
    }

    #[test]
    fn poisson_arrivals_have_exponential_gaps() {
        // Mean and standard deviation of an exponential distribution are both 1 / rate; of
        // 100,000 gaps each is within 2% of it (more than four standard errors).
        let gaps = gaps(Arrivals::Poisson, 1, 100_000);
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 0.02 - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / 0.02 - 1.0).abs() < 0.02, "{variance}");
        // A share of 1/e is longer than the mean.
        let longer = gaps.iter().filter(|gap| **gap > 0.02).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1f64).exp()).abs() < 0.01, "{longer}");
    }

    #[test]
    fn arrivals_are_the_same_for_a_seed_and_differ_between_seeds() {
        assert_eq!(gaps(Arrivals::Poisson, 7, 100), gaps(Arrivals::Poisson, 7, 100));
        assert_ne!(gaps(Arrivals::Poisson, 7, 100), gaps(Arrivals::Poisson, 8, 100));
    }
}
