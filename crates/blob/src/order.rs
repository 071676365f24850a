//! The order in which blobs are taken.

use serde::{Deserialize, Serialize};

use crate::content::mix;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// 1, 2, 3 and so on; after the last the first again.
    Ascending,
    Descending,
    /// Any at any time, uniformly, with repetitions.
    Random {
        /// Another order for every number.
        seed: u64,
    },
    /// In random order each once, then in the same order again: what is read is cold once only.
    Once {
        /// Another order for every number.
        seed: u64,
    },
}

impl Order {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascending => "ascending",
            Self::Descending => "descending",
            Self::Random { .. } => "random",
            Self::Once { .. } => "random, each once",
        }
    }
}

/// The ids 1 to the largest in an order; it never ends.
#[derive(Clone, Debug)]
pub struct Ids {
    order: Order,
    largest: u64,
    /// The next id, or in random order how many there were.
    next: u64,
    /// The permutation of [`Order::Once`].
    shuffled: Vec<u64>,
}

impl Ids {
    /// Begins at `start` where the order has a beginning; `largest` is at least 1.
    #[must_use]
    pub fn new(order: Order, start: u64, largest: u64) -> Self {
        let largest = largest.max(1);
        let (next, shuffled) = match order {
            Order::Ascending | Order::Descending => (start.clamp(1, largest), Vec::new()),
            Order::Random { .. } => (0, Vec::new()),
            Order::Once { seed } => (0, shuffled(seed, largest)),
        };
        Self { order, largest, next, shuffled }
    }
}

impl Iterator for Ids {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let now = self.next;
        Some(match self.order {
            Order::Ascending => {
                self.next = if now >= self.largest { 1 } else { now + 1 };
                now
            }
            Order::Descending => {
                self.next = if now <= 1 { self.largest } else { now - 1 };
                now
            }
            Order::Random { seed } => {
                self.next += 1;
                1 + below(seed, now, self.largest)
            }
            Order::Once { .. } => {
                self.next = (now + 1) % self.largest;
                self.shuffled[now as usize]
            }
        })
    }
}

/// A uniform number below `end`, the `place`th of its stream (Lemire, "Fast Random Integer
/// Generation in an Interval", 2019; its bias of `end` in 2^64 is left).
fn below(seed: u64, place: u64, end: u64) -> u64 {
    let bits =
        mix(mix(seed ^ 0x006f_7264_6572).wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    ((u128::from(bits) * u128::from(end)) >> 64) as u64
}

/// The shuffle of Fisher and Yates.
fn shuffled(seed: u64, largest: u64) -> Vec<u64> {
    let mut ids: Vec<u64> = (1..=largest).collect();
    for place in (1..ids.len()).rev() {
        ids.swap(place, below(seed, place as u64, place as u64 + 1) as usize);
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(order: Order, start: u64, largest: u64, count: usize) -> Vec<u64> {
        Ids::new(order, start, largest).take(count).collect()
    }

    #[test]
    fn both_directions_begin_at_the_start_and_go_round() {
        assert_eq!(ids(Order::Ascending, 2, 3, 5), [2, 3, 1, 2, 3]);
        assert_eq!(ids(Order::Descending, 2, 3, 5), [2, 1, 3, 2, 1]);
        assert_eq!(ids(Order::Ascending, 9, 3, 2), [3, 1]);
    }

    #[test]
    fn a_random_order_is_even_over_ids_and_repeats_with_its_seed() {
        let order = Order::Random { seed: 1 };
        let mut counts = [0; 11];
        for id in ids(order, 1, 10, 10_000) {
            counts[id as usize] += 1;
        }
        assert!(counts[1..].iter().all(|count| (820..1180).contains(count)), "{counts:?}");
        assert_eq!(ids(order, 1, 1000, 50), ids(order, 1, 1000, 50));
        assert_ne!(ids(order, 1, 1000, 50), ids(Order::Random { seed: 2 }, 1, 1000, 50));
    }

    #[test]
    fn each_once_is_a_permutation_and_not_the_identity() {
        let mut taken = ids(Order::Once { seed: 1 }, 1, 100, 100);
        assert_ne!(taken, (1..=100).collect::<Vec<_>>());
        taken.sort_unstable();
        assert_eq!(taken, (1..=100).collect::<Vec<_>>());
        assert_eq!(ids(Order::Once { seed: 1 }, 1, 1, 3), [1, 1, 1]);
    }
}
