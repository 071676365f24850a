//! Random numbers that depend only on the seed and their place, so the same seed gives the same
//! rows on every machine, in any order of computation.
//!
//! SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// The output function of SplitMix64: every bit of the result depends on every bit of `value`.
#[inline]
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// The state of the stream `state` after `steps` numbers: [`mix`] of it is the next one.
#[inline]
pub fn step(state: u64, steps: u64) -> u64 {
    state.wrapping_add(steps.wrapping_add(1).wrapping_mul(GAMMA))
}

/// An endless sequence of random numbers.
#[derive(Debug, Clone)]
pub struct RandomStream {
    state: u64,
}

impl RandomStream {
    /// A sequence that begins at `state`.
    pub fn new(state: u64) -> Self {
        Self { state }
    }

    /// The sequence that belongs to `place`, independent of those of other places.
    pub fn of(seed: u64, place: &str) -> Self {
        let state = place.bytes().fold(mix(seed), |state, byte| mix(step(state, u64::from(byte))));
        Self { state }
    }

    /// The next number, all 64 bits of it random.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// A whole number from 0 to `bound` - 1.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A number from 0 (included) to 1 (excluded).
    pub fn unit(&mut self) -> f64 {
        unit(self.next())
    }

    /// Brings `items` into a random order (Fisher, Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// A number from the Poisson distribution with this mean.
    ///
    /// Up to 30 by counting (Knuth, The Art of Computer Programming, 3.4.1); above by the normal
    /// approximation, whose error is then far below what anyone could see in traffic figures.
    pub fn poisson(&mut self, mean: f64) -> u32 {
        if mean > 30.0 {
            let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
            let normal = radius * libm::cos(2.0 * std::f64::consts::PI * self.unit());
            return (mean + normal * libm::sqrt(mean)).clamp(0.0, 1e6) as u32;
        }
        let limit = libm::exp(-mean);
        let mut product = self.unit();
        let mut count = 0;
        while product > limit {
            product *= self.unit();
            count += 1;
        }
        count
    }
}

/// The upper 53 bits as a number from 0 (included) to 1 (excluded).
#[inline]
pub fn unit(random: u64) -> f64 {
    (random >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // First numbers of the reference implementation for the state 1234567.
        let mut stream = RandomStream::new(1_234_567);
        assert_eq!(stream.next(), 6_457_827_717_110_365_317);
        assert_eq!(stream.next(), 3_203_168_211_198_807_973);
        assert_eq!(mix(step(1_234_567, 1)), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<usize> = (0..100).collect();
        RandomStream::of(1, "test").shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn poisson_has_its_mean_and_variance() {
        let mut stream = RandomStream::of(1, "poisson");
        for mean in [0.1, 3.0, 29.0, 31.0, 400.0] {
            let counts: Vec<f64> = (0..20_000).map(|_| f64::from(stream.poisson(mean))).collect();
            let average = counts.iter().sum::<f64>() / 20_000.0;
            let variance = counts.iter().map(|count| (count - average).powi(2)).sum::<f64>() / 2e4;
            // Six standard errors of the mean of 20,000.
            assert!((average - mean).abs() < 6.0 * (mean / 2e4).sqrt() + 0.01 * mean, "{average}");
            assert!((variance / mean - 1.0).abs() < 0.1, "{mean}: {variance}");
        }
    }
}
