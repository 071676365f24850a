//! Random numbers: one generator per client, small enough to be copied when a transaction begins,
//! so that another attempt of it draws the same again.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng as _, SeedableRng as _};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// One client's, or one row's.
#[derive(Clone, Debug)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Paths that differ in any number give unrelated sequences.
    pub(crate) fn new(seed: u64, path: [u64; 3]) -> Self {
        let mut bytes = [0; 24];
        for (place, number) in bytes.chunks_exact_mut(8).zip(path) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        Self(Xoshiro256PlusPlus::seed_from_u64(xxh3_64_with_seed(&bytes, seed)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// From 0 to `bound` - 1. By multiplication: off by less than bound / 2^64.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next()) * u128::from(bound);
        (product >> 64) as u64
    }

    /// From 0 up to, not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}
