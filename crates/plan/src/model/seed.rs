//! Seeds of the parts of an experiment.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A seed of its own for one part of an experiment, e.g. `derive_seed(seed, &[block, treatment])`.
/// Parts that differ in any number, or in their count, get unrelated seeds.
#[must_use]
pub fn derive_seed(seed: u64, path: &[u64]) -> u64 {
    let bytes: Vec<u8> = path.iter().flat_map(|part| part.to_le_bytes()).collect();
    xxh3_64_with_seed(&bytes, seed)
}
