//! Content of a blob: bytes without structure that follow from (seed, id, generation) alone.

/// The odd constant of the golden ratio, by which the counter of SplitMix64 goes on.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA 2014). It is written out here since stored blobs depend on every bit of it.
pub(crate) fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Where the counter of one blob's stream begins.
fn stream(seed: u64, id: u64, generation: u64) -> u64 {
    mix(mix(mix(seed.wrapping_add(GOLDEN)).wrapping_add(id)).wrapping_add(generation))
}

/// The number at `place` of a stream.
fn word(stream: u64, place: u64) -> u64 {
    mix(stream.wrapping_add(place.wrapping_mul(GOLDEN)))
}

/// Fills `bytes` with the content of blob `id`: incompressible, and the same everywhere for the
/// same numbers. `generation` counts the updates: 0 is what `init` writes. A shorter blob is the
/// beginning of a longer one.
pub fn content(seed: u64, id: u64, generation: u64, bytes: &mut [u8]) {
    let stream = stream(seed, id, generation);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for (eight, place) in words.iter_mut().zip(1..) {
        *eight = word(stream, place).to_le_bytes();
    }
    let last = word(stream, words.len() as u64 + 1).to_le_bytes();
    rest.copy_from_slice(&last[..rest.len()]);
}

/// The newest generation, from `newest` down to 0, whose content `bytes` is; `None` if it is none
/// of them: wrong bytes.
#[must_use]
pub fn generation_of(seed: u64, id: u64, newest: u64, bytes: &[u8]) -> Option<u64> {
    (0..=newest).rev().find(|generation| is_content(seed, id, *generation, bytes))
}

fn is_content(seed: u64, id: u64, generation: u64, bytes: &[u8]) -> bool {
    let stream = stream(seed, id, generation);
    let (words, rest) = bytes.as_chunks::<8>();
    let last = word(stream, words.len() as u64 + 1).to_le_bytes();
    words.iter().zip(1..).all(|(eight, place)| *eight == word(stream, place).to_le_bytes())
        && last[..rest.len()] == *rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(seed: u64, id: u64, generation: u64, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0; bytes];
        content(seed, id, generation, &mut buffer);
        buffer
    }

    #[test]
    fn the_bytes_of_a_blob_are_the_same_for_ever() {
        // Stored blobs are checked against these: a change here makes every old file wrong.
        assert_eq!(made(1, 1, 0, 11), BLOB_1_OF_SEED_1);
        assert_eq!(made(1, 1, 0, 5), BLOB_1_OF_SEED_1[..5]);
    }

    const BLOB_1_OF_SEED_1: [u8; 11] = [55, 125, 150, 213, 224, 179, 69, 10, 243, 218, 55];

    #[test]
    fn seed_id_and_generation_each_make_other_bytes() {
        let blobs = [made(1, 1, 0, 64), made(2, 1, 0, 64), made(1, 2, 0, 64), made(1, 1, 1, 64)];
        for (place, blob) in blobs.iter().enumerate() {
            assert!(!blobs[..place].contains(blob));
        }
    }

    #[test]
    fn a_generation_is_told_by_its_bytes_and_wrong_bytes_by_none() {
        for bytes in [3, 8, 1000] {
            let mut blob = made(7, 5, 2, bytes);
            assert_eq!(generation_of(7, 5, 4, &blob), Some(2));
            assert_eq!(generation_of(7, 5, 1, &blob), None);
            *blob.last_mut().unwrap() ^= 1;
            assert_eq!(generation_of(7, 5, 4, &blob), None);
        }
    }

    #[test]
    fn the_content_does_not_compress() {
        // Each byte value as often as chance has it: 4096 expected, standard deviation 64.
        let mut counts = [0_i64; 256];
        for byte in made(1, 1, 0, 1 << 20) {
            counts[usize::from(byte)] += 1;
        }
        assert!(counts.iter().all(|count| (count - 4096).abs() < 6 * 64), "{counts:?}");
    }
}
