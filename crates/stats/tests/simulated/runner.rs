//! The laboratory's runner on a simulated machine: measures the grid, then bisects each bracket
//! with `next_level` as the real one does, until it is narrow or the levels planned are used up.

use stats::crossing::{
    AxisScale, Crossing, LevelResult, MOST_LEVELS_MORE, classify_planned, find, next_level,
};
use stats::{RatioComparison, ratio_comparison};

use crate::machine::{Machine, Times};

/// How a simulated experiment is run.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    pub grid: &'a [f64],
    pub blocks: usize,
    pub scale: AxisScale,
}

impl Plan<'_> {
    /// The verdicts that the experiment may come to hold.
    pub fn verdicts(&self) -> usize {
        self.grid.len() + MOST_LEVELS_MORE
    }
}

/// What an experiment ends with.
pub struct Outcome {
    pub levels: Vec<LevelResult>,
    pub crossings: Vec<Crossing>,
    /// The crossings after the grid alone, before any bisection.
    pub at_first: Vec<Crossing>,
}

/// Runs a whole experiment. Each round of bisection is measured in new blocks.
pub fn run(machine: &mut Machine, plan: &Plan<'_>, ratio: impl Fn(f64) -> f64) -> Outcome {
    let mut measured = measure(machine, plan.grid, plan.blocks, &ratio);
    let mut at_first = None;
    loop {
        let sweeps = std::slice::from_ref(&measured);
        let levels = classify_planned(sweeps, plan.verdicts(), 0.95).remove(0);
        let crossings = find(&levels, plan.scale);
        let at_first = at_first.get_or_insert_with(|| crossings.clone());
        let so_far: Vec<f64> = levels.iter().map(|result| result.level).collect();
        let wanted: Vec<f64> = crossings
            .iter()
            .filter_map(|crossing| next_level(crossing, &so_far, plan.scale, 0.15, true))
            .take(plan.verdicts() - so_far.len())
            .collect();
        if wanted.is_empty() {
            return Outcome { levels, crossings, at_first: at_first.clone() };
        }
        measured.extend(measure(machine, &wanted, plan.blocks, &ratio));
    }
}

fn measure(
    machine: &mut Machine,
    levels: &[f64],
    blocks: usize,
    ratio: impl Fn(f64) -> f64,
) -> Vec<(f64, RatioComparison)> {
    compare(levels, &machine.run_blocks(levels, blocks, ratio))
}

/// The comparison at each level.
pub fn compare(levels: &[f64], times: &[Times]) -> Vec<(f64, RatioComparison)> {
    let compared = times.iter().map(|(a, b)| ratio_comparison(a, b, 0.95).unwrap());
    levels.iter().copied().zip(compared).collect()
}
