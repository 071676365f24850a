//! One trial: load on one treatment, between two readings of every counter.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::warmed::Warmed;
use super::world::Laboratory;
use super::{clients, distance, fixed_work};
use crate::error::RunError;
use crate::workload::{CounterReading, Counters, Subject};
use engine::EngineSpec;
use host::observe::{self, Quiet};
use load::resource::{MachineCounters, MemoryGroup, ResourceUse};
use load::{OperationTotals, TrialSample};
use notation::counted;
use plan::Operation;
use plan::{PlannedTrial, trial_seed};
use record::Finished;
use record::counter::RELAY_CPU;
use record::{
    FailureCounts, NO_RIGHT_ANSWER, RequestSummary, ResponseTimes, Status, Trial, describe,
    write_histogram, write_observations,
};
use record::{Observation, Outcome};

/// The kernel counts a process's CPU time in ticks of 10 ms: in a shorter trial (a pass over quick
/// requests) a few ticks of rounding would be told as cores.
const CPU_WALL_SECONDS_MIN: f64 = 0.5;

/// Where a trial is measured.
pub(super) struct TrialBench<'a> {
    pub finished: &'a Finished,
    pub engine: &'a str,
    /// Where the server side's memory is limited.
    pub group: Option<&'a MemoryGroup>,
    pub quiet: &'a Quiet,
    /// Observations before the turn's first trial.
    pub warmed: &'a Warmed,
    pub lab: &'a Laboratory<'a>,
}

/// Measures one trial and writes its observations.
pub(super) fn measure(
    bench: &TrialBench<'_>,
    subject: &mut dyn Subject,
    planned: &PlannedTrial,
) -> Result<Trial, RunError> {
    let (plan, options) = (&bench.finished.plan, bench.lab.options);
    let seed = trial_seed(bench.finished.run.seed, planned.number);
    let load = fixed_work::load_of(plan, &bench.finished.run, &planned.levels, seed)?;
    options.progress.set_message(describe_trial(bench, planned));
    subject.prepare(&planned.levels)?;
    let tell = |reason| options.progress.set_message(reason);
    let quiet =
        bench.lab.world.wait_for_quiet(bench.quiet, subject.side(), options.interrupted, &tell);
    if quiet.waited_seconds > 0.0 {
        options.progress.set_message(describe_trial(bench, planned));
    }

    let counted = counters(bench, subject);
    let before = CounterReading::take(subject.side()).with(counted);
    let started = Timestamp::now();
    let sample = subject.load(&planned.levels, &load)?;
    let write_back = subject.write_back()?;
    let after = CounterReading::take(subject.side());
    let whole = before.until(after.with(counters(bench, subject)));
    let part = subject.measured_part();

    let folder = &bench.finished.folder;
    write_observations(&folder.observations_path(planned.number), &sample.observations)?;
    let times = ResponseTimes::of(sample.observations.iter())?;
    write_histogram(&folder.histogram_path(planned.number), &times)?;
    let operations = plan.operations_at(&planned.levels);
    let mut trial = summarise(&operations, bench.engine, planned, started, &sample);
    if trial.failures == 0 {
        let wanted = fixed_work::table_comparison(plan, &bench.finished.run, &planned.levels);
        trial.written = subject.written_tables(&planned.levels, wanted)?;
    }
    for (index, operation) in (0..).zip(&operations) {
        let summary = trial.by_request.iter_mut().find(|one| one.name == operation.name);
        let Some(summary) = summary else { continue };
        summary.without_effect_fraction = subject.without_effect_fraction(index);
    }
    // An engine has words for what it refused, not for an answer that is wrong.
    let failed = sample.first_failure.filter(|(_, outcome)| *outcome != Outcome::WrongAnswer);
    let words = failed.and_then(|(index, _)| subject.failure_message(index));
    if let (Some(failure), Some(words)) = (&mut trial.first_failure, words) {
        failure.push_str(&format!(": {words}"));
    }
    trial.response_time_ms_percentiles = times.percentiles_ms();
    if plan.enough.is_some() {
        note_percentiles(&mut trial, &plan.operations(), &sample)?;
    }
    trial.checkpoint_seconds = write_back.map(|one| one.checkpoint.as_secs_f64());
    trial.sync_seconds = write_back.and_then(|one| one.sync).map(|sync| sync.as_secs_f64());
    trial.counters.extend(whole.counters);
    let (used, machine) = match part {
        None => (whole.used, whole.machine),
        Some(part) => {
            trial.counters.extend(part.counters);
            trial.answers_by_second = part.answers_by_second;
            (part.used, part.machine.or(whole.machine))
        }
    };
    trial.quiet_wait_seconds = quiet.waited_seconds;
    trial.warm_up_steady = bench.warmed.steady;
    trial.warm_up_failures = bench.warmed.failures;
    trial.plans = bench.warmed.plans.get(&planned.number).cloned().unwrap_or_default();
    clients::note(&mut trial, &bench.finished.run, &sample.observations);
    trial.counters.extend(observe::of_client(&sample.client_use, trial.wall_seconds));
    if let Some(used) = used {
        note_server(&mut trial, &used);
    }
    if let Some(machine) = machine {
        note_machine(&mut trial, machine);
    }
    Ok(match distance::unused_relay(&trial) {
        None => trial,
        Some(why) => void(trial, why),
    })
}

/// Notes the percentiles of each operation by itself, which a bound of the plan is about.
fn note_percentiles(
    trial: &mut Trial,
    operations: &[Operation],
    sample: &TrialSample,
) -> Result<(), RunError> {
    for summary in &mut trial.by_request {
        let place = operations.iter().position(|operation| operation.name == summary.name);
        let is_its_own = |one: &Observation| place == Some(usize::from(one.request));
        let times = ResponseTimes::of(sample.observations.iter().filter(is_its_own))?;
        summary.response_time_ms_percentiles = times.percentiles_ms();
    }
    Ok(())
}

/// Notes the resources that the server side used.
fn note_server(trial: &mut Trial, used: &ResourceUse) {
    trial.counters.extend(observe::of_server(used));
    if trial.wall_seconds >= CPU_WALL_SECONDS_MIN {
        let cpu = used.cpu_seconds();
        // Where answers are counted by when they ended, so they are here: some had begun before.
        let answers = match trial.answers_by_second.is_empty() {
            true => trial.requests as f64,
            false => trial.requests_per_second * trial.wall_seconds,
        };
        trial.cpu_seconds_per_request = Some(cpu / answers.max(1.0));
        trial.cores_used = Some(cpu / trial.wall_seconds);
        trial.server_resident_bytes = Some(used.resident_bytes_peak);
    }
}

/// Counters of the engine and of the memory's group so far.
fn counters(bench: &TrialBench<'_>, subject: &mut dyn Subject) -> Counters {
    let mut counters = subject.counters();
    counters.extend(bench.group.map(MemoryGroup::counters).unwrap_or_default());
    counters
}

/// Notes the use of the rest of the machine during the trial.
fn note_machine(trial: &mut Trial, machine: MachineCounters) {
    let (wall, cpus) = (trial.wall_seconds, machine.processors as f64);
    trial.steal_fraction = machine.steal_seconds.map(|seconds| seconds / (wall * cpus));
    trial.cpu_pressure_fraction = machine.cpu_pressure_seconds.map(|seconds| seconds / wall);
    trial.memory_pressure_fraction = machine.memory_pressure_seconds.map(|seconds| seconds / wall);
    let swapped = machine.swapped_in_bytes.zip(machine.swapped_out_bytes);
    trial.swapped_bytes = swapped.map(|(read, written)| read + written);
    let relay = trial.counters.get(RELAY_CPU).copied().unwrap_or_default();
    let known = || {
        let idle = machine.idle_seconds? + machine.steal_seconds?;
        Some(idle / wall + trial.cores_used? + trial.client_cores_used + relay / wall)
    };
    trial.other_cores_used = known().map(|known| (cpus - known).max(0.0));
}

fn describe_trial(bench: &TrialBench<'_>, planned: &PlannedTrial) -> String {
    let mut words = vec![format!("block {}", planned.block), bench.engine.to_owned()];
    words.extend(
        planned
            .levels
            .iter()
            .map(|(name, level)| report::analysis::level_label(&bench.finished.plan, name, level)),
    );
    let mut lines = vec![words.join(", ")];
    let engines = bench.finished.plan.engines.iter().map(EngineSpec::label);
    lines.extend(engines.filter_map(|engine| so_far(bench.finished, &engine, planned)));
    lines.join("\n  ")
}

/// `sqlite so far: 9.41 ms in 3 blocks`, at the levels of the trial that comes; none before its
/// first.
fn so_far(finished: &Finished, engine: &str, planned: &PlannedTrial) -> Option<String> {
    let is_rate = !finished.plan.response().lower_is_better();
    let trials = finished.trials.iter().filter(|trial| {
        trial.engine == engine && trial.levels == planned.levels && trial.status == Status::Ok
    });
    let value = |trial: &Trial| match is_rate {
        true => Some(trial.requests_per_second),
        false => trial.response_time_ms_mean,
    };
    let values: Vec<f64> = trials.filter_map(value).collect();
    let mean = stats::geometric_mean_estimate(&values, report::analysis::CONFIDENCE_LEVEL)?.value;
    let unit = if is_rate { "per second" } else { "ms" };
    let blocks = counted(values.len(), "block");
    Some(format!("{engine} so far: {} {unit} in {blocks}", notation::digits(mean)))
}

fn request_summary(operation: &Operation, totals: &OperationTotals) -> RequestSummary {
    RequestSummary {
        name: operation.name.clone(),
        requests: totals.count,
        response_time_ms_mean: totals.mean_response_time_ns().map(|ns| ns / 1e6),
        response_time_ms_percentiles: BTreeMap::new(),
        failures: Some(FailureCounts {
            all: totals.failures,
            wrong: totals.wrong,
            timed_out: totals.timed_out,
            response_time_ms_mean_with_time_outs: totals
                .mean_with_time_outs_ns()
                .filter(|_| totals.timed_out > 0)
                .map(|ns| ns / 1e6),
        }),
        without_effect_fraction: None,
    }
}

fn summarise(
    operations: &[Operation],
    engine: &str,
    planned: &PlannedTrial,
    started: Timestamp,
    sample: &TrialSample,
) -> Trial {
    let by_request: Vec<RequestSummary> = operations
        .iter()
        .zip(&sample.operations)
        .filter(|(operation, _)| operation.weight > 0)
        .map(|(operation, totals)| request_summary(operation, totals))
        .collect();
    let mean = weighted_mean(operations, &by_request, |summary| summary.response_time_ms_mean);
    Trial {
        number: planned.number,
        block: planned.block,
        engine: engine.to_owned(),
        levels: planned.levels.clone(),
        status: match mean {
            Some(_) => Status::Ok,
            None => Status::Void(NO_RIGHT_ANSWER.to_owned()),
        },
        started,
        wall_seconds: sample.wall_time.as_secs_f64(),
        requests: sample.observations.len() as u64,
        failures: sample.failures(),
        first_failure: sample.first_failure.map(|(index, outcome)| {
            let operation = operations.get(usize::from(index));
            let name = operation.map(|operation| operation.name.as_str()).unwrap_or_default();
            format!("{name}: {}", describe(outcome))
        }),
        response_time_ms_mean: mean,
        response_time_ms_mean_with_time_outs: weighted_mean(operations, &by_request, |summary| {
            let failures = summary.failures.as_ref();
            let with = failures.and_then(|one| one.response_time_ms_mean_with_time_outs);
            with.or(summary.response_time_ms_mean)
        })
        .filter(|_| sample.operations.iter().any(|totals| totals.timed_out > 0)),
        checkpoint_seconds: None,
        sync_seconds: None,
        requests_per_second: sample.requests_per_second,
        cpu_seconds_per_request: None,
        cores_used: None,
        client_cores_used: sample.client_cpu_seconds / sample.wall_time.as_secs_f64(),
        steal_fraction: None,
        other_cores_used: None,
        server_resident_bytes: None,
        by_request,
        response_time_ms_percentiles: BTreeMap::new(),
        counters: BTreeMap::new(),
        plans: Vec::new(),
        quiet_wait_seconds: 0.0,
        swapped_bytes: None,
        cpu_pressure_fraction: None,
        memory_pressure_fraction: None,
        warm_up_steady: None,
        warm_up_failures: 0,
        second_half_ratio: observe::second_half_ratio(&sample.observations, operations.len()),
        offered_per_second: sample.offered_per_second,
        saturated: sample.saturated,
        answers_by_second: Vec::new(),
        written: BTreeMap::new(),
    }
}

/// Over the operations by their weights, each by its own mean; none if one of them has none.
fn weighted_mean(
    operations: &[Operation],
    by_request: &[RequestSummary],
    mean: impl Fn(&RequestSummary) -> Option<f64>,
) -> Option<f64> {
    let mut sum = 0.0;
    let mut weights = 0.0;
    let done = operations.iter().filter(|operation| operation.weight > 0);
    for (operation, summary) in done.zip(by_request) {
        sum += f64::from(operation.weight) * mean(summary)?;
        weights += f64::from(operation.weight);
    }
    (weights > 0.0).then(|| sum / weights)
}

/// A trial in which nothing could be asked; it does not count.
pub(super) fn without_load(
    finished: &Finished,
    engine: &str,
    planned: &PlannedTrial,
    why: String,
) -> Result<Trial, RunError> {
    let sample = TrialSample::nothing(Duration::ZERO);
    let folder = &finished.folder;
    write_observations(&folder.observations_path(planned.number), &sample.observations)?;
    let times = ResponseTimes::of(sample.observations.iter())?;
    write_histogram(&folder.histogram_path(planned.number), &times)?;
    let operations = finished.plan.operations_at(&planned.levels);
    Ok(void(summarise(&operations, engine, planned, Timestamp::now(), &sample), why))
}

/// The same trial, marked as one that does not count.
pub(super) fn void(mut trial: Trial, why: String) -> Trial {
    trial.status = Status::Void(why);
    trial
}
