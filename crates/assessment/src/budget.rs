//! Selection of statements, repetitions, blocks and their length that fit the budget. Five
//! blocks are the least from which an interval can be had; statements give way, blocks do not.

use std::time::Duration;

use crate::result::duration;
use crate::statement::MeasuredStatement;

/// The numbers of blocks that are tried, most first.
const BLOCKS: [u32; 3] = [10, 7, 5];
/// A trial lasts at least this long and no longer than needed.
const TRIAL: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// Rounds of all statements before a trial: one whose answers are checked, then as many as the
/// laboratory needs until the times are steady.
const ROUNDS_BEFORE: u32 = 9;
/// A quick statement is executed at most this often in a round.
const MOST_OFTEN: u32 = 50;

/// Time of every turn of an engine besides its statements: start, statistics, page cache.
const TURN_OVERHEAD: Duration = Duration::from_secs(2);

/// A statement that works on every engine, and its time on each.
#[derive(Clone, Debug)]
pub struct TimedStatement {
    pub statement: MeasuredStatement,
    /// By engine, in the order of the plan.
    pub times: Vec<Duration>,
}

/// A statement that is not measured, and why.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LeftOut {
    pub name: String,
    /// File and line, if the user wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub why: String,
}

impl LeftOut {
    pub fn new(statement: &MeasuredStatement, why: impl Into<String>) -> Self {
        Self { name: statement.name.clone(), place: statement.place.clone(), why: why.into() }
    }
}

#[derive(Clone, Debug)]
pub struct Chosen {
    /// The statements with how often each is executed in a round.
    pub statements: Vec<(MeasuredStatement, u32)>,
    pub blocks: u32,
    /// Length of a trial, whole seconds.
    pub trial: Duration,
    /// Those that do not fit.
    pub left_out: Vec<LeftOut>,
}

/// Chooses what fits `budget`: statements in their order, each if five blocks of it still fit.
pub fn choose(timed: Vec<TimedStatement>, engines: usize, budget: Duration) -> Chosen {
    let engines = engines.max(1);
    let mut taken: Vec<TimedStatement> = Vec::new();
    let mut left_out = Vec::new();
    for each in timed {
        taken.push(each);
        if needed(&taken, engines, 5) > budget {
            let Some(last) = taken.pop() else { continue };
            let alone = needed(std::slice::from_ref(&last), engines, 5);
            let with_others = if alone > budget { "" } else { " with those before it" };
            // A fraction of a second beyond full minutes is a minute more.
            let minutes = needed_with(&taken, &last, engines).as_secs() / 60 + 1;
            let time = duration(last.times.iter().max().copied().unwrap_or_default());
            let why = format!(
                "it takes {time}; five blocks of it{with_others} do not fit the budget; \
                 --budget {minutes}m holds them"
            );
            left_out.push(LeftOut::new(&last.statement, why));
        }
    }
    let blocks = BLOCKS.into_iter().find(|blocks| needed(&taken, engines, *blocks) <= budget);
    let blocks = blocks.unwrap_or(5);
    let turns = blocks * u32::try_from(engines).unwrap_or(u32::MAX);
    let before = TURN_OVERHEAD + weighted(&taken, engines) * ROUNDS_BEFORE;
    let trial = (budget / turns).saturating_sub(before).clamp(TRIAL.0, TRIAL.1);
    let weights = weights(&taken, engines);
    let statements = taken.into_iter().map(|each| each.statement).zip(weights).collect();
    Chosen { statements, blocks, trial: Duration::from_secs(trial.as_secs()), left_out }
}

/// The smallest budget, in whole seconds, that holds five blocks of the quickest of these
/// statements; of none: that holds anything.
pub fn smallest(timed: &[TimedStatement], engines: usize) -> Duration {
    let alone = timed.iter().map(|each| needed(std::slice::from_ref(each), engines, 5));
    let least = alone.min().unwrap_or_else(|| needed(&[], engines, 5));
    Duration::from_secs(least.as_secs() + 1)
}

/// The name of the statement that takes the least time on all engines together.
pub fn quickest(timed: &[TimedStatement]) -> Option<&str> {
    let total = |each: &&TimedStatement| each.times.iter().sum::<Duration>();
    timed.iter().min_by_key(total).map(|each| each.statement.name.as_str())
}

/// The least time that `blocks` blocks of these statements take.
fn needed(taken: &[TimedStatement], engines: usize, blocks: u32) -> Duration {
    let round = weighted(taken, engines);
    let turn = TURN_OVERHEAD + round * ROUNDS_BEFORE + round.max(TRIAL.0);
    turn * blocks * u32::try_from(engines).unwrap_or(u32::MAX)
}

fn needed_with(taken: &[TimedStatement], more: &TimedStatement, engines: usize) -> Duration {
    let all: Vec<TimedStatement> = taken.iter().chain([more]).cloned().collect();
    needed(&all, engines, 5)
}

/// The time of a round on an average engine, weights included.
fn weighted(taken: &[TimedStatement], engines: usize) -> Duration {
    let weights = weights(taken, engines);
    taken.iter().zip(weights).map(|(each, weight)| mean(each, engines) * weight).sum()
}

fn mean(timed: &TimedStatement, engines: usize) -> Duration {
    let total: Duration = timed.times.iter().sum();
    total / u32::try_from(engines).unwrap_or(1)
}

/// Quick statements are executed more often, until each has had its equal share of the time that
/// all of them together take once.
fn weights(taken: &[TimedStatement], engines: usize) -> Vec<u32> {
    let once: Duration = taken.iter().map(|each| mean(each, engines)).sum();
    let share = once.as_secs_f64() / taken.len().max(1) as f64;
    taken
        .iter()
        .map(|each| {
            let times = share / mean(each, engines).as_secs_f64().max(1e-6);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "clamped to 1 to 50"
            )]
            let times = times.clamp(1.0, f64::from(MOST_OFTEN)) as u32;
            times
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(name: &str, milliseconds: u64) -> TimedStatement {
        let statement = MeasuredStatement {
            name: name.to_owned(),
            text: String::new(),
            postgres_text: None,
            parameters: Vec::new(),
            place: None,
            tables: Vec::new(),
        };
        TimedStatement { statement, times: vec![Duration::from_millis(milliseconds); 2] }
    }

    fn names(chosen: &Chosen) -> Vec<&str> {
        chosen.statements.iter().map(|(statement, _)| statement.name.as_str()).collect()
    }

    #[test]
    fn quick_statements_get_more_blocks_and_repetitions() {
        let chosen = choose(vec![timed("a", 1), timed("b", 11)], 2, Duration::from_secs(120));
        assert_eq!(names(&chosen), ["a", "b"]);
        assert_eq!(chosen.blocks, 10);
        assert_eq!(chosen.statements[0].1, 6);
        assert_eq!(chosen.statements[1].1, 1);
        assert!(chosen.trial >= Duration::from_secs(3), "{:?}", chosen.trial);
    }

    #[test]
    fn what_does_not_fit_is_named_with_the_budget_that_holds_it() {
        let all = vec![timed("quick", 2), timed("slow", 4_000), timed("middle", 200)];
        let chosen = choose(all.clone(), 2, Duration::from_secs(120));
        assert_eq!(names(&chosen), ["quick", "middle"]);
        assert!(chosen.blocks >= 5);
        assert_eq!(chosen.left_out[0].name, "slow");
        let said = &chosen.left_out[0].why;
        let minutes: u64 =
            said.split("--budget ").nth(1).unwrap().split('m').next().unwrap().parse().unwrap();
        let more = choose(all[..2].to_vec(), 2, Duration::from_secs(minutes * 60));
        assert_eq!(names(&more), ["quick", "slow"], "{said}");
    }

    #[test]
    fn a_budget_just_too_small_is_not_named_as_sufficient() {
        let all = vec![timed("first", 1_000), timed("second", 500)];
        let just_too_small = needed(&all, 2, 5) - Duration::from_millis(1);
        let chosen = choose(all, 2, just_too_small);
        let more = format!("--budget {}m", just_too_small.as_secs() / 60 + 1);
        let said = &chosen.left_out[0].why;
        assert!(said.contains(&more) && said.starts_with("it takes 500 ms"), "{said}");
    }

    #[test]
    fn the_smallest_budget_holds_the_quickest_statement() {
        let all = vec![timed("slow", 900), timed("quick", 40)];
        let smallest = smallest(&all, 2);
        assert_eq!(names(&choose(all.clone(), 2, smallest)), ["quick"]);
        let less = choose(all, 2, smallest - Duration::from_secs(1));
        assert!(less.statements.is_empty());
    }

    #[test]
    fn never_fewer_than_five_blocks() {
        for seconds in [1, 10, 60, 600] {
            let all: Vec<TimedStatement> =
                (0..20).map(|place| timed(&place.to_string(), 90)).collect();
            let chosen = choose(all, 2, Duration::from_secs(seconds));
            assert!(chosen.blocks >= 5);
            let turns = chosen.blocks * 2;
            let taken: Vec<TimedStatement> =
                chosen.statements.iter().map(|_| timed("", 90)).collect();
            let planned = needed(&taken, 2, chosen.blocks) + (chosen.trial - TRIAL.0) * turns;
            let fits = planned <= Duration::from_secs(seconds) || chosen.statements.is_empty();
            assert!(fits, "{seconds} s: {planned:?} for {} statements", taken.len());
        }
    }
}
