//! Screening of proposed indexes in a pilot: backward elimination, one index at a time, timed again
//! after each, so that of two that replace each other one stays. Nothing is concluded from its times: what
//! is kept is measured in blocks of its own.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::error::Result;

/// An index stays only if without it some statement takes longer by this factor: less is noise of a pilot,
/// and not worth what each write pays for an index.
const WORTH_KEEPING: f64 = 1.2;
/// Clocks and caches disturb times by as much.
const NOISE: Duration = Duration::from_micros(20);

/// The times of all statements with a set of indexes; none where a statement took too long.
pub type Times = Vec<Option<Duration>>;

/// Indexes that can be taken away and put back.
pub trait Indexes {
    /// The times with those that are there.
    fn times(&mut self) -> Result<Times>;
    /// Takes one away.
    fn remove(&mut self, index: usize) -> Result<()>;
    /// Puts the one that was removed last back.
    fn put_back(&mut self) -> Result<()>;
    /// Leaves the one that was removed last away.
    fn leave_away(&mut self) -> Result<()>;
}

/// The numbers of the indexes that stay, of `count`, the last one tried first. `weights` say how much each
/// statement counts; without any, equal factors count equally.
pub fn eliminate(
    count: usize,
    weights: Option<&[f64]>,
    indexes: &mut impl Indexes,
) -> Result<BTreeSet<usize>> {
    let mut kept: BTreeSet<usize> = (0..count).collect();
    let mut with = indexes.times()?;
    for index in (0..count).rev() {
        indexes.remove(index)?;
        let mut without = indexes.times()?;
        if is_needed(&with, &without, weights) {
            // Once more: another program may have disturbed either time.
            indexes.put_back()?;
            with = least(with, indexes.times()?);
            indexes.remove(index)?;
            without = least(without, indexes.times()?);
        }
        if is_needed(&with, &without, weights) {
            indexes.put_back()?;
        } else {
            indexes.leave_away()?;
            kept.remove(&index);
            with = without;
        }
    }
    Ok(kept)
}

fn least(one: Times, other: Times) -> Times {
    let least = |(one, other): (Option<Duration>, Option<Duration>)| match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    one.into_iter().zip(other).map(least).collect()
}

/// Whether some statement gains by the index, and all that differ do together: an index that serves one
/// may mislead the planner for others. Smaller differences are noise, which would add up.
fn is_needed(with: &Times, without: &Times, weights: Option<&[f64]>) -> bool {
    let weight = |index: usize| weights.and_then(|all| all.get(index)).copied();
    let pairs = || with.iter().copied().zip(without.iter().copied()).enumerate();
    let gain = |(index, (with, without))| -> f64 {
        match (is_slower(with, without), is_slower(without, with)) {
            (false, false) => 0.0,
            _ => cost(without, with, weight(index)) - cost(with, without, weight(index)),
        }
    };
    pairs().any(|(_, (with, without))| is_slower(with, without))
        && pairs().map(gain).sum::<f64>() > 0.0
}

/// Whether it takes longer without the index than with it, by more than noise.
fn is_slower(with: Option<Duration>, without: Option<Duration>) -> bool {
    match (with, without) {
        (Some(_), None) => true,
        (Some(with), Some(without)) => without > with.mul_f64(WORTH_KEEPING) + NOISE,
        (None, _) => false,
    }
}

/// The cost of a statement: its time as often as a log has it, without a log the logarithm, so that equal
/// factors count equally. A time too long counts as ten times the other one.
fn cost(time: Option<Duration>, other: Option<Duration>, weight: Option<f64>) -> f64 {
    const TOO_LONG: f64 = 10.0;
    let other = other.map_or(1.0, |other| other.as_secs_f64());
    let seconds = time.map_or(other * TOO_LONG, |time| time.as_secs_f64()) + NOISE.as_secs_f64();
    weight.map_or(seconds.ln(), |weight| seconds * weight)
}

#[cfg(test)]
mod tests {
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt as _, SeedableRng as _};

    use super::*;

    /// Indexes of which a formula says what each statement takes with those that are there.
    struct Formula<F> {
        there: BTreeSet<usize>,
        removed: Option<usize>,
        statements: usize,
        time: F,
    }

    impl<F: FnMut(usize, &BTreeSet<usize>) -> f64> Indexes for Formula<F> {
        fn times(&mut self) -> Result<Times> {
            let Self { there, statements, time, .. } = self;
            let ms = |ms: f64| Some(Duration::from_secs_f64(ms / 1e3));
            Ok((0..*statements).map(|statement| ms(time(statement, there))).collect())
        }

        fn remove(&mut self, index: usize) -> Result<()> {
            self.there.remove(&index);
            self.removed = Some(index);
            Ok(())
        }

        fn put_back(&mut self) -> Result<()> {
            self.there.extend(self.removed);
            Ok(())
        }

        fn leave_away(&mut self) -> Result<()> {
            Ok(())
        }
    }

    fn kept(
        count: usize,
        statements: usize,
        time: impl FnMut(usize, &BTreeSet<usize>) -> f64,
    ) -> Vec<usize> {
        let mut indexes = Formula { there: (0..count).collect(), removed: None, statements, time };
        let kept = eliminate(count, None, &mut indexes).unwrap();
        assert_eq!(kept, indexes.there);
        kept.into_iter().collect()
    }

    #[test]
    fn of_two_indexes_that_replace_each_other_one_stays() {
        let either = |_: usize, there: &BTreeSet<usize>| match there.is_empty() {
            true => 90.0,
            false => 1.0,
        };
        assert_eq!(kept(2, 1, either).len(), 1);
        let own = |statement: usize, there: &BTreeSet<usize>| match there.contains(&statement) {
            true => 1.0,
            false => 90.0,
        };
        assert_eq!(kept(2, 2, own), [0, 1]);
    }

    #[test]
    fn an_index_that_costs_others_more_than_it_gains_goes() {
        let mixed = |statement: usize, there: &BTreeSet<usize>| match (statement, there.len()) {
            (0, 1) => 15.0,
            (0, _) => 33.0,
            (1, 1) => 230.0,
            _ => 18.0,
        };
        assert!(kept(1, 2, mixed).is_empty());
    }

    #[test]
    fn noise_of_quick_statements_does_not_outweigh_a_gain() {
        let mixed = |statement: usize, there: &BTreeSet<usize>| match (statement, there.len()) {
            (0, 1) => 1.5,
            (0, _) => 14.0,
            (_, 1) => 0.016,
            _ => 0.007,
        };
        assert_eq!(kept(1, 5, mixed), [0]);
    }

    #[test]
    fn useless_indexes_do_not_stay() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(10);
        for _ in 0..200 {
            // Ten useless indexes, ten statements, noise of 3% by the least of three.
            let noisy = |_: usize, _: &BTreeSet<usize>| {
                (0..3).map(|_| random.random_range(9.7..10.3)).fold(20.0, f64::min)
            };
            assert!(kept(10, 10, noisy).is_empty());
        }
    }
}
