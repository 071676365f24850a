//! One treatment's trials, put together.

use std::collections::{BTreeMap, BTreeSet};

use engine::EngineSpec;
use stats::{BOOTSTRAP_MIN_REPLICATES, Estimate, bca_interval, best_of, mean_estimate};

use super::{CONFIDENCE_LEVEL, OperationPlans, Percentile, RequestResult, Treatment};
use crate::observe::notes;
use crate::plan::{Plan, Response, canonical_levels};
use crate::record::{CapturedPlan, PERCENTILES, Status, Trial};
use crate::schedule::Levels;

/// All treatments in the order of the plan's engines and of `cells`. A factor that has no effect on
/// an engine leaves it one treatment for all levels: its trials stand in each of these cells. Where a
/// line repeats an earlier one it has no treatment.
pub(super) fn collect(plan: &Plan, cells: &[Levels], trials: &[Trial]) -> Vec<Treatment> {
    let mut by_treatment: BTreeMap<(&str, &Levels), Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        by_treatment.entry((&trial.engine, &trial.levels)).or_default().push(trial);
    }
    let operations: Vec<String> = plan.operations().into_iter().map(|one| one.name).collect();
    let mut treatments = Vec::new();
    for (index, engine) in plan.engines.iter().enumerate() {
        let label = engine.label();
        for levels in cells.iter().filter(|levels| !plan.repeats(index, levels)) {
            let measured_at = canonical_levels(plan, engine, levels);
            let trials = by_treatment.get(&(label.as_str(), &measured_at));
            let trials = trials.map(Vec::as_slice).unwrap_or_default();
            let cells = (levels, &measured_at);
            treatments.push(treatment(plan.response(), engine, cells, trials, &operations));
        }
    }
    treatments
}

fn treatment(
    response: Response,
    engine: &EngineSpec,
    (levels, measured_at): (&Levels, &Levels),
    trials: &[&Trial],
    operations: &[String],
) -> Treatment {
    let counting: Vec<&Trial> =
        trials.iter().copied().filter(|trial| trial.status == Status::Ok).collect();
    let blocks: Vec<(usize, f64)> =
        counting.iter().filter_map(|t| Some((t.block, response.of_trial(t)?))).collect();
    let time_blocks: Vec<(usize, f64)> =
        counting.iter().filter_map(|t| Some((t.block, t.response_time_ms_mean?))).collect();
    // A trial that failed throughout has no time and counts all the more as a failure.
    let answered = || trials.iter().filter(|trial| trial.status.is_answered());
    let (times, values) = (values(&time_blocks), values(&blocks));
    let requests_per_second: Vec<f64> = counting.iter().map(|t| t.requests_per_second).collect();
    Treatment {
        engine: engine.label(),
        levels: levels.clone(),
        measured_at: measured_at.clone(),
        trials: counting.iter().map(|trial| trial.number).collect(),
        estimate: mean_estimate(&values, CONFIDENCE_LEVEL),
        best_of_three: best_of(&values, 3).filter(|_| response.lower_is_better()),
        blocks,
        time_blocks,
        response_time: mean_estimate(&times, CONFIDENCE_LEVEL),
        ratio: None,
        percentiles: percentiles(&counting),
        cpu_seconds_per_request: mean(counting.iter().map(|t| t.cpu_seconds_per_request)),
        cpu_seconds_estimate: all(counting.iter().map(|t| t.cpu_seconds_per_request)),
        cores_used: mean(counting.iter().map(|t| t.cores_used)),
        requests_per_second: mean(requests_per_second.iter().copied().map(Some)),
        throughput: mean_estimate(&requests_per_second, CONFIDENCE_LEVEL),
        statements_per_second: all(counting
            .iter()
            .map(|t| t.counters.get(STATEMENTS_PER_SECOND).copied())),
        failure_fraction: all(answered().map(|t| failure_fraction(t))),
        offered_per_second: mean(counting.iter().map(|t| t.offered_per_second)),
        saturated: counting.iter().any(|trial| trial.saturated),
        counters: counters(&counting),
        notes: notes(&counting.iter().map(|trial| &trial.counters).collect::<Vec<_>>()),
        plans: operations.iter().filter_map(|name| plans(name, &counting)).collect(),
        requests: answered().map(|t| t.requests).sum(),
        failures: answered().map(|t| t.failures).sum(),
        void: trials.len() - counting.len(),
        by_request: operations.iter().map(|name| by_request(name, &counting)).collect(),
    }
}

fn by_request(name: &str, trials: &[&Trial]) -> RequestResult {
    let blocks: Vec<(usize, f64)> = trials
        .iter()
        .filter_map(|trial| {
            let summary = trial.by_request.iter().find(|summary| summary.name == name)?;
            Some((trial.block, summary.response_time_ms_mean?))
        })
        .collect();
    RequestResult {
        name: name.to_owned(),
        estimate: mean_estimate(&values(&blocks), CONFIDENCE_LEVEL),
        blocks,
        ratio: None,
    }
}

/// Those that every trial has observations enough for. Percentiles over blocks are skewed, so from
/// 20 blocks their interval is a bootstrap's (METHOD.md, section 5).
fn percentiles(trials: &[&Trial]) -> Vec<Percentile> {
    let of = |(name, p): (&'static str, f64)| {
        let found = trials.iter().map(|t| t.response_time_ms_percentiles.get(name).copied());
        let values: Vec<f64> = found.collect::<Option<_>>()?;
        let bootstrapped = (values.len() >= BOOTSTRAP_MIN_REPLICATES).then(|| {
            let mean = |sample: &[f64]| sample.iter().sum::<f64>() / sample.len() as f64;
            bca_interval(&values, mean, CONFIDENCE_LEVEL, BOOTSTRAP_SEED)
        });
        let estimate = bootstrapped.flatten().or_else(|| mean_estimate(&values, CONFIDENCE_LEVEL));
        Some(Percentile { name, p, estimate: estimate? })
    };
    PERCENTILES.into_iter().filter_map(of).collect()
}

/// What workload `oltp` counts besides transactions.
const STATEMENTS_PER_SECOND: &str = "client_statements_per_second";

/// The same resamples for the same values: a report drawn twice is the same.
const BOOTSTRAP_SEED: u64 = 1;

fn failure_fraction(trial: &Trial) -> Option<f64> {
    (trial.requests > 0).then(|| trial.failures as f64 / trial.requests as f64)
}

/// Means over blocks of the counters that every trial has.
fn counters(trials: &[&Trial]) -> BTreeMap<String, f64> {
    let names: BTreeSet<&String> = trials.iter().flat_map(|trial| trial.counters.keys()).collect();
    let named = names.into_iter().filter_map(|name| {
        let values = trials.iter().map(|trial| trial.counters.get(name).copied());
        Some((name.clone(), mean(values)?))
    });
    named.collect()
}

fn plans(operation: &str, trials: &[&Trial]) -> Option<OperationPlans> {
    let of_operation =
        |trial: &&Trial| trial.plans.iter().find(|p| p.operation == operation).cloned();
    let mut found = OperationPlans { operation: operation.to_owned(), ..Default::default() };
    for one in trials.iter().filter_map(of_operation) {
        match one.plan {
            CapturedPlan::Observed { hash, .. } if !found.hashes.contains(&hash) => {
                found.hashes.push(hash);
            }
            CapturedPlan::Observed { .. } => {}
            CapturedPlan::NotObservable { why } => found.not_observable = Some(why),
        }
    }
    (!found.hashes.is_empty() || found.not_observable.is_some()).then_some(found)
}

fn values(blocks: &[(usize, f64)]) -> Vec<f64> {
    blocks.iter().map(|(_, value)| *value).collect()
}

/// An estimate, or none if one of the values could not be obtained.
fn all(values: impl Iterator<Item = Option<f64>>) -> Option<Estimate> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    mean_estimate(&values, CONFIDENCE_LEVEL)
}

/// The mean, or none if one of the values could not be obtained.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
