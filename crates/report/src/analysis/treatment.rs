//! One treatment's trials, put together.

use std::collections::{BTreeMap, BTreeSet};

use engine::EngineSpec;
use stats::{
    BOOTSTRAP_MIN_REPLICATES, Estimate, bca_interval, best_of, geometric_mean_estimate,
    mean_estimate,
};

use super::notes::notes;
use super::{
    CONFIDENCE_LEVEL, Failures, OperationPlans, Percentile, RequestResult, Standing, Treatment,
};
use plan::Design;
use plan::{Levels, clients};
use record::counter::{CLIENT_PROCESSOR_WAIT, WRITE_LOCK_HELD, WRITE_LOCK_WAIT};
use record::{CapturedPlan, PERCENTILES, Status, Trial, WrittenTable};

/// All treatments in the order of the plan's engines and of `cells`. A factor that has no effect on
/// an engine leaves it one treatment for all levels: its trials are in each of these cells. Where a
/// line repeats an earlier one it has no treatment.
pub(super) fn collect(design: &Design<'_>, cells: &[Levels], trials: &[Trial]) -> Vec<Treatment> {
    let mut by_treatment: BTreeMap<(&str, &Levels), Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        by_treatment.entry((&trial.engine, &trial.levels)).or_default().push(trial);
    }
    let operations: Vec<String> = design.operations().into_iter().map(|one| one.name).collect();
    let mut treatments = Vec::new();
    for (index, engine) in design.engines.iter().enumerate() {
        let label = engine.label();
        for levels in cells.iter().filter(|levels| !design.rules().repeats(index, levels)) {
            let measured_at = design.canonical_levels(engine, levels);
            let trials = by_treatment.get(&(label.as_str(), &measured_at));
            let trials = trials.map(Vec::as_slice).unwrap_or_default();
            let cells = (levels, &measured_at);
            treatments.push(treatment(design, engine, cells, trials, &operations));
        }
    }
    treatments
}

fn treatment(
    design: &Design<'_>,
    engine: &EngineSpec,
    (levels, measured_at): (&Levels, &Levels),
    trials: &[&Trial],
    operations: &[String],
) -> Treatment {
    let response = design.response();
    let counting: Vec<&Trial> =
        trials.iter().copied().filter(|trial| trial.status == Status::Ok).collect();
    let blocks: Vec<(usize, f64)> =
        counting.iter().filter_map(|t| Some((t.block, t.value_of(response)?))).collect();
    let time_blocks: Vec<(usize, f64)> =
        counting.iter().filter_map(|t| Some((t.block, t.response_time_ms_mean?))).collect();
    let until_checkpoint =
        |t: &&Trial| Some((t.block, t.with_checkpoint(t.response_time_ms_mean?)?));
    let checkpoint_blocks = counting.iter().filter_map(until_checkpoint).collect();
    // A trial that failed throughout has no time and counts all the more as a failure.
    let answered: Vec<&Trial> =
        trials.iter().copied().filter(|trial| trial.status.is_answered()).collect();
    let failures_by_request: Vec<(String, Failures)> = operations
        .iter()
        .map(|name| (name.clone(), Failures::of_request(name, &answered)))
        .collect();
    let sum = |of: fn(&Failures) -> u64| failures_by_request.iter().map(|(_, one)| of(one)).sum();
    let (times, values) = (values(&time_blocks), values(&blocks));
    let requests_per_second: Vec<f64> = counting.iter().map(|t| t.requests_per_second).collect();
    Treatment {
        engine: engine.label(),
        levels: levels.clone(),
        measured_at: measured_at.clone(),
        trials: counting.iter().map(|trial| trial.number).collect(),
        estimate: positive(&values),
        best_of_three: best_of(&values, 3).filter(|_| response.lower_is_better()),
        blocks_with_time_outs: with_time_outs(&counting, &blocks, |trial| {
            let mean = trial.response_time_ms_mean_with_time_outs;
            mean.filter(|_| response.lower_is_better()).map(|mean| trial.with_write_back(mean))
        }),
        blocks,
        time_blocks,
        checkpoint_blocks,
        response_time: positive(&times),
        response_time_arithmetic: from_zero(&times),
        ratio: None,
        standing: Standing::of(design, &answered, &failures_by_request),
        least_answers: counting.iter().map(|t| t.requests.saturating_sub(t.failures)).min(),
        percentiles: percentiles(&counting),
        cpu_seconds_per_request: mean(counting.iter().map(|t| t.cpu_seconds_per_request)),
        cpu_seconds_estimate: all(counting.iter().map(|t| t.cpu_seconds_per_request)),
        cores_used: mean(counting.iter().map(|t| t.cores_used)),
        requests_per_second: mean(requests_per_second.iter().copied().map(Some)),
        throughput: positive(&requests_per_second),
        statements_per_second: all(counting
            .iter()
            .map(|t| t.counters.get(STATEMENTS_PER_SECOND).copied())),
        failure_fraction: answered
            .iter()
            .map(|trial| failure_fraction(trial))
            .collect::<Option<Vec<f64>>>()
            .and_then(|shares| from_zero(&shares)),
        offered_per_second: mean(counting.iter().map(|t| t.offered_per_second)),
        saturated: counting.iter().any(|trial| trial.saturated),
        counters: counters(&counting),
        client_processor_wait_seconds: mean(counting.iter().map(|t| processor_wait_seconds(t))),
        notes: all_notes(&counting),
        plans: operations.iter().filter_map(|name| plans(name, &counting)).collect(),
        failures: Failures {
            requests: answered.iter().map(|trial| trial.requests).sum(),
            failed: answered.iter().map(|trial| trial.failures).sum(),
            wrong: sum(|one| one.wrong),
            timed_out: sum(|one| one.timed_out),
        },
        void: trials.len() - counting.len(),
        by_request: failures_by_request
            .into_iter()
            .map(|(name, failures)| by_request(name, failures, &counting))
            .collect(),
    }
}

fn processor_wait_seconds(trial: &Trial) -> Option<f64> {
    Some(trial.counters.get(CLIENT_PROCESSOR_WAIT)? * trial.wall_seconds)
}

fn all_notes(trials: &[&Trial]) -> Vec<String> {
    let counters: Vec<_> = trials.iter().map(|trial| &trial.counters).collect();
    notes(&counters).into_iter().chain(lock_note(trials)).chain(tables_note(trials)).collect()
}

/// Shares of the time in which SQLite's write lock was held, and in which its clients waited for it.
fn lock_note(trials: &[&Trial]) -> Option<String> {
    let shares = |counter: &str, of_clients: bool| {
        let share = |trial: &&Trial| {
            let clients = if of_clients { clients(&trial.levels) } else { 1 };
            Some(trial.counters.get(counter)? / (trial.wall_seconds * f64::from(clients)))
        };
        let shares: Vec<f64> = trials.iter().filter_map(share).collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    let held = shares(WRITE_LOCK_HELD, false).filter(|held| *held > 0.0)?;
    let waited = shares(WRITE_LOCK_WAIT, true)?;
    Some(format!(
        "the write lock was held {:.0}% of the time; a client waited for it {:.0}% of its time",
        held * 100.0,
        waited * 100.0
    ))
}

/// How the tables were compared that the trials have written to; none where nothing is known of it.
fn tables_note(trials: &[&Trial]) -> Option<String> {
    let writes =
        |trial: &&&Trial| trial.by_request.iter().any(|one| one.without_effect_fraction.is_some());
    let writing: Vec<&&Trial> = trials.iter().filter(writes).collect();
    let first = writing.first()?;
    let compared = writing.iter().filter(|trial| !trial.written.is_empty()).count();
    let how = |(name, table): (&String, &WrittenTable)| match &table.digest {
        Some(_) => format!("{name} by rows"),
        None => format!("{name} by the number of rows"),
    };
    let tables: Vec<String> = first.written.iter().map(how).collect();
    Some(match compared {
        0 => "what its trials wrote was not compared with other trials".to_owned(),
        all if all == writing.len() => {
            format!("compared with the other trials of the same work: {}", tables.join(", "))
        }
        some => format!("what was written was compared after {some} of {} trials", writing.len()),
    })
}

/// Of a statement that writes: the share of its executions that changed no row, the mean over trials.
fn without_effect(name: &str, trials: &[&Trial]) -> Option<f64> {
    let of_request = |trial: &&Trial| {
        let request = trial.by_request.iter().find(|one| one.name == name)?;
        request.without_effect_fraction
    };
    let fractions: Vec<f64> = trials.iter().filter_map(of_request).collect();
    let mean = fractions.iter().sum::<f64>() / fractions.len() as f64;
    (!fractions.is_empty()).then_some(mean)
}

fn by_request(name: String, failures: Failures, trials: &[&Trial]) -> RequestResult {
    let summary =
        |trial: &Trial| trial.by_request.iter().find(|summary| summary.name == name).cloned();
    let blocks: Vec<(usize, f64)> = trials
        .iter()
        .filter_map(|trial| Some((trial.block, summary(trial)?.response_time_ms_mean?)))
        .collect();
    RequestResult {
        estimate: positive(&values(&blocks)),
        blocks_with_time_outs: with_time_outs(trials, &blocks, |trial| {
            summary(trial)?.failures?.response_time_ms_mean_with_time_outs
        }),
        blocks,
        failures,
        ratio: None,
        without_effect: without_effect(&name, trials),
        name,
    }
}

/// The blocks with those values put in that time-outs change; empty where they change none.
fn with_time_outs(
    trials: &[&Trial],
    blocks: &[(usize, f64)],
    changed: impl Fn(&Trial) -> Option<f64>,
) -> Vec<(usize, f64)> {
    let changed: BTreeMap<usize, f64> =
        trials.iter().filter_map(|trial| Some((trial.block, changed(trial)?))).collect();
    if changed.is_empty() {
        return Vec::new();
    }
    let of = |(block, value): &(usize, f64)| (*block, *changed.get(block).unwrap_or(value));
    blocks.iter().map(of).collect()
}

/// Times and rates: their geometric mean. Ticks of a clock may count as nothing, which has no
/// logarithm.
pub fn positive(values: &[f64]) -> Option<Estimate> {
    geometric_mean_estimate(values, CONFIDENCE_LEVEL).or_else(|| from_zero(values))
}

/// The arithmetic mean of what is never negative.
fn from_zero(values: &[f64]) -> Option<Estimate> {
    let estimate = mean_estimate(values, CONFIDENCE_LEVEL)?;
    Some(Estimate { low: estimate.low.map(|low| low.max(0.0)), ..estimate })
}

/// Those that every trial has observations enough for. Percentiles over blocks are skewed, so from
/// 20 blocks their interval is a bootstrap's (METHOD.md, section 5).
fn percentiles(trials: &[&Trial]) -> Vec<Percentile> {
    let of = |(name, p): (&'static str, f64)| {
        let found = trials.iter().map(|t| t.response_time_ms_percentiles.get(name).copied());
        let values: Vec<f64> = found.collect::<Option<_>>()?;
        let bootstrapped = (values.len() >= BOOTSTRAP_MIN_REPLICATES).then(|| {
            let mean = |sample: &[f64]| {
                (sample.iter().map(|value| value.ln()).sum::<f64>() / sample.len() as f64).exp()
            };
            bca_interval(&values, mean, CONFIDENCE_LEVEL, BOOTSTRAP_SEED)
        });
        let estimate = bootstrapped.flatten().or_else(|| positive(&values));
        Some(Percentile { name, p, estimate: estimate? })
    };
    PERCENTILES.into_iter().filter_map(of).collect()
}

/// A counter of workload `oltp` besides transactions.
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
    positive(&values)
}

/// The mean, or none if one of the values could not be obtained.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
