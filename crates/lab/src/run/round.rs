//! One round: blocks, and in each every engine once, alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::requests::{self, CellRequest};
use super::trial::{Bench, measure, void};
use super::{Finished, RunError, RunOptions, answers, program};
use crate::deployment::{Deployment, Site};
use crate::http::HttpError;
use crate::load::{ConnectionUse, LoadOptions, Mode, run_closed};
use crate::plan::{self, Level};
use crate::prewarm;
use crate::schedule::{self, PlannedTrial};

/// A request that takes longer is a failure.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Dirty pages that are not written back by then belong to somebody else.
const SETTLE_AT_MOST: Duration = Duration::from_secs(10);

/// PostgreSQL plans a prepared statement anew for its first five executions.
const WARM_WINDOWS_MIN: usize = 6;
const WARM_WINDOWS_MAX: usize = 20;
/// Two windows whose means differ by less are steady.
const WARM_DIFFERENCE: f64 = 0.05;

/// What all rounds share.
pub(super) struct Setting<'a> {
    options: &'a RunOptions<'a>,
    scratch: &'a Path,
    program: PathBuf,
    secret: String,
}

impl<'a> Setting<'a> {
    pub(super) fn new(options: &'a RunOptions<'a>, scratch: &'a Path) -> Result<Self, RunError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| RunError::Random(error.to_string()))?;
        let secret = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { options, scratch, program: program()?, secret })
    }

    fn check_interrupted(&self, run: &str) -> Result<(), RunError> {
        match self.options.interrupted.load(Ordering::Relaxed) {
            true => Err(RunError::Interrupted { run: run.to_owned() }),
            false => Ok(()),
        }
    }
}

/// Runs the trials of round `index` that are not recorded yet.
pub(super) fn carry_out(
    finished: &mut Finished,
    index: usize,
    setting: &Setting<'_>,
) -> Result<(), RunError> {
    let all = schedule::trials(&finished.plan, finished.run.seed, &finished.run.rounds, index);
    let recorded: BTreeSet<usize> = finished.trials.iter().map(|trial| trial.number).collect();
    for turn in all.chunk_by(|a, b| a.block == b.block && a.engine == b.engine) {
        let open: Vec<&PlannedTrial> =
            turn.iter().filter(|planned| !recorded.contains(&planned.number)).collect();
        setting.options.progress.set_position(finished.trials.len() as u64);
        if let Some(first) = open.first() {
            let engine = first.engine;
            take_turn(finished, engine, &open, setting).map_err(|error| {
                // Whatever broke first when the user asked to stop, stopping was the reason.
                match setting.check_interrupted(&finished.run.id) {
                    Err(interrupted) => interrupted,
                    Ok(()) => error,
                }
            })?;
        }
    }
    Ok(())
}

/// One engine's turn in a block.
fn take_turn(
    finished: &mut Finished,
    engine: usize,
    planned: &[&PlannedTrial],
    setting: &Setting<'_>,
) -> Result<(), RunError> {
    let plan = finished.plan.clone();
    let Some(spec) = plan.engines.get(engine) else { return Ok(()) };
    let logs = finished.folder.path().join("logs");
    std::fs::create_dir_all(&logs).map_err(|source| RunError::Io { path: logs.clone(), source })?;
    let data_digest = finished.run.data_digest.clone();
    let site = Site {
        plan: &plan,
        data_digest: &data_digest,
        scratch: setting.scratch,
        logs: &logs,
        secret: &setting.secret,
        program: &setting.program,
        locations: setting.options.locations,
        runtime: setting.options.runtime,
        progress: setting.options.progress,
        interrupted: setting.options.interrupted,
    };
    let mut deployment = site.deploy(spec)?;
    let name = spec.label();
    finished.run.engines.insert(name.clone(), deployment.engine.clone());
    setting.options.progress.set_message(format!("warming {name}"));
    warm(finished, &name, planned, &deployment, setting)?;
    finished.folder.write_run(&finished.run)?;
    for trial in planned {
        setting.check_interrupted(&finished.run.id)?;
        let bench = Bench {
            finished,
            deployment: &deployment,
            engine: &name,
            secret: &setting.secret,
            options: setting.options,
        };
        let measured = measure(&bench, trial)?;
        let measured = match deployment.check_alive() {
            Ok(()) => measured,
            Err(error) => {
                setting.options.progress.set_message(format!("{name} died; starting it again"));
                deployment.retire(setting.options.runtime)?;
                deployment = site.deploy(spec)?;
                warm(finished, &name, planned, &deployment, setting)?;
                void(measured, error.to_string())
            }
        };
        finished.folder.write_trial(&measured)?;
        finished.trials.push(measured);
        setting.options.progress.set_position(finished.trials.len() as u64);
    }
    deployment.retire(setting.options.runtime)?;
    Ok(())
}

/// Reads the data into the page cache, sends every distinct request once and compares the
/// answers, then offers load at the lowest swept level until two windows agree.
fn warm(
    finished: &mut Finished,
    engine: &str,
    planned: &[&PlannedTrial],
    deployment: &Deployment,
    setting: &Setting<'_>,
) -> Result<(), RunError> {
    let interrupted = setting.options.interrupted;
    for path in &deployment.data_paths {
        prewarm::prewarm(path, interrupted)?;
        prewarm::settle(path, SETTLE_AT_MOST, interrupted)?;
    }
    let plan = &finished.plan;
    let mut distinct: Vec<CellRequest> = Vec::new();
    for trial in planned {
        distinct.extend(requests::of_cell(plan, &trial.levels, &setting.secret)?);
    }
    let target = &deployment.target;
    let answers = &mut finished.run.answers;
    answers::check(engine, target, &distinct, answers, REQUEST_TIMEOUT, interrupted)?;
    warm_until_steady(finished, engine, planned, deployment, setting)
}

fn warm_until_steady(
    finished: &Finished,
    engine: &str,
    planned: &[&PlannedTrial],
    deployment: &Deployment,
    setting: &Setting<'_>,
) -> Result<(), RunError> {
    let plan = &finished.plan;
    let swept = plan.swept().map(|(name, _)| name);
    let lowest = planned.iter().min_by_key(|trial| swept.and_then(|name| trial.levels.get(name)));
    let Some(lowest) = lowest else { return Ok(()) };
    let cell = requests::of_cell(plan, &lowest.levels, &setting.secret)?;
    let failed = |source: HttpError| RunError::Request {
        engine: engine.to_owned(),
        path: String::new(),
        source,
    };
    let target = &deployment.target;
    let prepared: Vec<_> = cell
        .iter()
        .map(|request| request.prepared(target))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    let expected: Vec<_> =
        cell.iter().map(|request| answers::expected(request, &finished.run.answers)).collect();
    let weights: Vec<u32> = plan.requests.iter().map(|request| request.weight).collect();
    let most_clients = planned.iter().map(|trial| clients(&trial.levels)).max().unwrap_or(1);
    let mut last: Option<f64> = None;
    for window in 1..=WARM_WINDOWS_MAX {
        let options = LoadOptions {
            clients: most_clients,
            mode: Mode::Passes(1),
            connection: connection_use(plan.load.connection),
            seed: window as u64,
            timeout: REQUEST_TIMEOUT,
            client_cpus: plan.client_cpus.clone(),
        };
        let interrupted = setting.options.interrupted;
        let sample = run_closed(target, &prepared, &weights, &expected, &options, interrupted)?;
        let total: u64 = sample.observations.iter().map(|one| one.response_time_ns).sum();
        let now = total as f64 / sample.observations.len().max(1) as f64;
        let steady = last.is_some_and(|last| (now / last - 1.0).abs() < WARM_DIFFERENCE);
        if steady && window >= WARM_WINDOWS_MIN {
            break;
        }
        last = Some(now);
    }
    Ok(())
}

/// The number of clients of a treatment; one where the plan does not vary it.
pub(super) fn clients(levels: &schedule::Levels) -> u16 {
    let number = levels.get("clients").and_then(Level::number).unwrap_or(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by plan")]
    let clients = number as u16;
    clients.max(1)
}

pub(super) fn connection_use(plan: plan::ConnectionUse) -> ConnectionUse {
    match plan {
        plan::ConnectionUse::PerClient => ConnectionUse::PerClient,
        plan::ConnectionUse::PerRequest => ConnectionUse::PerRequest,
    }
}
