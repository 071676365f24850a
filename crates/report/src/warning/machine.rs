//! Warnings about the machine: whether it was ours, whether the client had its share, whether the
//! data fitted.

use super::Warning;
use plan::{Level, Plan};
use record::counter::{CLIENT_PROCESSOR_WAIT, RELAY_CPU};
use record::{Run, Status, Trial};

/// More steal than this in a trial means that the machine was not ours (share of CPU time).
pub(super) const STEAL_FRACTION_MAX: f64 = 0.02;
/// Other programs that use more than this (in cores, on average over the trials) disturb it.
pub(super) const OTHER_CORES_MAX: f64 = 0.1;
/// A client that uses more of the machine than this may hold the server back.
pub(super) const CLIENT_SHARE_MAX: f64 = 0.2;
/// Processors used beyond this share of the machine are saturated.
pub(super) const SATURATED_SHARE: f64 = 0.9;
/// Client threads that are ready and have no processor for a larger share of a trial than this
/// measure themselves, not the server.
pub const CLIENT_WAIT_MAX: f64 = 0.05;
/// Waking a core takes up to a few hundred microseconds, depending on how deep it sleeps: a
/// request longer than this does not notice.
pub(super) const WAKE_NOTICED_MS: f64 = 1.0;
/// A machine that is used less than this share lets its cores sleep.
pub(super) const IDLE_SHARE_MAX: f64 = 0.5;
/// Waiting for memory beyond this share of a trial disturbs it.
pub(super) const MEMORY_PRESSURE_MAX: f64 = 0.01;
/// A wait for quiet that took so long ended at its limit.
pub(super) const QUIET_WAIT_MAX_SECONDS: f64 = 60.0;

pub(super) fn find(plan: &Plan, run: &Run, trials: &[Trial]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = client_busy(plan, run, trials).into_iter().collect();
    warnings.extend(relay_saturated(run, trials));
    warnings.extend(client_starved(plan, trials));
    if trials.iter().any(|trial| shares_cores(plan, trial)) {
        warnings.push(Warning::SharedCores);
    }
    warnings.extend(idle_cores(plan, run, trials));
    warnings.extend(busy_machine(run, trials));
    let waited = trials.iter().filter(|one| one.quiet_wait_seconds >= QUIET_WAIT_MAX_SECONDS);
    let waited_trials = waited.count();
    if waited_trials > 0 {
        warnings.push(Warning::NotQuiet { trials: waited_trials });
    }
    warnings.extend(steal(trials));
    warnings.extend(memory_pressure(plan, trials));
    warnings.extend(swapped(trials));
    warnings.extend(data_exceeds_memory(run));
    warnings
}

fn client_busy(plan: &Plan, run: &Run, trials: &[Trial]) -> Option<Warning> {
    let of_servers = trials.iter().filter(|trial| !is_in_this_process(plan, trial));
    let cores = of_servers.map(|trial| trial.client_cores_used).max_by(f64::total_cmp)?;
    let of = run.environment.cpus;
    (cores > of as f64 * CLIENT_SHARE_MAX).then_some(Warning::ClientBusy { cores, of })
}

/// The processors of a server that is out of sight are another machine's, or not known.
fn relay_saturated(run: &Run, trials: &[Trial]) -> Option<Warning> {
    let far = trials.iter().filter_map(|trial| {
        let relay = trial.counters.get(RELAY_CPU)? / trial.wall_seconds;
        Some(trial.cores_used.unwrap_or_default() + trial.client_cores_used + relay)
    });
    let cores = far.max_by(f64::total_cmp)?;
    let of = run.environment.cpus;
    (cores > of as f64 * SATURATED_SHARE).then_some(Warning::RelaySaturated { cores, of })
}

/// A side that is bound to no processors may run on any.
fn shares_cores(plan: &Plan, trial: &Trial) -> bool {
    match (plan.server_cpus_at(&trial.levels), &plan.client_cpus) {
        (Ok(Some(server)), Some(client)) => server.iter().any(|cpu| client.contains(cpu)),
        _ => true,
    }
}

fn client_starved(plan: &Plan, trials: &[Trial]) -> Option<Warning> {
    let of_servers = trials.iter().filter(|trial| !is_in_this_process(plan, trial));
    let waits = of_servers.filter_map(|trial| trial.counters.get(CLIENT_PROCESSOR_WAIT));
    let (fraction, trials) = worst(waits.copied(), CLIENT_WAIT_MAX)?;
    Some(Warning::ClientStarved { fraction, trials })
}

/// The largest of those beyond `bound`, and how many there are.
fn worst(values: impl Iterator<Item = f64>, bound: f64) -> Option<(f64, usize)> {
    let beyond: Vec<f64> = values.filter(|value| *value > bound).collect();
    Some((beyond.iter().copied().max_by(f64::total_cmp)?, beyond.len()))
}

/// The shortest wait of one client, if the machine was mostly idle during it.
fn idle_cores(plan: &Plan, run: &Run, trials: &[Trial]) -> Option<Warning> {
    let one_client = |trial: &&Trial| {
        trial.levels.get("clients").and_then(Level::number).is_none_or(|clients| clients <= 1.0)
    };
    let idle = |trial: &&Trial| {
        let used = trial.cores_used.map(|cores| cores + trial.client_cores_used);
        used.is_some_and(|used| used < run.environment.cpus as f64 * IDLE_SHARE_MAX)
    };
    let single = trials.iter().filter(|trial| trial.status == Status::Ok).filter(one_client);
    let short = single.filter(idle).filter_map(|trial| Some((trial, wait_ms(plan, trial)?)));
    let (trial, response_time_ms) = short.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (response_time_ms < WAKE_NOTICED_MS)
        .then(|| Warning::IdleCores { engine: trial.engine.clone(), response_time_ms })
}

/// Whether the engine's work is the client's, which then has no processors of its own to be given,
/// and no other process to wake.
pub(super) fn is_in_this_process(plan: &Plan, trial: &Trial) -> bool {
    let engine = plan.engines.iter().find(|engine| engine.label() == trial.engine);
    let is_embedded = engine.is_some_and(|engine| engine.source.kind().properties().is_embedded);
    is_embedded && !plan.workload.properties().has_application
}

/// How long one wait for an answer takes: a request, or one statement of a transaction. None of an
/// engine in this process.
fn wait_ms(plan: &Plan, trial: &Trial) -> Option<f64> {
    let mean = trial.response_time_ms_mean.filter(|_| !is_in_this_process(plan, trial))?;
    Some(mean / plan.rules().waits_per_operation(&trial.levels) as f64)
}

fn busy_machine(run: &Run, trials: &[Trial]) -> Option<Warning> {
    let others: Vec<f64> = trials.iter().filter_map(|trial| trial.other_cores_used).collect();
    let cores = others.iter().sum::<f64>() / others.len() as f64;
    let of = run.environment.cpus;
    (cores > OTHER_CORES_MAX).then_some(Warning::BusyMachine { cores, of })
}

fn steal(trials: &[Trial]) -> Option<Warning> {
    let fractions = trials.iter().filter_map(|trial| trial.steal_fraction);
    let (fraction, trials) = worst(fractions, STEAL_FRACTION_MAX)?;
    Some(Warning::Steal { fraction, trials })
}

/// Where the plan limits memory, waiting for it is what was asked for.
fn memory_pressure(plan: &Plan, trials: &[Trial]) -> Option<Warning> {
    let unlimited =
        trials.iter().filter(|trial| matches!(plan.server_memory_at(&trial.levels), Ok(None)));
    let fractions = unlimited.filter_map(|trial| trial.memory_pressure_fraction);
    let (fraction, trials) = worst(fractions, MEMORY_PRESSURE_MAX)?;
    Some(Warning::MemoryPressure { fraction, trials })
}

fn swapped(trials: &[Trial]) -> Option<Warning> {
    let some: Vec<u64> =
        trials.iter().filter_map(|trial| trial.swapped_bytes).filter(|bytes| *bytes > 0).collect();
    let bytes = some.iter().sum();
    (!some.is_empty()).then_some(Warning::Swapped { bytes, trials: some.len() })
}

/// Each engine counts once, with the largest of its starts.
fn data_exceeds_memory(run: &Run) -> Option<Warning> {
    let mut largest: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for record in run.engines.values() {
        let bytes = largest.entry(&record.name).or_default();
        *bytes = (*bytes).max(record.data_bytes.unwrap_or_default());
    }
    let data_bytes = largest.into_values().sum();
    let memory_bytes = run.environment.memory_bytes?;
    (data_bytes > memory_bytes).then_some(Warning::DataExceedsMemory { data_bytes, memory_bytes })
}
