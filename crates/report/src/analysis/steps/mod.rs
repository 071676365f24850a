//! Steps of an engine: what each brings, and which is enough. The first engine of the plan is the one
//! whose steps are climbed; each other one is what it is compared with, at each distance by itself. Without
//! any its own steps are compared.

mod crossing;
mod enough;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use plan::{DELAY_MS, Level, Levels, Plan, STEP};
use record::{Status, Trial};
use stats::Estimate;

use super::Treatment;
use super::family::{Compared, Sides, judge};
use super::treatment::positive;
use enough::{against_bound, against_later, against_other};

pub use crossing::{RowCrossing, row_crossings};
pub use enough::{
    BoundRow, BoundRowVerdict, BoundVerdict, Enough, OneSidedVerdict, RowVerdict, ShownSlower,
    StepVerdict,
};

/// A smaller difference per execution decides nothing: no user feels it.
pub const NOT_FELT_MS: f64 = 1.0;
/// A smaller share of the log's total decides nothing either.
const NOT_FELT_SHARE: f64 = 0.05;

/// Results of a plan with steps at one distance.
#[derive(Clone, Debug)]
pub struct StepAnalysis {
    /// The distance, ms; none of a plan without.
    pub delay_ms: Option<f64>,
    /// The statements by name, in the plan's order.
    pub statements: Vec<String>,
    /// How often the log has each; none where it is in no log.
    pub executions: Vec<Option<u64>>,
    /// Every engine of the plan, in its order.
    pub engines: Vec<EngineSteps>,
    /// Each step against the last one before it at which the row was measured.
    pub gains: Vec<StepGain>,
    /// The first engine against each other one.
    pub against: Vec<AgainstEngine>,
    /// Of an engine measured alone: each step against those after it.
    pub alone: Vec<StepVerdict>,
    /// Where the plan has a bound: each engine's steps against it.
    pub bounds: Vec<BoundVerdict>,
}

/// The steps that change an engine, in order; the first is the unchanged copy.
#[derive(Clone, Debug)]
pub struct EngineSteps {
    pub engine: String,
    pub steps: Vec<StepTimes>,
    /// The step at which it is compared at its best.
    pub best: usize,
}

/// The times at one step.
#[derive(Clone, Debug)]
pub struct StepTimes {
    pub step: String,
    /// The cell of its trials.
    pub measured_at: Levels,
    /// By statement; none where it was not measured or failed.
    pub statements: Vec<Option<StepTime>>,
    /// Of the whole log: each statement as often as the log has it.
    pub total: Option<StepTime>,
}

/// Mean response times of blocks, ms.
#[derive(Clone, Debug)]
pub struct StepTime {
    pub blocks: Vec<(usize, f64)>,
    pub estimate: Estimate,
}

/// A line of the table: a statement by its number, or the whole log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKey {
    Total,
    Statement(usize),
}

/// A step against an earlier one.
#[derive(Clone, Copy, Debug)]
pub struct StepGain {
    pub place: GainPlace,
    /// Of the time at this step by that at the earlier one.
    pub compared: Compared,
}

/// Numbers of the engine, of two of its steps, and the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GainPlace {
    pub engine: usize,
    pub step: usize,
    /// The last step before it at which the row was measured.
    pub before: usize,
    pub row: RowKey,
}

/// The first engine against another.
#[derive(Clone, Debug)]
pub struct AgainstEngine {
    /// The number of the other engine.
    pub other: usize,
    /// Both at their best: the first engine's time by the other's.
    pub best: Vec<BestComparison>,
    /// By the first engine's steps.
    pub steps: Vec<StepVerdict>,
}

/// A row of two engines at their best.
#[derive(Clone, Debug)]
pub struct BestComparison {
    pub row: RowKey,
    pub compared: Compared,
    /// Whether a user could feel the difference.
    pub is_felt: bool,
}

/// One analysis for each distance, the nearest first; none where another factor has several levels.
pub(super) fn at_each_distance(
    plan: &Plan,
    treatments: &[Treatment],
    trials: &[Trial],
) -> Vec<StepAnalysis> {
    let mut others = plan.factors.iter().filter(|(name, _)| ![STEP, DELAY_MS].contains(&&***name));
    if plan.steps.is_empty() || others.any(|(_, factor)| factor.levels.len() > 1) {
        return Vec::new();
    }
    let mut distances: Vec<Option<f64>> =
        treatments.iter().map(|one| distance(&one.levels)).collect();
    distances.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    distances.dedup();
    let of = |delay_ms: Option<f64>| {
        let here = treatments.iter().filter(|one| distance(&one.levels) == delay_ms);
        of(plan, delay_ms, &here.collect::<Vec<_>>(), trials)
    };
    distances.into_iter().filter_map(of).collect()
}

fn distance(levels: &Levels) -> Option<f64> {
    levels.get(DELAY_MS).and_then(Level::number)
}

fn of(
    plan: &Plan,
    delay_ms: Option<f64>,
    treatments: &[&Treatment],
    trials: &[Trial],
) -> Option<StepAnalysis> {
    let statements: Vec<String> = plan.operations().into_iter().map(|one| one.name).collect();
    let executions: Vec<Option<u64>> = plan.statements.iter().map(|one| one.executions).collect();
    let engines: Vec<EngineSteps> = plan
        .engines
        .iter()
        .map(|engine| engine_steps(plan, &engine.label(), treatments, &executions))
        .collect();
    let gains = gains(plan, &engines);
    let (first, others) = engines.split_first()?;
    let against = others.iter().enumerate().map(|(index, other)| AgainstEngine {
        other: index + 1,
        best: best(plan, first, other, &executions),
        steps: against_other(plan, first, other, &executions),
    });
    let alone = match others.is_empty() && first.steps.len() > 1 {
        true => against_later(plan, first, &executions),
        false => Vec::new(),
    };
    let bounds = plan.enough.map(|bound| against_bound(bound, &statements, &engines, trials));
    Some(StepAnalysis {
        delay_ms,
        statements,
        against: against.collect(),
        alone,
        bounds: bounds.unwrap_or_default(),
        executions,
        engines,
        gains,
    })
}

fn engine_steps(
    plan: &Plan,
    engine: &str,
    treatments: &[&Treatment],
    executions: &[Option<u64>],
) -> EngineSteps {
    // A distance that does not act on an engine leaves it its times of another one.
    let is_changed = |one: &Treatment| step_of(&one.levels) == step_of(&one.measured_at);
    let steps: Vec<StepTimes> = treatments
        .iter()
        .filter(|one| one.engine == engine && is_changed(one))
        .map(|treatment| StepTimes {
            step: step_of(&treatment.levels).to_owned(),
            measured_at: treatment.measured_at.clone(),
            statements: statement_times(treatment),
            total: total(treatment, executions),
        })
        .collect();
    let named = plan.best_steps.get(engine);
    let best = named.and_then(|best| steps.iter().position(|step| step.step == *best));
    EngineSteps {
        engine: engine.to_owned(),
        best: best.unwrap_or(steps.len().saturating_sub(1)),
        steps,
    }
}

fn step_of(levels: &Levels) -> &str {
    match levels.get(STEP) {
        Some(Level::Text(step)) => step,
        Some(Level::Number(_)) | None => "",
    }
}

fn statement_times(treatment: &Treatment) -> Vec<Option<StepTime>> {
    let is_judged = treatment.standing.is_judged();
    let time = |blocks: &Vec<(usize, f64)>| step_time(blocks.clone()).filter(|_| is_judged);
    treatment.by_request.iter().map(|request| time(&request.blocks)).collect()
}

/// The log's total, in the blocks that have all of its statements.
fn total(treatment: &Treatment, executions: &[Option<u64>]) -> Option<StepTime> {
    if !treatment.standing.is_judged() || executions.iter().all(Option::is_none) {
        return None;
    }
    let mut sums: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
    let mut counted = 0;
    for (request, count) in treatment.by_request.iter().zip(executions) {
        let Some(count) = count else { continue };
        counted += 1;
        for (block, mean) in &request.blocks {
            let sum = sums.entry(*block).or_default();
            *sum = (sum.0 + 1, sum.1 + mean * *count as f64);
        }
    }
    let whole = sums.into_iter().filter(|(_, (statements, _))| *statements == counted);
    step_time(whole.map(|(block, (_, total))| (block, total)).collect())
}

fn step_time(blocks: Vec<(usize, f64)>) -> Option<StepTime> {
    let values: Vec<f64> = blocks.iter().map(|(_, value)| *value).collect();
    let estimate = positive(&values)?;
    Some(StepTime { blocks, estimate })
}

impl StepTimes {
    pub fn row(&self, row: RowKey) -> Option<&StepTime> {
        match row {
            RowKey::Total => self.total.as_ref(),
            RowKey::Statement(index) => self.statements.get(index)?.as_ref(),
        }
    }
}

impl EngineSteps {
    pub fn at_best(&self) -> Option<&StepTimes> {
        self.steps.get(self.best)
    }
}

impl StepAnalysis {
    /// The rows that decide which step is enough: of a log its total.
    pub fn deciding_rows(&self) -> Vec<RowKey> {
        deciding_rows(&self.executions)
    }

    /// Where a difference decides nothing: `below 1 ms per execution`.
    pub fn not_felt(&self) -> String {
        match self.deciding_rows().as_slice() {
            [RowKey::Total] => format!("below {}% of the log's total", NOT_FELT_SHARE * 100.0),
            _ => format!("below {NOT_FELT_MS} ms per execution"),
        }
    }

    /// The name of a row; none of the total.
    pub fn statement(&self, row: RowKey) -> Option<&str> {
        match row {
            RowKey::Total => None,
            RowKey::Statement(index) => self.statements.get(index).map(String::as_str),
        }
    }
}

fn deciding_rows(executions: &[Option<u64>]) -> Vec<RowKey> {
    match executions.iter().any(Option::is_some) {
        true => vec![RowKey::Total],
        false => (0..executions.len()).map(RowKey::Statement).collect(),
    }
}

fn all_rows(executions: &[Option<u64>]) -> Vec<RowKey> {
    let total = executions.iter().any(Option::is_some).then_some(RowKey::Total);
    total.into_iter().chain((0..executions.len()).map(RowKey::Statement)).collect()
}

/// Values of both in the blocks that they share.
pub(super) fn paired(a: &StepTime, b: &StepTime) -> Sides {
    let of_b: BTreeMap<usize, f64> = b.blocks.iter().copied().collect();
    let pairs = a.blocks.iter().filter_map(|(block, a)| Some((*a, *of_b.get(block)?)));
    let (a, b) = pairs.unzip();
    Sides { a, b, with_time_outs: None }
}

/// Statements are one family of verdicts, the totals another.
fn gains(plan: &Plan, engines: &[EngineSteps]) -> Vec<StepGain> {
    let mut asked = Vec::new();
    for (engine, of) in engines.iter().enumerate() {
        for (step, later) in of.steps.iter().enumerate().skip(1) {
            let statements = (0..later.statements.len()).map(RowKey::Statement);
            for row in statements.chain([RowKey::Total]) {
                let measured = of.steps.iter().take(step).map(|earlier| earlier.row(row));
                let before =
                    measured.enumerate().filter_map(|(at, time)| Some((at, time?))).next_back();
                if let (Some(later), Some((before, earlier))) = (later.row(row), before) {
                    let place = GainPlace { engine, step, before, row };
                    asked.push((place, paired(later, earlier)));
                }
            }
        }
    }
    let (totals, statements): (Vec<_>, Vec<_>) =
        asked.into_iter().partition(|(place, _)| place.row == RowKey::Total);
    [statements, totals].into_iter().flat_map(|family| judged(plan, family)).collect()
}

fn judged(plan: &Plan, family: Vec<(GainPlace, Sides)>) -> Vec<StepGain> {
    let (places, sides): (Vec<_>, Vec<_>) =
        family.into_iter().map(|(place, sides)| (place, (0.0, Some(sides)))).unzip();
    let judged = places.into_iter().zip(judge(plan, &sides, sides.len()));
    judged.filter_map(|(place, compared)| Some(StepGain { place, compared: compared? })).collect()
}

fn best(
    plan: &Plan,
    first: &EngineSteps,
    other: &EngineSteps,
    executions: &[Option<u64>],
) -> Vec<BestComparison> {
    let (Some(mine), Some(theirs)) = (first.at_best(), other.at_best()) else { return Vec::new() };
    let rows = all_rows(executions);
    let (totals, statements): (Vec<RowKey>, Vec<RowKey>) =
        rows.into_iter().partition(|row| *row == RowKey::Total);
    let total_ms = theirs.total.as_ref().map(|total| total.estimate.value);
    let mut all = Vec::new();
    for rows in [totals, statements] {
        let side = |row: &RowKey| Some(paired(mine.row(*row)?, theirs.row(*row)?));
        let sides: Vec<(f64, Option<Sides>)> = rows.iter().map(|row| (0.0, side(row))).collect();
        let compared = judge(plan, &sides, sides.len());
        for ((row, (_, sides)), compared) in rows.iter().zip(&sides).zip(compared) {
            let (Some(sides), Some(compared)) = (sides, compared) else { continue };
            let of_log = total_ms.zip(executions_of(executions, *row));
            let is_felt = *row == RowKey::Total || is_felt(sides, of_log);
            all.push(BestComparison { row: *row, compared, is_felt });
        }
    }
    all
}

fn executions_of(executions: &[Option<u64>], row: RowKey) -> Option<u64> {
    match row {
        RowKey::Total => None,
        RowKey::Statement(index) => executions.get(index).copied().flatten(),
    }
}

/// Whether the interval of the difference holds one that a user could feel: of a statement in a log,
/// as a share of the log's total.
fn is_felt(sides: &Sides, of_log: Option<(f64, u64)>) -> bool {
    let differences: Vec<f64> = sides.a.iter().zip(&sides.b).map(|(a, b)| a - b).collect();
    let Some(difference) = stats::mean_estimate(&differences, super::CONFIDENCE_LEVEL) else {
        return true;
    };
    let ends = [difference.low, difference.high].map(|end| end.unwrap_or(difference.value).abs());
    let largest = ends[0].max(ends[1]);
    match of_log {
        Some((total_ms, executions)) => largest * executions as f64 >= total_ms * NOT_FELT_SHARE,
        None => largest >= NOT_FELT_MS,
    }
}

/// Trials that count, of one engine in one cell.
fn counting<'t>(
    trials: &'t [Trial],
    engine: &str,
    cell: &Levels,
) -> impl Iterator<Item = &'t Trial> {
    trials.iter().filter(move |trial| {
        trial.engine == engine && trial.status == Status::Ok && trial.levels == *cell
    })
}
