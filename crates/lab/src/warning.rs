//! Doubts about validity. Each is one variant, with what to do about it; a report shows them all.

use crate::plan::{Level, Plan};
use crate::record::{Run, Status, Trial};

/// More steal than this in a trial means that the machine was not ours (share of CPU time).
const STEAL_FRACTION_MAX: f64 = 0.02;
/// Other programs that use more than this (in cores, on average over the trials) disturb it.
const OTHER_CORES_MAX: f64 = 0.1;
/// A client that uses more of the machine than this may hold the server back.
const CLIENT_SHARE_MAX: f64 = 0.2;
/// An engine that uses this many times the cores of another is not compared at equal means.
const CORES_RATIO_MAX: f64 = 1.3;
/// Means of the first and the last block that differ by more than this hint at drift.
const DRIFT_RATIO_MAX: f64 = 1.25;

/// A doubt about the validity of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Fewer than five blocks: no interval, no verdict.
    TooFewBlocks {
        /// How many there are.
        blocks: usize,
    },
    /// Planned trials that were not run.
    Incomplete {
        /// Recorded.
        recorded: usize,
        /// Planned.
        planned: usize,
    },
    /// Trials that do not count.
    VoidTrials {
        /// How many.
        trials: usize,
        /// Why, for the first.
        first: String,
    },
    /// Requests that did not get the right answer.
    Failures {
        /// The engine.
        engine: String,
        /// How many.
        failures: u64,
        /// Of how many.
        requests: u64,
        /// The first, in words.
        first: String,
    },
    /// The measuring client used much of the machine.
    ClientBusy {
        /// Its cores, in the busiest trial.
        cores: f64,
        /// The machine's.
        of: usize,
    },
    /// One engine used more cores than another.
    UnequalCores {
        /// The one.
        more: String,
        /// Its cores at most.
        more_cores: f64,
        /// The other.
        less: String,
        /// Its cores at most.
        less_cores: f64,
    },
    /// Client and server had the same cores to share.
    SharedCores,
    /// The hypervisor took CPU time away.
    Steal {
        /// The largest share in a trial.
        fraction: f64,
        /// Trials beyond the bound.
        trials: usize,
    },
    /// Other programs ran meanwhile.
    BusyMachine {
        /// Their cores, on average over the trials.
        cores: f64,
        /// The machine's.
        of: usize,
    },
    /// An engine's first and last block differ.
    Drift {
        /// The engine.
        engine: String,
        /// Last block by first block, over all treatments both hold.
        ratio: f64,
    },
    /// An unoptimised program was measured.
    DebugBuild,
    /// The run was interrupted and taken up again.
    Resumed {
        /// How often.
        times: usize,
    },
}

impl Warning {
    /// A short constant name.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TooFewBlocks { .. } => "too_few_blocks",
            Self::Incomplete { .. } => "incomplete",
            Self::VoidTrials { .. } => "void_trials",
            Self::Failures { .. } => "failures",
            Self::ClientBusy { .. } => "client_busy",
            Self::UnequalCores { .. } => "unequal_cores",
            Self::SharedCores => "shared_cores",
            Self::Steal { .. } => "steal",
            Self::BusyMachine { .. } => "busy_machine",
            Self::Drift { .. } => "drift",
            Self::DebugBuild => "debug_build",
            Self::Resumed { .. } => "resumed",
        }
    }

    /// What was seen.
    pub fn message(&self) -> String {
        match self {
            Self::TooFewBlocks { blocks } => format!(
                "{blocks} blocks: the figures are values with their range, without intervals."
            ),
            Self::Incomplete { recorded, planned } => {
                format!("The run is not complete: {recorded} of {planned} trials are there.")
            }
            Self::VoidTrials { trials, first } => format!("{trials} trials are void: {first}."),
            Self::Failures { engine, failures, requests, first } => format!(
                "{engine}: {failures} of {requests} requests failed, the first by: {first}. \
                 Treatments with failures get no verdict."
            ),
            Self::ClientBusy { cores, of } => {
                format!("The measuring client used up to {cores:.2} of {of} cores.")
            }
            Self::UnequalCores { more, more_cores, less, less_cores } => format!(
                "{more} used up to {more_cores:.2} cores, {less} up to {less_cores:.2}: \
                 part of the difference is more hardware, not less work."
            ),
            Self::SharedCores => {
                "The measuring client ran on the same cores as the server.".to_owned()
            }
            Self::Steal { fraction, trials } => format!(
                "The hypervisor took up to {:.1}% of the machine's time away, in {trials} trials \
                 more than {:.0}%.",
                fraction * 100.0,
                STEAL_FRACTION_MAX * 100.0
            ),
            Self::BusyMachine { cores, of } => format!(
                "Other programs used {cores:.2} of {of} cores on average: the figures are those of \
                 a busy machine, and engines with more processes get a larger share of it."
            ),
            Self::Drift { engine, ratio } => {
                format!("{engine}: the last block took {ratio:.2} times as long as the first.")
            }
            Self::DebugBuild => "Crossover itself was built without optimisation.".to_owned(),
            Self::Resumed { times } => format!(
                "The run was interrupted and taken up again {times} times; the engines were \
                 started anew in the block that was cut."
            ),
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::TooFewBlocks { .. } => "Repeat with --replicates 5 or more.",
            Self::Incomplete { .. } => "Continue it with --resume and the run's name.",
            Self::VoidTrials { .. } => "Read the log of the application in the run's folder.",
            Self::Failures { .. } => {
                "Read the log of the application in the run's folder; mend it and repeat."
            }
            Self::ClientBusy { .. } => {
                "Give client and server cores of their own: --client-cpus and --server-cpus."
            }
            Self::UnequalCores { .. } => {
                "Look at the CPU time per request; --server-cpus 0 compares at one core each."
            }
            Self::SharedCores => {
                "On a larger machine keep them apart with --client-cpus and --server-cpus."
            }
            Self::Steal { .. } => "Repeat on a quiet machine; compare intervals, not values.",
            Self::BusyMachine { .. } => "Stop the other programs and repeat.",
            Self::Drift { .. } => {
                "Blocks and random order keep most of this out of the ratios; the means include it. \
                 Repeat on a quiet machine for absolute figures."
            }
            Self::DebugBuild => "Measure with a release build: cargo build --release.",
            Self::Resumed { .. } => "Repeat the run in one sitting if a verdict depends on it.",
        }
    }
}

/// Every doubt that the record of a run gives rise to. `planned` is its number of trials.
pub fn find(plan: &Plan, run: &Run, trials: &[Trial], planned: usize) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if plan.replicates < stats::INTERVAL_MIN_REPLICATES {
        warnings.push(Warning::TooFewBlocks { blocks: plan.replicates });
    }
    if trials.len() < planned {
        warnings.push(Warning::Incomplete { recorded: trials.len(), planned });
    }
    warnings.extend(void_trials(trials));
    let labels: Vec<String> = plan.engines.iter().map(engine::EngineSpec::label).collect();
    warnings.extend(labels.iter().filter_map(|engine| failures(engine, trials)));
    warnings.extend(unequal_cores(&labels, trials));
    warnings.extend(client_busy(run, trials));
    if plan.server_cpus.is_none() || plan.client_cpus.is_none() {
        warnings.push(Warning::SharedCores);
    }
    warnings.extend(busy_machine(run, trials));
    warnings.extend(steal(trials));
    warnings.extend(labels.iter().filter_map(|engine| drift(engine, trials)));
    if run.environment.build_profile == "debug" {
        warnings.push(Warning::DebugBuild);
    }
    if !run.resumed.is_empty() {
        warnings.push(Warning::Resumed { times: run.resumed.len() });
    }
    warnings
}

fn void_trials(trials: &[Trial]) -> Option<Warning> {
    let reasons: Vec<&str> = trials
        .iter()
        .filter_map(|trial| match &trial.status {
            Status::Void(reason) => Some(reason.as_str()),
            Status::Ok => None,
        })
        .collect();
    let first = (*reasons.first()?).to_owned();
    Some(Warning::VoidTrials { trials: reasons.len(), first })
}

fn failures(engine: &str, trials: &[Trial]) -> Option<Warning> {
    let failed: Vec<&Trial> =
        trials.iter().filter(|t| t.engine == engine && t.failures > 0).collect();
    let first = failed.first()?.first_failure.clone().unwrap_or_default();
    Some(Warning::Failures {
        engine: engine.to_owned(),
        failures: failed.iter().map(|trial| trial.failures).sum(),
        requests: failed.iter().map(|trial| trial.requests).sum(),
        first,
    })
}

/// With several clients every engine can use all cores; what one client's request uses tells them
/// apart.
fn unequal_cores(engines: &[String], trials: &[Trial]) -> Option<Warning> {
    let one_client = |trial: &&Trial| {
        trial.levels.get("clients").and_then(Level::number).is_none_or(|clients| clients <= 1.0)
    };
    let used = |engine: &String| {
        let single = trials.iter().filter(|t| t.engine == *engine).filter(one_client);
        let cores = single.filter_map(|trial| trial.cores_used).max_by(f64::total_cmp)?;
        Some((engine.clone(), cores))
    };
    let mut by_use: Vec<(String, f64)> = engines.iter().filter_map(used).collect();
    by_use.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let (less, less_cores) = by_use.first()?.clone();
    let (more, more_cores) = by_use.last()?.clone();
    let unequal = more_cores > less_cores * CORES_RATIO_MAX;
    unequal.then_some(Warning::UnequalCores { more, more_cores, less, less_cores })
}

fn client_busy(run: &Run, trials: &[Trial]) -> Option<Warning> {
    let cores = trials.iter().map(|trial| trial.client_cores_used).max_by(f64::total_cmp)?;
    let of = run.environment.cpus;
    (cores > of as f64 * CLIENT_SHARE_MAX).then_some(Warning::ClientBusy { cores, of })
}

fn busy_machine(run: &Run, trials: &[Trial]) -> Option<Warning> {
    let others: Vec<f64> = trials.iter().filter_map(|trial| trial.other_cores_used).collect();
    let cores = others.iter().sum::<f64>() / others.len() as f64;
    let of = run.environment.cpus;
    (cores > OTHER_CORES_MAX).then_some(Warning::BusyMachine { cores, of })
}

fn steal(trials: &[Trial]) -> Option<Warning> {
    let beyond: Vec<f64> = trials
        .iter()
        .filter_map(|trial| trial.steal_fraction)
        .filter(|fraction| *fraction > STEAL_FRACTION_MAX)
        .collect();
    let fraction = beyond.iter().copied().max_by(f64::total_cmp)?;
    Some(Warning::Steal { fraction, trials: beyond.len() })
}

/// Geometric mean over the treatments that the engine's first and last block share.
fn drift(engine: &str, trials: &[Trial]) -> Option<Warning> {
    let counting = || trials.iter().filter(|t| t.engine == engine && t.status == Status::Ok);
    let first = counting().map(|trial| trial.block).min()?;
    let ratios: Vec<f64> = counting()
        .filter(|trial| trial.block == first)
        .filter_map(|begin| {
            let same = counting().filter(|trial| trial.levels == begin.levels);
            let end = same.max_by_key(|trial| trial.block).filter(|end| end.block > first)?;
            Some((end.response_time_ms_mean? / begin.response_time_ms_mean?).ln())
        })
        .collect();
    if ratios.is_empty() {
        return None;
    }
    let ratio = (ratios.iter().sum::<f64>() / ratios.len() as f64).exp();
    let beyond = !(1.0 / DRIFT_RATIO_MAX..=DRIFT_RATIO_MAX).contains(&ratio);
    beyond.then(|| Warning::Drift { engine: engine.to_owned(), ratio })
}
