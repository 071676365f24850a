//! The part of a report that only throughput over clients has: peaks, scaling, what becomes of it
//! beyond the peak, each release against the one before, and when the releases came out.

use serde::Serialize;
use stats::Estimate;

use crate::analysis::{Analysis, Beyond, Scaling, Shown, Sweep};
use crate::answer::RunAnswer;
use plan::Levels;
use plan::Plan;
use record::Finished;

/// Throughput over the number of clients.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ThroughputPart {
    /// Processors that the server side could use: where the peak would be if nothing else mattered.
    pub cores: usize,
    pub scaling: Vec<ScalingPart>,
    pub steps: Vec<StepPart>,
    pub releases: Vec<ReleasePart>,
}

/// One engine over the clients.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ScalingPart {
    pub engine: String,
    pub levels: Levels,
    /// The number of clients with the largest mean.
    pub peak_clients: f64,
    pub peak: Estimate,
    /// Every number of clients that is not shown to be below it.
    pub peak_candidates: Vec<f64>,
    pub one_client: Option<Estimate>,
    /// Throughput at each number of clients by that at one.
    pub over_one_client: Vec<AtClients>,
    /// Throughput at a multiple of the peak's clients by that at the peak.
    pub beyond_peak: Vec<BeyondPart>,
}

/// A ratio at a number of clients.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct AtClients {
    pub clients: f64,
    pub estimate: Estimate,
}

/// A ratio at a multiple of the peak's clients.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct BeyondPart {
    pub times: f64,
    pub clients: f64,
    pub estimate: Estimate,
}

/// One engine against the one before it of its kind.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StepPart {
    pub engine: String,
    pub before: String,
    pub levels: Levels,
    pub results: Vec<StepResult>,
    /// Numbers of clients that have no result, since one of the two failed there.
    #[serde(skip)]
    pub left_out: Vec<f64>,
    /// Where the lines cross, or who leads.
    pub sentence: String,
}

/// Throughput by that of the engine before, at a number of clients.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StepResult {
    pub clients: f64,
    pub estimate: Estimate,
    /// Corrected over all steps of the run.
    pub verdict: Shown,
}

/// A release of PostgreSQL; dates are days, none where this program does not know them.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ReleasePart {
    pub engine: String,
    pub branch: String,
    pub first_release: Option<&'static str>,
    pub tested: String,
    pub tested_release: Option<&'static str>,
}

pub(super) fn part(
    finished: &Finished,
    analysis: &Analysis,
    answer: &RunAnswer,
) -> Option<ThroughputPart> {
    let throughput = analysis.throughput.as_ref()?;
    let plan = &finished.plan;
    let limited = plan.server_cpus.as_ref().map(Vec::len);
    Some(ThroughputPart {
        cores: limited.unwrap_or(finished.run.environment.cpus),
        scaling: throughput.scaling.iter().map(scaling).collect(),
        steps: throughput
            .steps
            .iter()
            .zip(&answer.of_steps)
            .map(|(sweep, sentence)| step(plan, sweep, sentence))
            .collect(),
        releases: releases(finished),
    })
}

fn scaling(one: &Scaling) -> ScalingPart {
    let beyond =
        |one: &Beyond| BeyondPart { times: one.times, clients: one.clients, estimate: one.ratio };
    let at = |(clients, estimate): &(f64, Estimate)| AtClients {
        clients: *clients,
        estimate: *estimate,
    };
    ScalingPart {
        engine: one.engine.clone(),
        levels: one.levels.clone(),
        peak_clients: one.peak.clients,
        peak: one.peak.throughput,
        peak_candidates: one.peak.candidates.clone(),
        one_client: one.one_client,
        over_one_client: one.over_one.iter().map(at).collect(),
        beyond_peak: one.beyond.iter().map(beyond).collect(),
    }
}

fn step(plan: &Plan, sweep: &Sweep, sentence: &str) -> StepPart {
    let results = sweep.results.iter().map(|result| StepResult {
        clients: result.level,
        estimate: plan.response().ratio(result.ratio),
        verdict: result.shown(),
    });
    StepPart {
        engine: sweep.a.clone(),
        before: sweep.b.clone(),
        levels: sweep.levels.clone(),
        results: results.collect(),
        left_out: sweep.left_out.clone(),
        sentence: sentence.to_owned(),
    }
}

/// Of the engines whose releases are dated, in the order of the plan.
fn releases(finished: &Finished) -> Vec<ReleasePart> {
    let engines = finished.plan.engines.iter();
    let releases = engines.filter(|engine| engine.source.kind().properties().has_dated_releases);
    let part = |engine: &engine::EngineSpec| {
        let record = finished.run.engines.get(&engine.label())?;
        let tested = record.version.strip_prefix("PostgreSQL ")?;
        // The distribution's addition to a version: `15.19 (Debian 15.19-0+deb12u1)`.
        let tested = tested.split_whitespace().next()?.to_owned();
        let branch = crate::release_history::branch(&tested)?;
        Some(ReleasePart {
            engine: engine.label(),
            first_release: crate::release_history::first_release(&branch),
            tested_release: crate::release_history::date(&tested),
            branch,
            tested,
        })
    };
    let releases: Vec<ReleasePart> = releases.filter_map(part).collect();
    // One release has none to be compared with.
    if releases.len() > 1 { releases } else { Vec::new() }
}
