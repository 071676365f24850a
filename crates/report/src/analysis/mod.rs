//! Analysis from trials to results: an estimate per treatment, a ratio per level, the crossings.
//! The unit of every interval is the block, never the request (METHOD.md).

mod effect;
mod family;
mod interaction;
mod levels;
mod notes;
mod pairs;
mod plan_change;
mod planned;
mod standing;
mod steps;
mod sweep;
mod threshold;
mod throughput;
mod treatment;
mod words;

use std::collections::BTreeMap;

use serde::Serialize;
use stats::{Estimate, crossing::Sign};

use plan::Levels;
use plan::{Design, Plan};
use record::Trial;

pub use effect::{ENGINE_FACTOR, Effect};
pub use family::Compared;
pub use interaction::Interaction;
pub use pairs::{Family, OtherPairs};
pub use plan_change::{PlanChange, plan_change};
pub use planned::planned_verdicts;
pub use standing::{Failures, Standing};
pub use steps::{
    AgainstEngine, BestComparison, BoundRow, BoundRowVerdict, BoundVerdict, EngineSteps, Enough,
    GainPlace, NOT_FELT_MS, OneSidedVerdict, RowCrossing, RowKey, RowVerdict, ShownSlower,
    StepAnalysis, StepGain, StepTime, StepTimes, StepVerdict, row_crossings,
};
pub use sweep::Sweep;
pub use threshold::Judgement;
pub use throughput::{Beyond, CLIENTS, Peak, PeakComparison, Scaling, Throughput};
pub use words::{
    axis_noun, bytes_in_words, factor_label, factor_unit, level_label, number, speed, speed_title,
};

/// Fewer blocks have no interval and no verdict.
pub const BLOCKS_MIN: usize = stats::INTERVAL_MIN_REPLICATES;

/// The confidence level of every interval and of every family of verdicts.
pub const CONFIDENCE_LEVEL: f64 = 0.95;

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// One for each engine and cell, in the order of the plan.
    pub treatments: Vec<Treatment>,
    /// One for each pair of engines, set of other levels, and request (or all together).
    pub sweeps: Vec<Sweep>,
    /// The pairs of engines without the first.
    pub other_pairs: OtherPairs,
    /// Those of all requests together until the last COMMIT alone, where trials have written.
    pub until_commit: Vec<Sweep>,
    pub effects: Vec<Effect>,
    pub interactions: Vec<Interaction>,
    /// Throughput over the number of clients, where it is the response.
    pub throughput: Option<Throughput>,
    /// The gain of each step and which is enough, where the plan has steps: one for each distance, the
    /// nearest first.
    pub steps: Vec<StepAnalysis>,
    /// The plan's thresholds, for each treatment.
    pub thresholds: Vec<Judgement>,
}

/// The results of one treatment.
#[derive(Clone, Debug)]
pub struct Treatment {
    pub engine: String,
    /// One level of each factor.
    pub levels: Levels,
    /// The cell whose trials these are: another one where factors differ that do not act on the
    /// engine.
    pub measured_at: Levels,
    /// The numbers of the trials that count.
    pub trials: Vec<usize>,
    /// The plan's response ([`Plan::response`]), the geometric mean over blocks; none if no trial
    /// counts.
    pub estimate: Option<Estimate>,
    /// The article's statistic: the smallest of the first three blocks. None of a rate.
    pub best_of_three: Option<f64>,
    pub blocks: Vec<(usize, f64)>,
    /// Block and mean response time, ms, until the last COMMIT: the same where that is the response
    /// and nothing is written.
    pub time_blocks: Vec<(usize, f64)>,
    /// The same until the end of the engine's checkpoint; empty where nothing is written.
    pub checkpoint_blocks: Vec<(usize, f64)>,
    /// Block and response with time-outs counted at the limit; empty where nothing timed out.
    pub blocks_with_time_outs: Vec<(usize, f64)>,
    /// Mean response time, ms: the geometric mean over blocks.
    pub response_time: Option<Estimate>,
    /// The arithmetic mean over blocks of the mean response time, ms, its interval cut at zero.
    pub response_time_arithmetic: Option<Estimate>,
    /// Against the first engine of the plan.
    pub ratio: Option<Ratio>,
    /// Whether it may get a verdict.
    pub standing: Standing,
    /// Right answers of the trial that has fewest; none if no trial counts.
    pub least_answers: Option<u64>,
    /// Those that every trial has observations enough for.
    pub percentiles: Vec<Percentile>,
    /// Mean over blocks; CPU time of application and database per request.
    pub cpu_seconds_per_request: Option<f64>,
    /// The same with its interval.
    pub cpu_seconds_estimate: Option<Estimate>,
    /// Mean over blocks; CPU time of the server side by wall time.
    pub cores_used: Option<f64>,
    pub requests_per_second: Option<f64>,
    /// The same with its interval.
    pub throughput: Option<Estimate>,
    /// Statements that our own clients sent per second, where they are counted.
    pub statements_per_second: Option<Estimate>,
    /// Failed requests by all requests (0 to 1), mean over blocks.
    pub failure_fraction: Option<Estimate>,
    /// Open load: requests offered per second, mean over blocks.
    pub offered_per_second: Option<f64>,
    /// Open load: in some block the server could not keep up.
    pub saturated: bool,
    /// Means over blocks, by name.
    pub counters: BTreeMap<String, f64>,
    /// Mean over blocks, by thread of the measuring client: time ready to run without a processor in
    /// a trial.
    pub client_processor_wait_seconds: Option<f64>,
    /// The counters in words.
    pub notes: Vec<String>,
    /// The plans that the engine chose for each operation, where they were looked up.
    pub plans: Vec<OperationPlans>,
    pub failures: Failures,
    /// Trials that do not count.
    pub void: usize,
    /// By request of the mix.
    pub by_request: Vec<RequestResult>,
}

/// Above it the arithmetic mean over blocks is shown beside the geometric one.
const ARITHMETIC_SHOWN_FROM: f64 = 1.05;

impl Treatment {
    /// The arithmetic mean over blocks of the response, where it exceeds the geometric one so far
    /// that both should be shown.
    pub fn larger_arithmetic_mean(&self) -> Option<f64> {
        let geometric = self.estimate?.value;
        let sum: f64 = self.blocks.iter().map(|(_, value)| value).sum();
        let arithmetic = sum / self.blocks.len() as f64;
        (arithmetic > geometric * ARITHMETIC_SHOWN_FROM).then_some(arithmetic)
    }
}

/// A percentile of the response time: the mean over blocks of each trial's own.
#[derive(Clone, Copy, Debug)]
pub struct Percentile {
    /// As `p99`.
    pub name: &'static str,
    /// As 0.99.
    pub p: f64,
    /// In ms.
    pub estimate: Estimate,
}

/// The plans of one operation in one treatment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationPlans {
    pub operation: String,
    /// Distinct ones, in the order of the trials.
    pub hashes: Vec<String>,
    /// Why there are none to see.
    pub not_observable: Option<String>,
}

/// The results of one request in one treatment.
#[derive(Clone, Debug)]
pub struct RequestResult {
    pub name: String,
    /// Mean response time, ms.
    pub estimate: Option<Estimate>,
    /// Block and mean response time, ms.
    pub blocks: Vec<(usize, f64)>,
    /// The same with time-outs counted at the limit; empty where nothing timed out.
    pub blocks_with_time_outs: Vec<(usize, f64)>,
    pub failures: Failures,
    /// Against the first engine of the plan.
    pub ratio: Option<Ratio>,
    /// The share of its executions that changed no row; none where it only reads.
    pub without_effect: Option<f64>,
}

/// A response as a multiple of the first engine's, paired by block.
#[derive(Clone, Debug)]
pub struct Ratio {
    /// The engine that is compared with.
    pub to: String,
    pub estimate: Estimate,
    /// The result, corrected over all verdicts of its family.
    pub shown: Shown,
    /// The difference shown besides, where equality is.
    pub difference: Option<Shown>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Shown {
    /// Faster than the first engine.
    Faster,
    /// Slower than the first engine.
    Slower,
    /// The same within the plan's margin.
    Equal,
    /// None of these is shown.
    Undecided,
}

impl Shown {
    /// As written in every output.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The same seen from the other side of the comparison.
    #[must_use]
    pub fn of_the_other(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            other => other,
        }
    }
}

impl From<Sign> for Shown {
    fn from(sign: Sign) -> Self {
        match sign {
            Sign::AFaster => Self::Faster,
            Sign::BFaster => Self::Slower,
            Sign::Undecided => Self::Undecided,
        }
    }
}

/// Analyses the trials of a run. `cells` are those of all its rounds.
pub fn analyse(design: &Design<'_>, cells: &[Levels], trials: &[Trial]) -> Analysis {
    let mut treatments = treatment::collect(design, cells, trials);
    let sweeps = sweep::compare(design, cells, &mut treatments);
    let until_commit = sweep::until_commit(design, cells, &treatments);
    let measured = effect::measured(design, &treatments);
    let effects = effect::effects(design, cells, &treatments, &measured);
    let interactions = interaction::interactions(design, cells, &measured, &effects);
    let throughput = throughput::of(design, cells, &treatments);
    let thresholds = threshold::judge(design, &treatments);
    let steps = steps::at_each_distance(design, &treatments, trials);
    let other_pairs = OtherPairs::of(design);
    Analysis {
        treatments,
        sweeps,
        other_pairs,
        until_commit,
        effects,
        interactions,
        throughput,
        steps,
        thresholds,
    }
}

/// The levels that bisection asks for next: one cell for each crossing of all requests together
/// that is not yet narrow enough.
pub fn next_cells(plan: &Plan, analysis: &Analysis) -> Vec<Levels> {
    planned::next_cells(plan, &analysis.sweeps)
}
