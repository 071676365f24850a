//! The report as data: the contract between the laboratory and the page that draws it. Its JSON
//! schema is generated from these types, the page's TypeScript from the schema. Every number was
//! measured; null means that it could not be measured.

use crate::warning::WarningPart;
use std::collections::BTreeMap;

use serde::Serialize;
use stats::{Estimate, Method};

use crate::BlobPart;
use crate::analysis::{Family, Shown};
use crate::answer::RunAnswer;
use crate::steps::StepsPart;
use crate::throughput::ThroughputPart;
use plan::Durability;
use plan::Level;
use plan::Levels;
use plan::Scale;

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Document {
    pub schema_version: u32,
    pub run: RunPart,
    pub conditions: String,
    /// The answer, in words and as values.
    pub summary: RunAnswer,
    pub response: Response,
    pub factors: Vec<FactorPart>,
    pub engines: Vec<EnginePart>,
    pub treatments: Vec<TreatmentPart>,
    /// Of a run whose response is a rate over clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<ThroughputPart>,
    /// Of a plan with steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepsPart>,
    pub crossings: Vec<CrossingPart>,
    /// Effects of each factor, variation by variation.
    pub effects: Vec<EffectPart>,
    /// Interactions of two factors of two levels each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interactions: Vec<InteractionPart>,
    /// Every threshold of the plan where it was applied.
    pub thresholds: Vec<ThresholdPart>,
    pub warnings: Vec<WarningPart>,
    pub environment: Vec<NamedValue>,
    pub repeat: Vec<String>,
    pub limitations: Vec<String>,
    /// The text of every plan that `treatments` name, by its hash.
    pub plans: BTreeMap<String, String>,
    /// Workload `blob`: what the article would show of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<BlobPart>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RunPart {
    pub id: String,
    pub title: String,
    pub workload: &'static str,
    /// The unit that is counted and timed: `request`, `statement`, `blob`, `transaction`.
    pub unit_of_work: &'static str,
    /// `steady`: trials of a length; `passes`: every client sends each request so often.
    pub mode: &'static str,
    /// Whether it is the article's experiment, of which its own statistic is shown.
    pub of_the_article: bool,
    pub started: String,
    /// Without the rest of a run that was interrupted and taken up again.
    pub duration_seconds: Option<f64>,
    pub seed: u64,
    pub blocks: usize,
    pub complete: bool,
    pub command_line: String,
    pub crossover_version: String,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Response {
    pub name: &'static str,
    pub label: &'static str,
    /// None of a count per second, which the label tells.
    pub unit: Option<&'static str>,
    pub lower_is_better: bool,
}

/// A factor with all levels measured, those of bisection among them.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FactorPart {
    pub name: String,
    pub label: String,
    pub unit: Option<&'static str>,
    pub swept: bool,
    /// Varied one at a time from the base cell, which has the first level of every such factor.
    pub alone: bool,
    pub scale: Scale,
    pub levels: Vec<LevelPart>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LevelPart {
    pub value: Level,
    pub label: String,
    pub bisected: bool,
}

/// An engine at its last start.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct EnginePart {
    pub name: String,
    /// As the headline calls it: `PostgreSQL 18`.
    pub product: String,
    pub version: String,
    pub settings: Vec<NamedValue>,
    pub durability: Durability,
    pub statistics_present: Option<bool>,
    pub data_bytes: Option<u64>,
    /// Its starts at other levels of the factors that need one, where something else was read back.
    pub starts: Vec<StartPart>,
}

/// A start of an engine at other levels than the plan's first.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StartPart {
    /// The levels that are not the first, as `work_mem=16MB`.
    pub levels: String,
    /// Settings read back that are not as at the first levels, and `version`, `durability`,
    /// `statistics`, `data_bytes` where those differ.
    pub differences: Vec<NamedValue>,
}

/// A name and a value.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct NamedValue {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct TreatmentPart {
    pub engine: String,
    pub levels: Levels,
    /// The cell whose trials these are; the same for treatments that share them.
    #[serde(skip)]
    pub measured_at: Levels,
    pub estimate: Option<Estimate>,
    /// The arithmetic mean over blocks of the response, where it is more than 5% above the
    /// geometric one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arithmetic_mean: Option<f64>,
    pub best_of_three: Option<f64>,
    pub blocks: Vec<BlockPart>,
    pub ratio: Option<RatioPart>,
    pub cpu_seconds_per_request: Option<f64>,
    pub cores_used: Option<f64>,
    /// Where it is not the response itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_time_ms_mean: Option<Estimate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statements_per_second: Option<Estimate>,
    pub requests_per_second: Option<f64>,
    pub requests: u64,
    pub failures: u64,
    /// Failures by a wrong answer, and by a time-out.
    pub wrong_answers: u64,
    pub timed_out: u64,
    pub void_trials: usize,
    /// Open load: what was offered, and whether the engine could not keep up with it.
    pub offered_per_second: Option<f64>,
    pub saturated: bool,
    /// Those that every trial has observations enough for.
    pub percentiles: Vec<PercentilePart>,
    /// Share and time in ms, from the histograms of all blocks together; supported ones only.
    pub percentile_curve: Vec<(f64, f64)>,
    /// Means over blocks of what engine and kernel counted during a trial.
    pub counters: Vec<CounterPart>,
    /// The counters in words, as `spilled 25 MB of a sort to disk`.
    pub notes: Vec<String>,
    /// Plans that the engine chose, where they were observed.
    pub plans: Vec<PlanPart>,
    pub requests_by_name: Vec<RequestPart>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct BlockPart {
    pub block: usize,
    pub value: f64,
}

/// A ratio to the first engine.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RatioPart {
    pub to: String,
    pub estimate: Estimate,
    pub verdict: Shown,
    /// The difference that is shown besides, where the verdict is that both are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Shown>,
}

/// One request of the mix.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RequestPart {
    pub name: String,
    pub estimate: Option<Estimate>,
    pub ratio: Option<RatioPart>,
    /// The share of its executions that changed no row (0 to 1); none where it only reads, or effects
    /// are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_effect_fraction: Option<f64>,
}

/// One percentile of the response time: the mean over blocks of each trial's own.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PercentilePart {
    /// Between 0 and 1, as 0.99.
    pub p: f64,
    pub value_ms: f64,
    pub low_ms: Option<f64>,
    pub high_ms: Option<f64>,
    pub method: Method,
    pub replicates: usize,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct CounterPart {
    pub name: String,
    pub label: String,
    /// `bytes`, `s`, or none for plain counts.
    pub unit: Option<&'static str>,
    pub value: f64,
}

/// One operation's plan; the document's `plans` has the text by its hash.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PlanPart {
    pub operation: String,
    /// More than one where it changed between blocks; empty where it could not be seen.
    pub hashes: Vec<String>,
    pub not_observable: Option<String>,
}

/// Result of a sweep in one place.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct CrossingPart {
    pub levels: Levels,
    pub request: Option<String>,
    pub a: String,
    pub b: String,
    /// The verdicts with which its own are corrected.
    pub family: Family,
    pub kind: CrossingKind,
    /// The two measured levels between which the lines cross.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// An interpolated level, never with an interval.
    pub about: Option<f64>,
    pub sentence: String,
    /// An engine's plan that changes between two levels of the swept factor there.
    pub plan_change: Option<PlanChangePart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CrossingKind {
    Bracketed,
    NotInRange,
    Inconclusive,
}

/// A plan that changes between two measured levels of the swept factor.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PlanChangePart {
    pub engine: String,
    pub between: (f64, f64),
    /// The operations whose plans change there.
    pub operations: Vec<String>,
    /// The plan at either level, of the first of these operations.
    pub plans: Vec<LevelPlanPart>,
}

/// A plan at a level; the document's `plans` has the text by its hash.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LevelPlanPart {
    pub level: f64,
    pub hash: String,
}

/// Effect of a factor's level, everything else equal: the ratio of a time to that at another level,
/// or the change of the ratio of two engines' times.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct EffectPart {
    pub factor: String,
    pub engine: String,
    /// None: the engine's own time. Else: its ratio to this engine's time.
    pub against: Option<String>,
    /// The level in the denominator.
    pub from: Level,
    pub to: Level,
    /// The levels at which the other factors were held; one that varies alone and is not named
    /// was at its first level.
    pub levels: Levels,
    pub estimate: Estimate,
    /// Faster: `engine` gains by it.
    pub verdict: Shown,
    /// The operations whose plan is another one after the change; of an engine's own time only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plan_changes: Vec<String>,
}

/// Effect of a factor with two levels at either level of another such factor.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct InteractionPart {
    pub engine: String,
    pub factor: String,
    pub from: Level,
    pub to: Level,
    /// The factor on which the effect may depend, and its two levels.
    pub other: String,
    pub at: [Level; 2],
    /// The levels at which all further factors were held.
    pub levels: Levels,
    /// The effect at either level of `other`.
    pub effects: [Estimate; 2],
    /// The second effect by the first.
    pub estimate: Estimate,
    /// Faster: `engine` gains more at the second level of `other`; equal: no interaction beyond the
    /// margin.
    pub verdict: Shown,
}

/// A threshold where it was applied.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ThresholdPart {
    /// As `response_time_ms_p99 < 200`.
    pub rule: String,
    /// As `sqlite, 4 clients, year`.
    #[serde(rename = "where")]
    pub place: String,
    pub engine: String,
    pub levels: Levels,
    /// The request of the mix that a regression is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// As `180 ms (170 to 190)`.
    pub measured: String,
    /// None where the interval holds the bound, or nothing was measured.
    pub met: Option<bool>,
}

/// Several runs in one page.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Several {
    pub schema_version: u32,
    pub documents: Vec<Document>,
    /// Whether the charts of all runs begin with the same axes.
    pub common_axes: bool,
    pub warnings: Vec<WarningPart>,
}
