//! Trials with noise drawn from a fixed seed.

use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;

use super::*;

/// All trials of a plan, with 4% of noise on what the block does to all; `time` is that of an engine
/// at a level of the swept factor `days`.
pub(super) fn noisy_trials(
    plan: &Plan,
    random: &mut Xoshiro256PlusPlus,
    time: impl Fn(usize, f64) -> f64,
) -> Vec<Trial> {
    let rounds = [plan.first_round()];
    let mut normal = || {
        let (u, v): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let blocks: Vec<f64> = (0..=plan.replicates).map(|_| 0.1 * normal()).collect();
    Design::of(plan)
        .trials(1, &rounds, 0)
        .iter()
        .map(|planned| {
            let days = planned.levels["days"].number().unwrap();
            let logarithm = blocks[planned.block] + 0.04 * normal();
            trial(plan, planned, time(planned.engine, days) * logarithm.exp())
        })
        .collect()
}
