//! The order of an experiment, as a value: which treatments, in which block, in which order.
//! It follows from the plan and the seed alone, so an interrupted run can go on where it stopped.

use std::collections::BTreeMap;

use rand::seq::SliceRandom as _;
use rand::{SeedableRng as _, rngs::Xoshiro256PlusPlus};
use serde::{Deserialize, Serialize};

use crate::load::derive_seed;
use crate::plan::{Level, Plan};

/// One level of each factor.
pub type Levels = BTreeMap<String, Level>;

/// One planned trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTrial {
    /// Counts from 1 over the whole run.
    pub number: usize,
    /// Counts from 1 over the whole run.
    pub block: usize,
    /// Which of the plan's engines.
    pub engine: usize,
    /// The rest of the treatment.
    pub levels: Levels,
}

/// Blocks over one set of cells: first the plan's levels, later those that bisection adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// One level of each factor, for every treatment of one engine.
    pub cells: Vec<Levels>,
}

/// Every combination of the plan's levels.
pub fn first_round(plan: &Plan) -> Round {
    let mut cells = vec![Levels::new()];
    for (name, factor) in &plan.factors {
        cells = cells
            .iter()
            .flat_map(|cell| {
                factor.levels.iter().map(|level| {
                    let mut cell = cell.clone();
                    cell.insert(name.clone(), level.clone());
                    cell
                })
            })
            .collect();
    }
    Round { cells }
}

/// The trials of round `index` (from 0) in the order in which they run: in each block every engine
/// once, in random order, and its cells in random order (a randomised complete block design).
pub fn trials(plan: &Plan, seed: u64, rounds: &[Round], index: usize) -> Vec<PlannedTrial> {
    let engines = plan.engines.len();
    let before: usize = rounds.iter().take(index).map(|round| round.cells.len()).sum();
    let mut number = before * engines * plan.replicates;
    let Some(round) = rounds.get(index) else { return Vec::new() };
    let mut trials = Vec::new();
    for replicate in 1..=plan.replicates {
        let block = index * plan.replicates + replicate;
        let mut random =
            Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, &[BLOCKS, block as u64]));
        let mut order: Vec<usize> = (0..engines).collect();
        order.shuffle(&mut random);
        for engine in order {
            let mut cells = round.cells.clone();
            cells.shuffle(&mut random);
            for levels in cells {
                number += 1;
                trials.push(PlannedTrial { number, block, engine, levels });
            }
        }
    }
    trials
}

/// The seed of one trial's load.
pub fn trial_seed(seed: u64, number: usize) -> u64 {
    derive_seed(seed, &[TRIALS, number as u64])
}

/// Blocks and trials draw from seeds that have nothing in common.
const BLOCKS: u64 = 1;
const TRIALS: u64 = 2;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn plan() -> Plan {
        let text = include_str!("../../../experiments/article.toml");
        crate::plan::read(text, "article.toml").unwrap()
    }

    #[test]
    fn the_article_has_24_treatments_and_each_block_holds_all_of_them_once() {
        let plan = plan();
        let rounds = [first_round(&plan)];
        let trials = trials(&plan, 1, &rounds, 0);
        assert_eq!(trials.len(), 24 * plan.replicates);
        for block in trials.chunk_by(|a, b| a.block == b.block) {
            let treatments: BTreeSet<_> = block.iter().map(|t| (t.engine, &t.levels)).collect();
            assert_eq!(treatments.len(), 24);
            // Every engine is started once: its trials stand together.
            assert_eq!(block.chunk_by(|a, b| a.engine == b.engine).count(), 2);
        }
        let numbers: Vec<usize> = trials.iter().map(|trial| trial.number).collect();
        assert_eq!(numbers, (1..=trials.len()).collect::<Vec<_>>());
    }

    #[test]
    fn orders_differ_between_blocks_and_come_back_with_the_seed() {
        let plan = plan();
        let rounds = [first_round(&plan)];
        let once = trials(&plan, 7, &rounds, 0);
        assert_eq!(once, trials(&plan, 7, &rounds, 0));
        assert_ne!(once, trials(&plan, 8, &rounds, 0));
        let orders: BTreeSet<Vec<_>> = once
            .chunk_by(|a, b| a.block == b.block)
            .map(|block| block.iter().map(|t| (t.engine, t.levels.clone())).collect())
            .collect();
        assert_eq!(orders.len(), plan.replicates);
        let first: BTreeSet<usize> =
            once.chunk_by(|a, b| a.block == b.block).map(|block| block[0].engine).collect();
        assert_eq!(first.len(), 2, "each engine is the first of a block now and then");
    }

    #[test]
    fn a_later_round_continues_blocks_and_numbers() {
        let plan = plan();
        let first = first_round(&plan);
        let mut cell = first.cells[0].clone();
        cell.insert("days".to_owned(), Level::Number(120.0));
        let rounds = [first, Round { cells: vec![cell] }];
        let second = trials(&plan, 1, &rounds, 1);
        assert_eq!(second.len(), 2 * plan.replicates);
        assert_eq!(second[0].number, 24 * plan.replicates + 1);
        assert_eq!(second[0].block, plan.replicates + 1);
    }
}
