//! Trials made by formula, for tests: what they must show is known.

pub mod steps;

use std::collections::BTreeMap;

use jiff::Timestamp;
use plan::{Design, PlannedTrial, Round};
use plan::{Levels, Plan};
use record::{FailureCounts, RequestSummary, Status, Trial};

/// Two factors that act on PostgreSQL alone, each varied by itself, beside the swept one.
pub const FACTORS: &str = include_str!("../../testing/fixtures/factors.toml");

pub fn plan(replicates: usize) -> Plan {
    let text = include_str!("../../../experiments/article.toml");
    let mut plan = plan::read(text, "article.toml").unwrap();
    plan.replicates = replicates;
    plan
}

/// A deterministic wobble of about 2%.
fn noise(number: usize) -> f64 {
    1.0 + 0.02 * ((number * 7919 % 101) as f64 / 50.0 - 1.0)
}

pub fn trials(plan: &Plan, rounds: &[Round], time: impl Fn(usize, f64, f64) -> f64) -> Vec<Trial> {
    let number = |levels: &Levels, name: &str| levels[name].number().unwrap();
    let of = |engine: usize, levels: &Levels| {
        time(engine, number(levels, "days"), number(levels, "clients"))
    };
    trials_by(plan, rounds, of)
}

pub fn trials_by(
    plan: &Plan,
    rounds: &[Round],
    time: impl Fn(usize, &Levels) -> f64,
) -> Vec<Trial> {
    let planned = (0..rounds.len()).flat_map(|index| Design::of(plan).trials(1, rounds, index));
    planned
        .map(|planned| {
            let mean = time(planned.engine, &planned.levels) * noise(planned.number);
            trial(plan, &planned, mean)
        })
        .collect()
}

/// A trial that took `mean` ms per request.
pub fn trial(plan: &Plan, planned: &PlannedTrial, mean: f64) -> Trial {
    let by_request = plan.requests.iter().map(|request| RequestSummary {
        name: request.name.clone(),
        requests: 10,
        response_time_ms_mean: Some(mean),
        response_time_ms_percentiles: BTreeMap::new(),
        failures: Some(FailureCounts::default()),
        without_effect_fraction: None,
    });
    Trial {
        number: planned.number,
        block: planned.block,
        engine: plan.engines[planned.engine].label(),
        levels: planned.levels.clone(),
        status: Status::Ok,
        started: Timestamp::UNIX_EPOCH,
        wall_seconds: 1.0,
        requests: 90,
        failures: 0,
        first_failure: None,
        response_time_ms_mean: Some(mean),
        response_time_ms_mean_with_time_outs: None,
        checkpoint_seconds: None,
        sync_seconds: None,
        requests_per_second: 1000.0 / mean,
        cpu_seconds_per_request: Some(mean / 1000.0),
        cores_used: Some(1.0),
        client_cores_used: 0.01,
        steal_fraction: Some(0.0),
        other_cores_used: Some(0.0),
        server_resident_bytes: None,
        by_request: by_request.collect(),
        response_time_ms_percentiles: BTreeMap::new(),
        counters: BTreeMap::new(),
        plans: Vec::new(),
        quiet_wait_seconds: 0.0,
        swapped_bytes: None,
        cpu_pressure_fraction: None,
        memory_pressure_fraction: None,
        warm_up_steady: None,
        warm_up_failures: 0,
        second_half_ratio: None,
        offered_per_second: None,
        saturated: false,
        answers_by_second: Vec::new(),
        written: BTreeMap::new(),
    }
}

/// Adds failures to the first request of the mix.
pub fn fail(trial: &mut Trial, failures: FailureCounts) {
    trial.failures += failures.all;
    trial.requests += failures.all;
    if let Some(first) = trial.by_request.first_mut() {
        first.requests += failures.all;
        first.failures = Some(failures);
    }
}
