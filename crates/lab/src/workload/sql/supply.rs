//! Values of a statement that changes data: every value of a parameter once before any comes again,
//! and no combination twice, in an order that follows from the run's seed.

use serde::{Deserialize, Serialize};

use super::deck::Source;
use super::value::AnswerValue;
use plan::derive_seed;

/// Distinguishes these seeds from those of draws and deals.
const SUPPLY: u64 = u64::MAX - 3;

/// All values that a statement can be executed with.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Supply {
    /// The columns.
    sources: Vec<Source>,
    /// The order of each column's values.
    shuffles: Vec<Shuffle>,
    /// Columns from the longest to the shortest.
    by_length: Vec<usize>,
}

impl Supply {
    pub(crate) fn new(sources: Vec<Source>, seed: u64, operation: usize) -> Self {
        let sources: Vec<Source> = sources.into_iter().map(Source::distinct).collect();
        let lengths: Vec<u64> = sources.iter().map(Source::len).collect();

        let shuffle = |(column, length): (usize, &u64)| {
            let path = [SUPPLY, operation as u64, column as u64];
            Shuffle::new((*length).max(1), derive_seed(seed, &path))
        };
        let shuffles: Vec<Shuffle> = lengths.iter().enumerate().map(shuffle).collect();
        let mut by_length: Vec<usize> = (0..lengths.len()).collect();
        by_length.sort_by_key(|column| std::cmp::Reverse(lengths[*column]));
        Self { sources, shuffles, by_length }
    }

    /// The number of values of each column.
    pub(crate) fn lengths(&self) -> Vec<u64> {
        self.shuffles.iter().map(|shuffle| shuffle.length).collect()
    }

    /// The number of sets before one comes again.
    pub(crate) fn sets(&self) -> u64 {
        self.shuffles.iter().map(|shuffle| shuffle.length).fold(1, u64::saturating_mul)
    }

    /// Set number `number` of the statement's list, counted from 0 over all clients.
    pub(crate) fn set(&self, number: u64) -> Vec<AnswerValue> {
        let mut values = Vec::new();
        for (source, place) in self.sources.iter().zip(self.places(number)) {
            source.put(place, &mut values);
        }
        values
    }

    /// An odometer whose wheels turn together: the first column runs through its values, and each
    /// turn of it shifts the next column by one against it. So no combination comes twice.
    fn places(&self, number: u64) -> Vec<u64> {
        let mut places = vec![0; self.shuffles.len()];
        let (mut first, mut turns) = (None, number);
        for column in &self.by_length {
            let Some(shuffle) = self.shuffles.get(*column) else { continue };
            let from = u128::from(first.unwrap_or_default()) + u128::from(turns);
            #[expect(clippy::cast_possible_truncation, reason = "below the column's length")]
            let place = (from % u128::from(shuffle.length)) as u64;
            first = first.or(Some(place));
            turns /= shuffle.length;
            places[*column] = shuffle.at(place);
        }
        places
    }
}

/// A seeded permutation of the numbers below `length` that needs no memory: a Feistel network over
/// the next power of four, walked until a number is below it (Black and Rogaway, "Ciphers with
/// arbitrary finite domains").
#[derive(Clone, Serialize, Deserialize)]
struct Shuffle {
    length: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Shuffle {
    fn new(length: u64, seed: u64) -> Self {
        let bits = u64::BITS - (length - 1).leading_zeros();
        let keys = [0, 1, 2, 3].map(|round| derive_seed(seed, &[round]));
        Self { length, half_bits: bits.div_ceil(2).max(1), keys }
    }

    fn at(&self, place: u64) -> u64 {
        if self.length == 1 {
            return 0;
        }
        let mut place = self.mixed(place);
        while place >= self.length {
            place = self.mixed(place);
        }
        place
    }

    fn mixed(&self, place: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (place >> self.half_bits, place & mask);
        for key in self.keys {
            // The finaliser of MurmurHash3, by half.
            let mut hash = (right ^ key).wrapping_mul(0xff51_afd7_ed55_8ccd);
            hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
            (left, right) = (right, left ^ ((hash ^ (hash >> 29)) & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn numbers(supply: &Supply, count: u64) -> Vec<Vec<i64>> {
        let number = |value: AnswerValue| match value {
            AnswerValue::Integer(number) => number,
            other => panic!("{other}"),
        };
        let set = |number_of_set| supply.set(number_of_set).into_iter().map(number).collect();
        (0..count).map(set).collect()
    }

    #[test]
    fn every_value_comes_once_before_any_comes_again() {
        for length in [1, 2, 3, 10, 1_000, 4_096, 4_097] {
            let supply = Supply::new(vec![Source::Range(1, length)], 7, 0);
            let dealt = numbers(&supply, 2 * length.cast_unsigned());
            let (once, again) = dealt.split_at(dealt.len() / 2);
            let distinct: BTreeSet<_> = once.iter().collect();
            assert_eq!(distinct.len(), once.len(), "{length}");
            assert_eq!(once, again);
        }
        let order = |seed| numbers(&Supply::new(vec![Source::Range(1, 1_000)], seed, 0), 1_000);
        assert_ne!(order(7), order(8));
        assert_ne!(order(7), (1..=1_000).map(|one| vec![one]).collect::<Vec<_>>());
    }

    #[test]
    fn no_combination_comes_twice_and_each_value_once_first() {
        let sources = || {
            [Source::Range(1, 4), Source::Range(1, 10), Source::Range(5, 5), Source::Range(1, 6)]
        };
        let supply = Supply::new(sources().into(), 3, 1);
        assert_eq!((supply.sets(), supply.lengths()), (240, vec![4, 10, 1, 6]));
        let dealt = numbers(&supply, 240);
        assert_eq!(dealt.iter().collect::<BTreeSet<_>>().len(), 240);
        for (column, length) in [(0, 4), (1, 10), (3, 6)] {
            let first: BTreeSet<i64> = dealt[..length].iter().map(|set| set[column]).collect();
            assert_eq!(first.len(), length, "column {column}");
        }
    }

    #[test]
    fn a_huge_range_is_dealt_and_a_repeated_value_counts_once() {
        let huge = Supply::new(vec![Source::Range(i64::MIN, i64::MAX)], 1, 0);
        assert_eq!(numbers(&huge, 1_000).iter().collect::<BTreeSet<_>>().len(), 1_000);
        let twice = [1, 1, 2].map(AnswerValue::Integer).to_vec();
        assert_eq!(Supply::new(vec![Source::Values(twice)], 1, 0).sets(), 2);
        let given = [[1], [2], [3]].map(|set| set.map(AnswerValue::Integer).to_vec());
        let given = Supply::new(vec![Source::Sets(given.to_vec())], 1, 0);
        assert_eq!(numbers(&given, 3).iter().collect::<BTreeSet<_>>().len(), 3);
    }

    #[test]
    fn values_of_a_set_stay_together_beside_fresh_ones() {
        let sets = [[1, 10], [2, 20], [2, 20]].map(|set| set.map(AnswerValue::Integer).to_vec());
        let sources = vec![Source::Range(1_000, 1_099), Source::Sets(sets.to_vec())];
        let dealt = numbers(&Supply::new(sources, 1, 0), 100);
        assert_eq!(dealt.iter().map(|set| set[0]).collect::<BTreeSet<_>>().len(), 100);
        assert!(dealt.iter().all(|set| set[2] == 10 * set[1]));
        let of_one = dealt.iter().filter(|set| set[1] == 1).count();
        assert!((30..=37).contains(&of_one), "{of_one}");
    }
}
