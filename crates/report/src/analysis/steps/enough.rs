//! The step that is enough: not slower than the other engine by more than the margin, for every row that
//! decides and against each of its steps; or within the user's own bound.
//!
//! "For every row" is an intersection: one one-sided test each, all must hold, no correction (METHOD.md).
//! That a step is not enough is a union over rows and is corrected (Holm).

use plan::{EnoughBound, EnoughStatistic, Plan};
use record::Trial;
use stats::{Estimate, holm, mean_estimate, one_sided, ratio_comparison};

use super::{EngineSteps, NOT_FELT_MS, RowKey, StepTime, counting, deciding_rows, paired};
use crate::analysis::CONFIDENCE_LEVEL;

/// Whether a step is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enough {
    Yes,
    /// Shown of some row.
    No,
    Open,
}

/// One step of the first engine against all steps of another.
#[derive(Clone, Debug)]
pub struct StepVerdict {
    /// The number of the step.
    pub step: usize,
    pub enough: Enough,
    /// The rows that decide.
    pub rows: Vec<RowVerdict>,
}

/// One row of a step, against the other engine's step that it fares worst against.
#[derive(Clone, Debug)]
pub struct RowVerdict {
    pub row: RowKey,
    /// The number of the other engine's step, and the time by the time there; none where either was
    /// not measured.
    pub worst: Option<(usize, Estimate)>,
    pub verdict: OneSidedVerdict,
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
    /// By statement: the value measured, ms, and whether it keeps to the bound.
    pub rows: Vec<(Option<Estimate>, Option<bool>)>,
}

const SIGNIFICANCE: f64 = 1.0 - CONFIDENCE_LEVEL;

pub(super) fn against_other(
    plan: &Plan,
    first: &EngineSteps,
    other: &EngineSteps,
    executions: &[Option<u64>],
) -> Vec<StepVerdict> {
    let rows = deciding_rows(executions);
    let steps = first.steps.iter().enumerate();
    steps
        .map(|(step, times)| {
            let tested: Vec<Option<RowTest>> =
                rows.iter().map(|row| RowTest::of(plan, *row, times.row(*row)?, other)).collect();
            let mut p_values: Vec<f64> =
                tested.iter().map(|test| test.as_ref().map_or(1.0, |test| test.slower_p)).collect();
            p_values = holm(&p_values);
            let verdict = |(test, slower_p): (&Option<RowTest>, &f64)| match test {
                None => OneSidedVerdict::NotMeasured,
                Some(test) if test.not_slower_p <= SIGNIFICANCE => OneSidedVerdict::NotSlower,
                Some(_) if *slower_p <= SIGNIFICANCE => OneSidedVerdict::Slower,
                Some(_) => OneSidedVerdict::Open,
            };
            let verdicts: Vec<OneSidedVerdict> =
                tested.iter().zip(&p_values).map(verdict).collect();
            let enough = match () {
                () if verdicts.is_empty() => Enough::Open,
                () if verdicts.iter().all(|one| *one == OneSidedVerdict::NotSlower) => Enough::Yes,
                () if verdicts.contains(&OneSidedVerdict::Slower) => Enough::No,
                () => Enough::Open,
            };
            let rows = rows.iter().zip(tested).zip(verdicts).map(|((row, test), verdict)| {
                RowVerdict { row: *row, worst: test.map(|test| test.worst), verdict }
            });
            StepVerdict { step, enough, rows: rows.collect() }
        })
        .collect()
}

/// One row against every step of the other engine.
struct RowTest {
    worst: (usize, Estimate),
    /// The largest over the steps: all must be shown.
    not_slower_p: f64,
    /// The smallest over the steps, corrected for their number.
    slower_p: f64,
}

impl RowTest {
    fn of(plan: &Plan, row: RowKey, mine: &StepTime, other: &EngineSteps) -> Option<Self> {
        let mut not_slower_p: f64 = 0.0;
        let (mut slower_p, mut worst) = (Vec::new(), None::<(usize, Estimate)>);
        for (step, times) in other.steps.iter().enumerate() {
            let Some(theirs) = times.row(row) else { continue };
            let sides = paired(mine, theirs);
            let ratio = ratio_comparison(&sides.a, &sides.b, CONFIDENCE_LEVEL)?.ratio;
            if worst.is_none_or(|(_, worst)| worst.value < ratio.value) {
                worst = Some((step, ratio));
            }
            let bound = 1.0 + margin(plan, row, theirs.estimate.value);
            // Too few blocks show nothing.
            let tests = one_sided(&sides.a, &sides.b, bound);
            not_slower_p = not_slower_p.max(tests.map_or(1.0, |tests| tests.below_p));
            slower_p.push(tests.map_or(1.0, |tests| tests.above_p));
        }
        let slower_p = holm(&slower_p).into_iter().fold(1.0, f64::min);
        Some(Self { worst: worst?, not_slower_p, slower_p })
    }
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
            let trials: Vec<&Trial> = counting(trials, &of.engine, &times.step).collect();
            let value = |(name, time): (&String, &Option<StepTime>)| {
                bounded_value(bound, (name, time.as_ref()?), &trials, statements.len())
            };
            let values = statements.iter().zip(&times.statements).map(value);
            let rows: Vec<(Option<Estimate>, Option<bool>)> = values
                .map(|value| (value.map(|(value, _)| value), value.and_then(|(_, kept)| kept)))
                .collect();
            let kept: Vec<Option<bool>> = rows.iter().map(|(_, kept)| *kept).collect();
            let enough = match () {
                () if kept.is_empty() => Enough::Open,
                () if kept.iter().all(|kept| *kept == Some(true)) => Enough::Yes,
                () if kept.contains(&Some(false)) => Enough::No,
                () => Enough::Open,
            };
            all.push(BoundVerdict { engine, step, enough, rows });
        }
    }
    all
}

/// The statistic with its interval, and whether it keeps to the bound; none where a trial has too
/// few executions for it.
fn bounded_value(
    bound: EnoughBound,
    (statement, time): (&str, &StepTime),
    trials: &[&Trial],
    statements: usize,
) -> Option<(Estimate, Option<bool>)> {
    let values: Vec<f64> = match bound.statistic {
        EnoughStatistic::Mean => time.blocks.iter().map(|(_, value)| *value).collect(),
        EnoughStatistic::P50 | EnoughStatistic::P95 | EnoughStatistic::P99 => {
            let name = bound.statistic.name();
            let of_trial = |trial: &&Trial| {
                let summary = trial.by_request.iter().find(|one| one.name == statement)?;
                summary.response_time_ms_percentiles.get(name).copied()
            };
            trials.iter().map(of_trial).collect::<Option<_>>()?
        }
    };
    // One-sided bounds: an interval of 90% ends where each has 5%.
    let all = mean_estimate(&values, 1.0 - 2.0 * SIGNIFICANCE)?;
    // One statement of many that misses is a union.
    let some = mean_estimate(&values, 1.0 - 2.0 * SIGNIFICANCE / statements.max(1) as f64)?;
    let shown = values.len() >= stats::INTERVAL_MIN_REPLICATES;
    let kept = match (all.high, some.low) {
        _ if !shown => None,
        (Some(high), _) if high < bound.below_ms => Some(true),
        (_, Some(low)) if low >= bound.below_ms => Some(false),
        _ => None,
    };
    Some((mean_estimate(&values, CONFIDENCE_LEVEL)?, kept))
}
