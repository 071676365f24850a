//! Damage of a fault, and how sure a count of zero is.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Counts of one try or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    pub rows_lost: u64,
    pub rows_doubled: u64,
    pub panics: u64,
}

impl Damage {
    /// Rows that are expected against rows that are there; a row that changed is lost and another
    /// one doubled.
    pub fn of_rows(expected: (u64, u128), found: (u64, u128)) -> Self {
        let changed = u64::from(expected.0 == found.0 && expected.1 != found.1);
        Self {
            rows_lost: expected.0.saturating_sub(found.0) + changed,
            rows_doubled: found.0.saturating_sub(expected.0) + changed,
            panics: 0,
        }
    }
}

impl Add for Damage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            rows_lost: self.rows_lost + other.rows_lost,
            rows_doubled: self.rows_doubled + other.rows_doubled,
            panics: self.panics + other.panics,
        }
    }
}

impl AddAssign for Damage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Damage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// The largest share of tries with damage that none in `tries` leaves possible, at 95%: the
/// one-sided bound of Clopper and Pearson (1934).
pub fn bound_of_zero(tries: u64) -> f64 {
    1.0 - 0.05_f64.powf(1.0 / tries as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_about_three_by_the_number_of_tries() {
        assert!((bound_of_zero(1000) - 0.002_991).abs() < 1e-6, "{}", bound_of_zero(1000));
        assert!((bound_of_zero(1) - 0.95).abs() < 1e-12);
    }

    #[test]
    fn a_changed_row_is_lost_and_another_is_doubled() {
        let damage = |lost, doubled| Damage { rows_lost: lost, rows_doubled: doubled, panics: 0 };
        assert_eq!(Damage::of_rows((5, 1), (3, 2)), damage(2, 0));
        assert_eq!(Damage::of_rows((5, 1), (6, 2)), damage(0, 1));
        assert_eq!(Damage::of_rows((5, 1), (5, 2)), damage(1, 1));
        assert_eq!(Damage::of_rows((5, 1), (5, 1)), damage(0, 0));
    }
}
