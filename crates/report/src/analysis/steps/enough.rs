//! The step that is enough: not slower than the other engine by more than the margin, for every row that
//! decides and against each of its steps; without another engine against each later step; or within the
//! user's own bound.
//!
//! "For every row" is an intersection: one one-sided test each, all must hold, no correction (METHOD.md).
//! That a step is not enough is a union over rows and is corrected (Holm).

use plan::{EnoughBound, EnoughStatistic, Plan};
use record::Trial;
use stats::{Estimate, holm, mean_estimate, one_sided, ratio_comparison};

use super::{
    EngineSteps, NOT_FELT_MS, RowKey, StepTime, StepTimes, counting, deciding_rows, paired,
};
use crate::analysis::CONFIDENCE_LEVEL;

/// Whether a step is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enough {
    Yes,
    /// Shown of some row.
    No,
    Open,
}

/// One step of the first engine against all steps of another, or against those after it.
#[derive(Clone, Debug)]
pub struct StepVerdict {
    /// The number of the step.
    pub step: usize,
    pub enough: Enough,
    /// The rows that decide.
    pub rows: Vec<RowVerdict>,
}

/// One row of a step, against each of those steps.
#[derive(Clone, Debug)]
pub struct RowVerdict {
    pub row: RowKey,
    pub verdict: OneSidedVerdict,
    /// The step that it is shown slower than: the other engine's best one if that is among them, without
    /// another engine the smallest that is enough; otherwise the fastest.
    pub slower_than: Option<ShownSlower>,
}

/// A step that is shown faster.
#[derive(Clone, Copy, Debug)]
pub struct ShownSlower {
    pub step: usize,
    /// The time by the time there.
    pub ratio: Estimate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneSidedVerdict {
    /// Shown not slower by more than the margin, against every step.
    NotSlower,
    /// Shown slower by more than the margin.
    Slower,
    Open,
    NotMeasured,
}

/// A step of any engine against the user's bound.
#[derive(Clone, Debug)]
pub struct BoundVerdict {
    pub engine: usize,
    pub step: usize,
    pub enough: Enough,
    /// By statement.
    pub rows: Vec<BoundRow>,
}

/// A statement at a step against the user's bound.
#[derive(Clone, Copy, Debug)]
pub struct BoundRow {
    /// The value measured, ms.
    pub value: Option<Estimate>,
    pub verdict: BoundRowVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundRowVerdict {
    Kept,
    Missed,
    Open,
    /// A trial has too few executions for the percentile.
    TooFew,
    NotMeasured,
}

const SIGNIFICANCE: f64 = 1.0 - CONFIDENCE_LEVEL;

pub(super) fn against_other(
    plan: &Plan,
    first: &EngineSteps,
    other: &EngineSteps,
    executions: &[Option<u64>],
) -> Vec<StepVerdict> {
    let rows = deciding_rows(executions);
    let theirs: Vec<(usize, &StepTimes)> = other.steps.iter().enumerate().collect();
    let untested = |_| OneSidedVerdict::NotMeasured;
    let steps = first.steps.iter().enumerate();
    steps
        .map(|(step, times)| {
            let rows = row_verdicts(plan, &rows, times, &theirs, other.best, untested);
            step_verdict(step, rows)
        })
        .collect()
}

/// Each step of an engine against those after it, by which the last one is enough.
pub(super) fn against_later(
    plan: &Plan,
    of: &EngineSteps,
    executions: &[Option<u64>],
) -> Vec<StepVerdict> {
    let rows = deciding_rows(executions);
    let mut all = Vec::new();
    let mut later: Vec<(usize, &StepTimes)> = Vec::new();
    // The smallest step that is enough so far, which the verdicts on those before it name.
    let (mut smallest, mut is_going_on) = (of.steps.len().saturating_sub(1), true);
    for (step, times) in of.steps.iter().enumerate().rev() {
        let untested = |row| {
            let is_there = |(_, later): &(usize, &StepTimes)| later.row(row).is_some();
            match (times.row(row).is_some(), later.iter().any(is_there)) {
                (false, _) => OneSidedVerdict::NotMeasured,
                (true, false) => OneSidedVerdict::NotSlower,
                (true, true) => OneSidedVerdict::Open,
            }
        };
        let rows = row_verdicts(plan, &rows, times, &later, smallest, untested);
        let verdict = step_verdict(step, rows);
        is_going_on &= verdict.enough == Enough::Yes;
        if is_going_on {
            smallest = step;
        }
        all.push(verdict);
        later.push((step, times));
    }
    all.reverse();
    all
}

/// The rows at one step against each of `theirs`, of which `best` is named first.
fn row_verdicts(
    plan: &Plan,
    rows: &[RowKey],
    times: &StepTimes,
    theirs: &[(usize, &StepTimes)],
    best: usize,
    untested: impl Fn(RowKey) -> OneSidedVerdict,
) -> Vec<RowVerdict> {
    let of_row = |row: &RowKey| {
        times.row(*row).map_or_else(Vec::new, |mine| tests(plan, *row, mine, theirs))
    };
    let mut tested: Vec<Vec<StepTest>> = rows.iter().map(of_row).collect();
    correct(&mut tested);
    let verdicts = rows.iter().zip(&tested);
    verdicts
        .map(|(row, tests)| match tests.is_empty() {
            true => RowVerdict { row: *row, verdict: untested(*row), slower_than: None },
            false => row_verdict(*row, tests, best),
        })
        .collect()
}

fn step_verdict(step: usize, rows: Vec<RowVerdict>) -> StepVerdict {
    let is = |verdict| move |row: &RowVerdict| row.verdict == verdict;
    let enough = match () {
        () if rows.is_empty() => Enough::Open,
        () if rows.iter().all(is(OneSidedVerdict::NotSlower)) => Enough::Yes,
        () if rows.iter().any(is(OneSidedVerdict::Slower)) => Enough::No,
        () => Enough::Open,
    };
    StepVerdict { step, enough, rows }
}

/// One row at one step against one step of the other engine.
struct StepTest {
    step: usize,
    ratio: Estimate,
    /// Of not being slower by more than the margin.
    not_slower_p: f64,
    /// Of being slower by more than the margin.
    slower_p: f64,
}

/// A row against each of `theirs` at which it was measured.
fn tests(
    plan: &Plan,
    row: RowKey,
    mine: &StepTime,
    theirs: &[(usize, &StepTimes)],
) -> Vec<StepTest> {
    let against = |(step, times): &(usize, &StepTimes)| {
        let theirs = times.row(row)?;
        let sides = paired(mine, theirs);
        let ratio = ratio_comparison(&sides.a, &sides.b, CONFIDENCE_LEVEL)?.ratio;
        let bound = 1.0 + margin(plan, row, theirs.estimate.value);
        // Too few blocks show nothing.
        let tests = one_sided(&sides.a, &sides.b, bound);
        Some(StepTest {
            step: *step,
            ratio,
            not_slower_p: tests.map_or(1.0, |tests| tests.below_p),
            slower_p: tests.map_or(1.0, |tests| tests.above_p),
        })
    };
    theirs.iter().filter_map(against).collect()
}

/// Rows and steps are one family of "slower".
fn correct(tested: &mut [Vec<StepTest>]) {
    let p_values: Vec<f64> = tested.iter().flatten().map(|test| test.slower_p).collect();
    for (test, corrected) in tested.iter_mut().flatten().zip(holm(&p_values)) {
        test.slower_p = corrected;
    }
}

fn row_verdict(row: RowKey, tests: &[StepTest], best: usize) -> RowVerdict {
    let slower = || tests.iter().filter(|test| test.slower_p <= SIGNIFICANCE);
    let fastest = || slower().max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    let told = slower().find(|test| test.step == best).or_else(fastest);
    let verdict = match told {
        Some(_) => OneSidedVerdict::Slower,
        None if tests.iter().all(|test| test.not_slower_p <= SIGNIFICANCE) => {
            OneSidedVerdict::NotSlower
        }
        None => OneSidedVerdict::Open,
    };
    let slower_than = told.map(|test| ShownSlower { step: test.step, ratio: test.ratio });
    RowVerdict { row, verdict, slower_than }
}

/// The share by which a time may exceed one of `theirs_ms`: the plan's, or a difference too small to feel.
fn margin(plan: &Plan, row: RowKey, theirs_ms: f64) -> f64 {
    let equal = plan.equivalent_within.0;
    match row {
        RowKey::Total => equal,
        RowKey::Statement(_) => equal.max(NOT_FELT_MS / theirs_ms),
    }
}

/// Every statement at every step of every engine against the user's bound.
pub(super) fn against_bound(
    bound: EnoughBound,
    statements: &[String],
    engines: &[EngineSteps],
    trials: &[Trial],
) -> Vec<BoundVerdict> {
    let mut all = Vec::new();
    for (engine, of) in engines.iter().enumerate() {
        for (step, times) in of.steps.iter().enumerate() {
            let trials: Vec<&Trial> = counting(trials, &of.engine, &times.measured_at).collect();
            let row = |(name, time): (&String, &Option<StepTime>)| match time {
                None => BoundRow { value: None, verdict: BoundRowVerdict::NotMeasured },
                Some(time) => bound_row(bound, (name, time), &trials, statements.len()),
            };
            let rows: Vec<BoundRow> = statements.iter().zip(&times.statements).map(row).collect();
            let is = |verdict| move |row: &BoundRow| row.verdict == verdict;
            let enough = match () {
                () if rows.is_empty() => Enough::Open,
                () if rows.iter().all(is(BoundRowVerdict::Kept)) => Enough::Yes,
                () if rows.iter().any(is(BoundRowVerdict::Missed)) => Enough::No,
                () => Enough::Open,
            };
            all.push(BoundVerdict { engine, step, enough, rows });
        }
    }
    all
}

fn bound_row(
    bound: EnoughBound,
    (statement, time): (&str, &StepTime),
    trials: &[&Trial],
    statements: usize,
) -> BoundRow {
    let too_few = BoundRow { value: None, verdict: BoundRowVerdict::TooFew };
    let Some(values) = values(bound.statistic, (statement, time), trials) else { return too_few };
    // One-sided bounds: an interval of 90% ends where each has 5%.
    let kept = mean_estimate(&values, 1.0 - 2.0 * SIGNIFICANCE).and_then(|all| all.high);
    // One statement of many that misses is a union.
    let union = SIGNIFICANCE / statements.max(1) as f64;
    let missed = mean_estimate(&values, 1.0 - 2.0 * union).and_then(|some| some.low);
    let verdict = match (kept, missed) {
        _ if values.len() < stats::INTERVAL_MIN_REPLICATES => BoundRowVerdict::Open,
        (Some(high), _) if high < bound.below_ms => BoundRowVerdict::Kept,
        (_, Some(low)) if low >= bound.below_ms => BoundRowVerdict::Missed,
        _ => BoundRowVerdict::Open,
    };
    BoundRow { value: mean_estimate(&values, CONFIDENCE_LEVEL), verdict }
}

/// The statistic in each block; none where a trial has too few executions for it.
fn values(
    statistic: EnoughStatistic,
    (statement, time): (&str, &StepTime),
    trials: &[&Trial],
) -> Option<Vec<f64>> {
    match statistic {
        EnoughStatistic::Mean => Some(time.blocks.iter().map(|(_, value)| *value).collect()),
        EnoughStatistic::P50 | EnoughStatistic::P95 | EnoughStatistic::P99 => {
            let of_trial = |trial: &&Trial| {
                let summary = trial.by_request.iter().find(|one| one.name == statement)?;
                summary.response_time_ms_percentiles.get(statistic.name()).copied()
            };
            trials.iter().map(of_trial).collect()
        }
    }
}
