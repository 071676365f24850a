//! Selection of statements, steps, blocks and the length of a trial that fit the budget. Five blocks are
//! the least from which an interval can be had. Where they do not fit, expensive statements are measured
//! at fewer steps, and then statements are left out, the most expensive kept first.

use std::time::Duration;

use notation::counted;
use record::NotMeasured;

use crate::block_time::{TRIAL, TURN_OVERHEAD, TimedStatement, needed, treatments};
use crate::statement::MeasuredStatement;

/// The numbers of blocks that are tried, most first.
const BLOCKS: [u32; 3] = [10, 7, 5];
const BLOCKS_MIN: u32 = stats::INTERVAL_MIN_REPLICATES as u32;
/// A statement that is measured.
#[derive(Clone, Debug)]
pub struct ChosenStatement {
    pub statement: MeasuredStatement,
    /// How often it is executed in a round.
    pub weight: u32,
    /// By step whether it is executed there.
    pub steps: Vec<bool>,
}

#[derive(Clone, Debug, Default)]
pub struct Chosen {
    pub statements: Vec<ChosenStatement>,
    pub blocks: u32,
    /// Length of a trial, whole seconds.
    pub trial: Duration,
    /// Those that do not fit.
    pub left_out: Vec<NotMeasured>,
    /// Statements that are not measured at every step, and why.
    pub notes: Vec<String>,
    /// The time that five blocks are expected to take.
    pub expected: Duration,
    /// Of the same statements, for another choice.
    pub timed: Vec<TimedStatement>,
}

impl Chosen {
    /// A smaller choice for the time that is left, now that a block was seen to take longer than expected;
    /// none where nothing smaller is worth measuring.
    pub fn smaller(&self, block: Duration, best: &[usize], left: Duration) -> Option<Self> {
        let pace = (block * BLOCKS_MIN).as_secs_f64() / self.expected.as_secs_f64().max(1.0);
        let timed = self.timed.iter().map(|one| one.slowed(pace.max(1.0)));
        let mut smaller = choose(timed.collect(), best, left);
        smaller.notes.push(format!(
            "A block took {} s, longer than the pilot's times say, so the measurement began again with what \
             fits the rest of the budget.",
            block.as_secs()
        ));
        let size = |chosen: &Self| -> usize {
            let steps = chosen.statements.iter().flat_map(|one| &one.steps);
            steps.filter(|is_measured| **is_measured).count()
        };
        (!smaller.statements.is_empty() && size(&smaller) < size(self)).then_some(smaller)
    }

    /// Leaves the statement of this name out.
    pub fn remove(&mut self, name: &str) -> Option<MeasuredStatement> {
        self.timed.retain(|one| one.statement.name != name);
        let index = self.statements.iter().position(|one| one.statement.name == name)?;
        Some(self.statements.remove(index).statement)
    }
}

/// The time that the user waits for it: by a log's number of executions.
fn importance(one: &TimedStatement) -> Duration {
    let first = one.times.iter().flatten().flatten().next().copied();
    let executions = one.statement.executions.unwrap_or(1);
    one.longest(&one.steps)
        .max(first.unwrap_or_default())
        .saturating_mul(u32::try_from(executions).unwrap_or(u32::MAX))
}

/// Chooses what fits `budget`, of statements in their order. `best` are the steps of the engines at
/// their best.
pub fn choose(timed: Vec<TimedStatement>, best: &[usize], budget: Duration) -> Chosen {
    let with_steps = |one: TimedStatement| {
        let steps = one.steps.clone();
        (one, steps)
    };
    let mut taken: Vec<(TimedStatement, Vec<bool>)> = timed.into_iter().map(with_steps).collect();
    let mut left_out = Vec::new();
    let whole = needed(&taken, BLOCKS_MIN);
    fit_steps(&mut taken, best, budget);
    if !taken.is_empty() && needed(&taken, BLOCKS_MIN) > budget {
        let mut order: Vec<usize> = (0..taken.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(importance(&taken[*index].0)));
        let mut kept = vec![false; taken.len()];
        for index in order {
            kept[index] = true;
            let with: Vec<_> = only(&taken, &kept);
            if needed(&with, BLOCKS_MIN) > budget {
                kept[index] = false;
                left_out.push(taken[index].0.statement.left_out(why(&with)));
            }
        }
        taken = only(&taken, &kept);
    }
    let blocks = BLOCKS.into_iter().find(|blocks| needed(&taken, *blocks) <= budget);
    let blocks = blocks.unwrap_or(BLOCKS_MIN);
    let spare = budget.saturating_sub(needed(&taken, blocks));
    let trials = blocks * u32::try_from(treatments(&taken).len()).unwrap_or(u32::MAX);
    let trial = TRIAL.0 + spare.checked_div(trials.max(1)).unwrap_or_default();
    let notes = notes(&taken, whole);
    let expected = needed(&taken, BLOCKS_MIN);
    let timed = taken.iter().map(|(one, _)| one.clone()).collect();
    let statements = taken.into_iter().map(|(one, steps)| ChosenStatement {
        weight: one.weight(&steps),
        statement: one.statement,
        steps,
    });
    Chosen {
        statements: statements.collect(),
        blocks,
        trial: Duration::from_secs(trial.min(TRIAL.1).as_secs().max(1)),
        left_out,
        notes,
        expected,
        timed,
    }
}

/// Statements are measured at fewer steps, the most expensive first, until all fit: then at the first
/// and the best steps, then at the best alone.
fn fit_steps(taken: &mut [(TimedStatement, Vec<bool>)], best: &[usize], budget: Duration) {
    for with_first in [true, false] {
        let mut order: Vec<usize> = (0..taken.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(taken[*index].0.longest(&taken[*index].1)));
        for index in order {
            if needed(taken, BLOCKS_MIN) <= budget {
                return;
            }
            let (one, steps) = &mut taken[index];
            let wanted = |step: usize| best.contains(&step) || with_first && step == 0;
            let fewer: Vec<bool> =
                one.steps.iter().enumerate().map(|(step, may)| *may && wanted(step)).collect();
            if fewer.contains(&true) {
                *steps = fewer;
            }
        }
    }
}

fn only(taken: &[(TimedStatement, Vec<bool>)], kept: &[bool]) -> Vec<(TimedStatement, Vec<bool>)> {
    taken.iter().zip(kept).filter(|(_, kept)| **kept).map(|(one, _)| one.clone()).collect()
}

fn why(with: &[(TimedStatement, Vec<bool>)]) -> String {
    let minutes = minutes(needed(with, BLOCKS_MIN));
    let others = if with.len() > 1 { " beside more expensive ones" } else { "" };
    format!("five blocks of it{others} do not fit the budget; --budget {minutes}m holds them")
}

/// A budget to advise: a quarter more than is needed, since a machine is not always as quick as in the
/// pilot, and full minutes.
fn minutes(needed: Duration) -> u64 {
    needed.mul_f64(1.25).as_secs() / 60 + 1
}

/// Statements that are not measured at every step, and why; `whole` is the budget that holds all.
fn notes(taken: &[(TimedStatement, Vec<bool>)], whole: Duration) -> Vec<String> {
    let name = |one: &TimedStatement| format!("\"{}\"", one.statement.name);
    let is_fewer = |(one, steps): &&(TimedStatement, Vec<bool>)| one.steps != *steps;
    let fewer: Vec<String> = taken.iter().filter(is_fewer).map(|(one, _)| name(one)).collect();
    let mut notes = Vec::new();
    if !fewer.is_empty() {
        let which = match fewer.len() {
            all if all == taken.len() && all > 1 => "Every statement is".to_owned(),
            1 => format!("{} is", fewer.concat()),
            _ => format!("{} are", fewer.join(", ")),
        };
        let minutes = minutes(whole);
        notes.push(format!(
            "{which} measured at fewer steps: the budget holds no more (--budget {minutes}m holds \
             every step)."
        ));
    }
    for (one, _) in taken {
        let too_slow = one.steps.iter().filter(|may| !**may).count();
        if too_slow > 0 {
            let steps = counted(too_slow, "step");
            notes.push(format!("{} takes too long for the budget at {steps}.", name(one)));
        }
    }
    notes
}

/// The smallest budget, in whole seconds, that holds five blocks of anything on this number of engines.
pub fn least(engines: usize) -> Duration {
    let engines = u32::try_from(engines).unwrap_or(u32::MAX);
    whole_seconds(TURN_OVERHEAD.saturating_mul(engines).saturating_mul(BLOCKS_MIN))
}

fn whole_seconds(least: Duration) -> Duration {
    Duration::from_secs(least.as_secs() + 1)
}

/// The smallest budget, in whole seconds, that holds five blocks of the quickest of these
/// statements at its best steps.
pub fn smallest(timed: &[TimedStatement], best: &[usize]) -> Duration {
    let alone = timed.iter().map(|one| {
        let mut taken = [(one.clone(), one.steps.clone())];
        fit_steps(&mut taken, best, Duration::ZERO);
        needed(&taken, BLOCKS_MIN)
    });
    whole_seconds(alone.min().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two engines with these times, ms, at the steps of each.
    fn timed(name: &str, sqlite: [u64; 3], postgres: [u64; 2]) -> TimedStatement {
        let statement = MeasuredStatement { name: name.to_owned(), ..Default::default() };
        let ms = |ms: u64| Some(Duration::from_millis(ms));
        TimedStatement {
            statement,
            times: vec![sqlite.map(ms).to_vec(), vec![ms(postgres[0]), None, ms(postgres[1])]],
            steps: vec![true; 3],
        }
    }

    fn names(chosen: &Chosen) -> Vec<&str> {
        chosen.statements.iter().map(|one| one.statement.name.as_str()).collect()
    }

    fn chosen(timed: &[TimedStatement], seconds: u64) -> Chosen {
        choose(timed.to_vec(), &[2], Duration::from_secs(seconds))
    }

    #[test]
    fn quick_statements_get_more_blocks_and_repetitions() {
        let chosen = chosen(&[timed("a", [1; 3], [1; 2]), timed("b", [25; 3], [25; 2])], 180);
        assert_eq!(names(&chosen), ["a", "b"]);
        assert_eq!(chosen.blocks, 10);
        assert_eq!((chosen.statements[0].weight, chosen.statements[1].weight), (50, 2));
        assert!(chosen.left_out.is_empty() && chosen.notes.is_empty());
    }

    #[test]
    fn a_statement_of_a_second_and_a_half_fits_the_default_budget() {
        let chosen = chosen(&[timed("window", [1_500; 3], [900; 2])], 180);
        assert_eq!(names(&chosen), ["window"]);
        assert!(chosen.blocks >= 5 && chosen.statements[0].steps == [true; 3], "{chosen:?}");
    }

    #[test]
    fn expensive_statements_lose_steps_before_any_is_dropped() {
        let all = [timed("slow", [6_000, 3_000, 900], [700, 700]), timed("quick", [2; 3], [2; 2])];
        let chosen = chosen(&all, 180);
        assert_eq!(names(&chosen), ["slow", "quick"]);
        assert_eq!(chosen.statements[1].steps, [true; 3]);
        assert!(!chosen.statements[0].steps[1], "{chosen:?}");
        assert!(
            chosen.notes[0].contains("\"slow\" is measured at fewer steps"),
            "{:?}",
            chosen.notes
        );
    }

    #[test]
    fn a_block_longer_than_expected_makes_the_choice_smaller() {
        let all = [timed("slow", [1_500, 1_500, 900], [700, 700]), timed("quick", [2; 3], [2; 2])];
        let chosen = chosen(&all, 180);
        assert_eq!(chosen.statements[0].steps, [true; 3]);
        let (block, left) = (Duration::from_secs(60), Duration::from_secs(120));
        let smaller = chosen.smaller(block, &[2], left).unwrap();
        assert!(!smaller.statements[0].steps[1], "{smaller:?}");
        let last = smaller.smaller(block, &[2], Duration::from_secs(1));
        assert!(last.is_none(), "{last:?}");
    }

    #[test]
    fn the_most_expensive_is_kept_and_the_rest_named() {
        let all = [
            timed("second", [5_000; 3], [5_000; 2]),
            timed("first", [5_500; 3], [5_500; 2]),
            timed("third", [4_000; 3], [4_000; 2]),
        ];
        let chosen = chosen(&all, 180);
        assert_eq!(names(&chosen), ["first"]);
        let said = &chosen.left_out[0].why;
        let minutes: u64 =
            said.split("--budget ").nth(1).unwrap().split('m').next().unwrap().parse().unwrap();
        let more = choose(all.to_vec(), &[2], Duration::from_secs(minutes * 60));
        assert_eq!(names(&more)[..2], ["second", "first"], "{said}");
    }

    #[test]
    fn a_log_weighs_statements_by_their_executions() {
        let mut all =
            [timed("often", [3_000; 3], [3_000; 2]), timed("slow", [4_000; 3], [4_000; 2])];
        all[0].statement.executions = Some(10_000);
        all[1].statement.executions = Some(1);
        assert_eq!(names(&chosen(&all, 120)), ["often"]);
    }

    #[test]
    fn the_smallest_budget_holds_the_quickest_statement() {
        let all = [timed("slow", [900; 3], [900; 2]), timed("quick", [40; 3], [40; 2])];
        let smallest = smallest(&all, &[2]);
        let at = |budget| choose(all.to_vec(), &[2], budget).statements.len();
        assert!(at(smallest) >= 1);
        assert_eq!(at(smallest - Duration::from_secs(2)), 0);
    }
}
