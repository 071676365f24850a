//! How often a difference or an equality that is there is shown, by noise and blocks, and how
//! seldom an equality that is not there.

use stats::{equivalence, holm, ratio_comparison};

use crate::machine::{Machine, Noise};
use crate::{chance, repetitions};

const MARGIN: f64 = 0.05;
const SIGNIFICANCE: f64 = 0.05;
const BLOCKS: [usize; 4] = [5, 7, 10, 20];
const NOISES: [f64; 5] = [0.01, 0.02, 0.03, 0.05, 0.10];

/// Shares of comparisons, each among `family` of its kind that Holm corrects together, that are
/// shown to differ and shown to be equal where the true ratio is `ratio`.
fn shown(noise: f64, blocks: usize, family: usize, ratio: f64) -> (f64, f64) {
    let noise = Noise { trial: noise, ..Noise::default() };
    let mut machine = Machine::new(blocks as u64 + (noise.trial * 1e4) as u64, noise);
    let count = repetitions(2_000).div_ceil(family);
    let levels = vec![1.0; family];
    let (mut different, mut equal) = (0, 0);
    for _ in 0..count {
        let times = machine.run_blocks(&levels, blocks, |_| ratio);
        let (differences, equalities): (Vec<f64>, Vec<f64>) = times
            .iter()
            .map(|(a, b)| {
                let difference = ratio_comparison(a, b, 0.95).unwrap().p_value.unwrap();
                (difference, equivalence(a, b, MARGIN).unwrap().p_value)
            })
            .unzip();
        let below = |p: &f64| *p <= SIGNIFICANCE;
        different += holm(&differences).iter().filter(|p| below(p)).count();
        equal += holm(&equalities).iter().filter(|p| below(p)).count();
    }
    let all = (count * family) as f64;
    (different as f64 / all, equal as f64 / all)
}

/// The table of METHOD.md, section 8; what is there is shown the more often the less noise and the
/// more blocks there are.
#[test]
fn power_grows_with_blocks_and_falls_with_noise() {
    for family in [1, 12] {
        for noise in NOISES {
            let of = |blocks| {
                (shown(noise, blocks, family, 1.0).1, shown(noise, blocks, family, 1.05).0)
            };
            let all = BLOCKS.map(of);
            println!("{noise}, among {family}: equal, 5% different: {all:.2?}");
            let slack = chance(0.5, repetitions(2_000));
            for pair in all.windows(2) {
                assert!(pair[0].0 <= pair[1].0 + slack && pair[0].1 <= pair[1].1 + slack);
            }
        }
    }
    assert!(shown(0.01, 7, 1, 1.0).1 > 0.99);
    assert!(shown(0.10, 5, 1, 1.0).1 < 0.05);
}

/// At the margin's very edge equality is wrong, and shown in at most one of twenty.
#[test]
fn an_equality_that_is_not_there_is_seldom_shown() {
    let most = SIGNIFICANCE + chance(SIGNIFICANCE, repetitions(2_000));
    for noise in NOISES {
        for blocks in BLOCKS {
            let (_, equal) = shown(noise, blocks, 1, 1.0 + MARGIN);
            assert!(equal <= most, "{noise}, {blocks} blocks: {equal}");
        }
    }
}
