//! Zipf's law: the k-th in rank has a share in proportion to 1 / k^exponent.

use super::random::RandomStream;

/// The weights of `count` ranks, the first being 1.
pub fn weights(count: usize, exponent: f64) -> Vec<f64> {
    (1..=count).map(|rank| libm::pow(rank as f64, -exponent)).collect()
}

/// Picks ranks (from 0) at random by these weights.
pub struct ZipfLaw {
    cumulative: Vec<f64>,
}

impl ZipfLaw {
    /// For `count` ranks, at least one.
    pub fn new(count: usize, exponent: f64) -> Self {
        let sum = |sum: &mut f64, weight| {
            *sum += weight;
            Some(*sum)
        };
        Self { cumulative: weights(count, exponent).into_iter().scan(0.0, sum).collect() }
    }

    /// A rank from 0 to `count` - 1.
    pub fn pick(&self, random: &mut RandomStream) -> usize {
        let last = self.cumulative.len() - 1;
        let point = random.unit() * self.cumulative[last];
        self.cumulative.partition_point(|&upto| upto <= point).min(last)
    }
}
