//! Distributions of the keys that a transaction chooses: sysbench's `--rand-type`, with its
//! defaults. Special and Pareto as sysbench 1.0's manual and options describe them, Zipfian (of
//! sysbench 1.1) by rejection-inversion: W. Hörmann, G. Derflinger, "Rejection-inversion to
//! generate variates from monotone discrete distributions", ACM TOMACS 6 (1996).

use plan::oltp::Distribution;

use crate::random::Random;

/// `--rand-spec-pct`: this percentage of the keys is special.
const SPECIAL_PERCENT: u64 = 1;
/// `--rand-spec-res`: this share of the draws falls on them.
const SPECIAL_DRAWS: f64 = 0.75;
/// `--rand-spec-iter`: each of the other draws is the mean of this many.
const BELL_DRAWS: u64 = 12;
/// `--rand-zipfian-exp` is 0.8; what is computed with is its difference to 1.
const ZIPF_REST: f64 = 0.2;
/// `--rand-pareto-h`.
const PARETO_H: f64 = 0.2;

/// Keys from 1 to a count, drawn by a distribution.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    count: u64,
    method: DrawMethod,
}

#[derive(Clone, Debug)]
enum DrawMethod {
    Uniform,
    Special,
    Zipfian(Zipf),
    /// The power to which a uniform number is raised.
    Pareto(f64),
}

impl Keys {
    /// Keys 1 to `count`, which is at least 1.
    pub(crate) fn new(distribution: Distribution, count: u32) -> Self {
        let count = u64::from(count.max(1));
        let method = match distribution {
            Distribution::Uniform => DrawMethod::Uniform,
            Distribution::Special => DrawMethod::Special,
            Distribution::Zipfian => DrawMethod::Zipfian(Zipf::new(count)),
            Distribution::Pareto => DrawMethod::Pareto(PARETO_H.ln() / (1.0 - PARETO_H).ln()),
        };
        Self { count, method }
    }

    pub(crate) fn draw(&self, random: &mut Random) -> u32 {
        let offset = match &self.method {
            DrawMethod::Uniform => random.below(self.count),
            DrawMethod::Special => self.special(random),
            DrawMethod::Zipfian(zipf) => zipf.draw(random) - 1,
            DrawMethod::Pareto(power) => {
                let offset = self.count as f64 * random.unit().powf(*power);
                (offset as u64).min(self.count - 1)
            }
        };
        // The count is one of 32 bits.
        offset as u32 + 1
    }

    fn special(&self, random: &mut Random) -> u64 {
        let decision = random.unit();
        if decision >= 1.0 - SPECIAL_DRAWS {
            // sysbench 1.0.20 takes the number that has decided for the place as well, as counting
            // its draws shows: the first quarter of the special keys is never drawn this way.
            let special = (self.count * SPECIAL_PERCENT / 100).max(1);
            return self.count / 2 - special / 2 + (decision * special as f64) as u64;
        }
        let sum: u64 = (0..BELL_DRAWS).map(|_| random.below(self.count)).sum();
        sum / BELL_DRAWS
    }
}

/// Rejection-inversion: a continuous variable with a density like r^-0.8 is drawn by inverting
/// its integral, rounded to a rank, and kept if the rank's own share covers it.
#[derive(Clone, Debug)]
struct Zipf {
    count: f64,
    /// The integral from the left end of rank 1, moved so that rank 1 is always kept.
    from: f64,
    /// The integral up to the right end of the last rank.
    to: f64,
    /// A draw that is not farther than this left of its rank is kept without a further check.
    kept_below: f64,
}

impl Zipf {
    fn new(count: u64) -> Self {
        let count = count as f64;
        Self {
            count,
            from: integral(1.5) - 1.0,
            to: integral(count + 0.5),
            kept_below: 2.0 - inverse(integral(2.5) - density(2.0)),
        }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let height = self.to + random.unit() * (self.from - self.to);
            let x = inverse(height);
            let rank = (x + 0.5).floor().clamp(1.0, self.count);
            if rank - x <= self.kept_below || height >= integral(rank + 0.5) - density(rank) {
                return rank as u64;
            }
        }
    }
}

/// r^-0.8.
fn density(x: f64) -> f64 {
    x.powf(ZIPF_REST - 1.0)
}

/// Of the density, from 1 to x.
fn integral(x: f64) -> f64 {
    (x.powf(ZIPF_REST) - 1.0) / ZIPF_REST
}

fn inverse(height: f64) -> f64 {
    // 1 / 0.2 is a whole number.
    (1.0 + height * ZIPF_REST).powi(5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DRAWS: u32 = 200_000;

    fn share(distribution: Distribution, count: u32, inside: impl Fn(u32) -> bool) -> f64 {
        let keys = Keys::new(distribution, count);
        let mut random = Random::new(7, [0, 0, 0]);
        let hits = (0..DRAWS).filter(|_| inside(keys.draw(&mut random))).count();
        hits as f64 / f64::from(DRAWS)
    }

    /// Six standard deviations of a share.
    fn near(share: f64, expected: f64) {
        let deviation = (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
        assert!((share - expected).abs() < 6.0 * deviation, "{share}, not {expected}");
    }

    #[test]
    fn the_shares_of_popular_keys_are_those_of_the_closed_forms() {
        near(share(Distribution::Uniform, 1_000, |key| key <= 100), 0.1);

        near(share(Distribution::Pareto, 1_000_000, |key| key <= 200_000), 0.8);
        near(share(Distribution::Pareto, 1_000_000, |key| key <= 40_000), 0.64);

        let harmonic = |to: u32| (1..=to).map(|rank| f64::from(rank).powf(-0.8)).sum::<f64>();
        for (count, popular) in [(10, 1), (1_000, 1), (1_000, 2), (1_000, 100), (100_000, 1_000)] {
            let expected = harmonic(popular) / harmonic(count);
            near(share(Distribution::Zipfian, count, |key| key <= popular), expected);
        }
    }

    #[test]
    fn special_keys_are_in_the_middle_and_the_others_around_them() {
        let count = 1_000_000;
        // Of the bell with a standard deviation of count / 12 the middle per cent holds 4.8%.
        let density = 12.0 / (2.0 * std::f64::consts::PI).sqrt();
        let middle = share(Distribution::Special, count, |key| (495_001..=505_000).contains(&key));
        let expected = 0.75 + 0.25 * 0.01 * density;
        assert!((middle - expected).abs() < 0.008, "{middle}, not {expected}");
        // As sysbench 1.0.20: 0.3749 of 200,000 draws.
        let left = share(Distribution::Special, count, |key| key <= count / 2);
        assert!((left - 0.375).abs() < 0.01, "{left}");
        let drawn = share(Distribution::Special, count, |key| (497_501..=505_000).contains(&key));
        assert!((drawn - 0.75 - 0.25 * 0.0075 * density).abs() < 0.008, "{drawn}");
        // One standard deviation to each side: 68% of the bell.
        let wide = share(Distribution::Special, count, |key| (416_667..=583_333).contains(&key));
        assert!((wide - (0.75 + 0.25 * 0.683)).abs() < 0.01, "{wide}");
    }

    proptest! {
        #![proptest_config(testing::cases(256))]

        #[test]
        fn every_key_is_in_range(count in 1u32..=u32::MAX, seed: u64, which in 0usize..4) {
            let keys = Keys::new(Distribution::ALL[which], count);
            let mut random = Random::new(seed, [1, 2, 3]);
            for _ in 0..200 {
                let key = keys.draw(&mut random);
                prop_assert!((1..=count).contains(&key));
            }
        }

        #[test]
        fn the_same_seed_draws_the_same_keys(seed: u64, which in 0usize..4) {
            let keys = Keys::new(Distribution::ALL[which], 1_000);
            let draw = || {
                let mut random = Random::new(seed, [0, 1, 0]);
                (0..50).map(|_| keys.draw(&mut random)).collect::<Vec<_>>()
            };
            prop_assert_eq!(draw(), draw());
        }
    }
}
