//! Draws trial times: what a machine adds to the true times, and blocks as the laboratory runs
//! them.

use rand::SeedableRng;
use rand::distr::Distribution;
use rand::rngs::Xoshiro256PlusPlus;
use statrs::distribution::{Bernoulli, LogNormal};

/// A second mode of a trial's time, such as a plan that is sometimes worse.
#[derive(Debug, Clone, Copy)]
pub struct SlowMode {
    pub probability: f64,
    pub factor: f64,
    /// Whether b has it too, or a alone.
    pub both: bool,
}

/// What a machine adds to the times it measures. All effects multiply; each deviation is that of
/// the logarithm, 0.05 for 5%.
#[derive(Debug, Clone, Copy, Default)]
pub struct Noise {
    pub trial: f64,
    /// Of a block, on both engines and all levels alike.
    pub block: f64,
    /// Of one start of an engine, on all its levels in a block alike.
    pub start: f64,
    pub slow_mode: Option<SlowMode>,
}

impl Noise {
    /// The standard deviation of the paired differences of logarithms, without a slow mode.
    pub fn paired_deviation(&self) -> f64 {
        (2.0 * (self.trial.powi(2) + self.start.powi(2))).sqrt()
    }
}

/// Times of a and b by block.
pub type Times = (Vec<f64>, Vec<f64>);

pub struct Machine {
    generator: Xoshiro256PlusPlus,
    noise: Noise,
}

impl Machine {
    pub fn new(seed: u64, noise: Noise) -> Self {
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(seed), noise }
    }

    /// Blocks in which both engines are started once and run at every level. `ratio` is the true
    /// a/b, and b's noiseless time is 1. Returns the times at each level.
    pub fn run_blocks(
        &mut self,
        levels: &[f64],
        blocks: usize,
        ratio: impl Fn(f64) -> f64,
    ) -> Vec<Times> {
        let slow_for_b = self.noise.slow_mode.filter(|mode| mode.both);
        let mut times = vec![(Vec::new(), Vec::new()); levels.len()];
        for _ in 0..blocks {
            let block = self.factor(self.noise.block);
            let (start_a, start_b) = (self.factor(self.noise.start), self.factor(self.noise.start));
            for (level, (a, b)) in levels.iter().zip(&mut times) {
                a.push(ratio(*level) * block * start_a * self.trial(self.noise.slow_mode));
                b.push(block * start_b * self.trial(slow_for_b));
            }
        }
        times
    }

    pub fn happens(&mut self, probability: f64) -> bool {
        Bernoulli::new(probability).unwrap().sample(&mut self.generator)
    }

    fn trial(&mut self, slow_mode: Option<SlowMode>) -> f64 {
        let slow =
            slow_mode.filter(|mode| self.happens(mode.probability)).map_or(1.0, |mode| mode.factor);
        slow * self.factor(self.noise.trial)
    }

    fn factor(&mut self, deviation: f64) -> f64 {
        if deviation == 0.0 {
            return 1.0;
        }
        LogNormal::new(0.0, deviation).unwrap().sample(&mut self.generator)
    }
}
