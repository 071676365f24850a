//! The order of an experiment, as a value: which treatments, in which block, in which order.
//! It follows from the plan and the seed alone, so an interrupted run can go on where it stopped.

use std::collections::BTreeMap;

use rand::seq::SliceRandom as _;
use rand::{SeedableRng as _, rngs::Xoshiro256PlusPlus};

use super::Design;
use crate::{Levels, Round, derive_seed};

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

impl Design<'_> {
    /// How many trials `rounds` hold.
    pub fn planned(&self, rounds: &[Round]) -> usize {
        rounds.iter().map(|round| self.treatments_at(&round.cells).len() * round.blocks).sum()
    }

    /// The trials of round `index` (from 0) in the order in which they run: in each block every engine
    /// is started once for each combination of its deployment's levels, in random order, and goes
    /// through its treatments in random order (a randomised complete block design).
    pub fn trials(&self, seed: u64, rounds: &[Round], index: usize) -> Vec<PlannedTrial> {
        let Some(round) = rounds.get(index) else { return Vec::new() };
        let before = rounds.get(..index).unwrap_or_default();
        let mut number = self.planned(before);
        let blocks_before: usize = before.iter().map(|round| round.blocks).sum();
        let mut starts: BTreeMap<(usize, Levels), Vec<Levels>> = BTreeMap::new();
        for (engine, levels) in self.treatments_at(&round.cells) {
            let start = (engine, self.deployment_levels(&levels));
            starts.entry(start).or_default().push(levels);
        }
        let mut trials = Vec::new();
        for block in blocks_before + 1..=blocks_before + round.blocks {
            let mut random =
                Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, &[BLOCKS, block as u64]));
            let mut order: Vec<(&(usize, Levels), &Vec<Levels>)> = starts.iter().collect();
            order.shuffle(&mut random);
            for ((engine, _), cells) in order {
                let mut cells = cells.clone();
                cells.shuffle(&mut random);
                for levels in cells {
                    number += 1;
                    trials.push(PlannedTrial { number, block, engine: *engine, levels });
                }
            }
        }
        trials
    }
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
    use crate::{Level, Plan};

    const FACTORS: &str = include_str!("../../../testing/fixtures/factors.toml");

    fn plan() -> Plan {
        let text = include_str!("../../../../experiments/article.toml");
        crate::read(text, "article.toml").unwrap()
    }

    #[test]
    fn each_block_holds_the_articles_24_treatments_once() {
        let plan = plan();
        let design = Design::of(&plan);
        let rounds = [design.first_round()];
        let trials = design.trials(1, &rounds, 0);
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
        let design = Design::of(&plan);
        let rounds = [design.first_round()];
        let once = design.trials(7, &rounds, 0);
        assert_eq!(once, design.trials(7, &rounds, 0));
        assert_ne!(once, design.trials(8, &rounds, 0));
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
        let design = Design::of(&plan);
        let first = design.first_round();
        let mut cell = first.cells[0].clone();
        cell.insert("days".to_owned(), Level::Number(120.0));
        let rounds = [first, Round { cells: vec![cell], blocks: plan.replicates }];
        let second = design.trials(1, &rounds, 1);
        assert_eq!(second.len(), 2 * plan.replicates);
        assert_eq!(second[0].number, 24 * plan.replicates + 1);
        assert_eq!(second[0].block, plan.replicates + 1);
    }

    /// With a factor that acts on SQLite alone.
    fn factors() -> Plan {
        let alone = "analyze = { levels = [\"on\", \"off\"], alone = true }";
        let text = FACTORS
            .replace("\"sqlite\"", "\"sqlite[analyze={analyze}]\"")
            .replace("days = ", &format!("{alone}\ndays = "))
            .replace("[31, 90, 365]", "[7, 31]");
        crate::read(&text, "factors.toml").unwrap()
    }

    #[test]
    fn factors_alone_vary_one_at_a_time_without_duplicates() {
        let plan = factors();
        let design = Design::of(&plan);
        let cells = design.cells();
        // The base and three variations, each with two periods.
        assert_eq!(cells.len(), 8);
        let shown: Vec<String> = design
            .treatments()
            .iter()
            .map(|(engine, levels)| {
                let levels: Vec<String> = levels.values().map(ToString::to_string).collect();
                format!("{engine}: {}", levels.join(" "))
            })
            .collect();
        // analyze days memory release
        let expected = [
            "0: on 7 4MB 18",
            "0: on 31 4MB 18",
            "0: off 7 4MB 18",
            "0: off 31 4MB 18",
            "1: on 7 4MB 18",
            "1: on 31 4MB 18",
            "1: on 7 16MB 18",
            "1: on 31 16MB 18",
            "1: on 7 4MB 14",
            "1: on 31 4MB 14",
        ];
        let shown: BTreeSet<&str> = shown.iter().map(String::as_str).collect();
        assert_eq!(shown, BTreeSet::from(expected));
    }

    #[test]
    fn each_deployment_combination_starts_once_in_each_block() {
        let plan = factors();
        let design = Design::of(&plan);
        let rounds = [design.first_round()];
        let all = design.trials(1, &rounds, 0);
        assert_eq!(all.len(), 10 * plan.replicates);
        for block in all.chunk_by(|a, b| a.block == b.block) {
            let start = |t: &PlannedTrial| (t.engine, design.deployment_levels(&t.levels));
            let starts = block.chunk_by(|a, b| start(a) == start(b)).count();
            let distinct: BTreeSet<_> = block.iter().map(start).collect();
            assert_eq!((starts, distinct.len()), (5, 5));
        }
        let engine = plan.engine_at(1, &plan.base()).unwrap();
        assert_eq!(engine.to_string(), "postgres:18[work_mem=4MB,label=pg]");
        assert_eq!(engine.label(), "pg");
    }

    #[test]
    fn a_precision_begins_with_ten_blocks() {
        let mut plan = plan();
        assert_eq!(plan.first_blocks(), 7);
        plan.precision = Some(crate::Percent(0.03));
        assert_eq!(plan.first_blocks(), 10);
    }
}
