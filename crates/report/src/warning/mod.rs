//! Warnings about validity. Each is one variant, with its remedy; a report shows them all.
//! The rules and their sources are in METHOD.md, section 11.

mod blob;
mod clients;
mod effects;
mod engines;
mod machine;
mod oltp;
mod reach;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod tests;
mod weight;
mod words;

use plan::Durability;
use plan::{Plan, WorkloadKind};
use record::{Run, Trial};

pub use machine::CLIENT_WAIT_MAX;
pub use weight::WarningPart;
pub(crate) use weight::{in_order, lines};

/// A doubt about the validity of a run.
#[derive(Clone, Debug, PartialEq, strum::IntoStaticStr)]
#[cfg_attr(test, derive(strum::VariantNames))]
#[strum(serialize_all = "snake_case")]
pub enum Warning {
    /// Fewer than five blocks: no interval, no verdict.
    TooFewBlocks {
        blocks: usize,
        /// Whether a budget divides the time, not a number of blocks.
        by_budget: bool,
    },
    /// Planned trials that were not run.
    Incomplete { recorded: usize, planned: usize },
    /// Planned trials for which the time did not suffice.
    CutByBudget { recorded: usize, planned: usize },
    /// Trials that do not count.
    VoidTrials {
        trials: usize,
        first: String,
        /// Engines that have no other trials.
        unmeasured: Vec<String>,
    },
    /// Requests that did not get the right answer.
    Failures { engine: String, failures: u64, requests: u64, first: String },
    /// Requests failed before anything was measured.
    WarmUpFailures {
        engine: String,
        failures: u64,
        /// In the warm-ups before how many trials.
        trials: usize,
    },
    /// Open load came faster than an engine answered.
    Saturated {
        engine: String,
        trials: usize,
        /// Requests due per second, in the first of them.
        offered_per_second: f64,
        /// Right answers per second in it.
        answered_per_second: f64,
    },
    /// The measuring client used much of the machine.
    ClientBusy {
        /// Its cores, in the busiest trial.
        cores: f64,
        of: usize,
    },
    /// The relay that makes a distance shared processors that had nothing to spare.
    RelaySaturated {
        /// Cores of both sides and the relay, in the busiest trial.
        cores: f64,
        of: usize,
    },
    /// One engine used more cores than another.
    UnequalCores {
        more: String,
        more_cores: f64,
        less: String,
        less_cores: f64,
        /// Whether that is of one client, beside treatments with several.
        among_clients: bool,
        /// The treatments of this run that compare at one core, if there are such.
        equal_at: Option<String>,
    },
    /// Client and server had the same cores to share.
    SharedCores,
    /// The hypervisor took CPU time away.
    Steal {
        /// The largest share in a trial.
        fraction: f64,
        trials: usize,
    },
    BusyMachine {
        /// Their cores, on average over the trials.
        cores: f64,
        of: usize,
    },
    /// An engine's first and last block differ.
    Drift {
        engine: String,
        /// Last block by first block, over all treatments both hold.
        ratio: f64,
    },
    /// An unoptimised program was measured.
    DebugBuild,
    /// The run was interrupted and taken up again.
    Resumed { times: usize },
    /// A wrong answer among them: times of different work.
    AnswersDiffer {
        engine: String,
        /// How many trials have one.
        trials: usize,
        /// The request of the first.
        first: String,
    },
    /// Engines promise to keep what was committed through different accidents.
    DurabilityDiffers {
        /// The label that promises most, with its promise.
        more: (String, Durability),
        /// The one that promises least.
        less: (String, Durability),
        /// Nothing was written, so it hardly matters here.
        only_reads: bool,
    },
    /// The promises of these engines are not known, and something was written.
    DurabilityUnknown { engines: Vec<String> },
    /// Client threads were ready to run and had no processor.
    ClientStarved {
        /// The largest share of a trial's time.
        fraction: f64,
        trials: usize,
    },
    /// Executions of a statement that writes changed no row.
    WritesWithoutEffect {
        request: String,
        /// Engines with their largest share in a trial (0 to 1).
        by_engine: Vec<(String, f64)>,
    },
    /// Several clients of a database in this process: threads, which take its locks together.
    ClientsAreThreads { engines: Vec<String> },
    /// An operation costs less processor time at more clients, on saturated processors.
    CheaperOperations {
        engine: String,
        /// Of its cost at the most clients by that at the fewest.
        ratio: f64,
        /// The fewest and the most.
        clients: [u16; 2],
    },
    /// One client, short requests, an idle machine: what is measured is how long cores take to wake.
    IdleCores {
        /// The engine where it is worst.
        engine: String,
        response_time_ms: f64,
    },
    /// Times moved within trials, or the warm-up ended before they stood still.
    NotSteady {
        engine: String,
        /// Mean of the second half of the trials by that of the first; none if only the warm-up
        /// did not settle.
        ratio: Option<f64>,
        /// Whether these trials began with cold caches and became faster.
        read_ahead: bool,
        /// Trials whose warm-up ended at its cap.
        unsettled: usize,
    },
    /// The same treatment had another plan in a later block.
    PlanChanged { engine: String, operations: Vec<String> },
    /// One block of a treatment lies far from its siblings.
    Outlier {
        /// The engine and its levels in words.
        treatment: String,
        block: usize,
        /// Its mean by the median of the treatment's blocks.
        ratio: f64,
        /// How many treatments have one.
        treatments: usize,
    },
    /// Trials that began on a busy machine, after the wait for quiet reached its limit.
    NotQuiet {
        /// Trials that waited without result.
        trials: usize,
    },
    /// Warm reads came from storage, however often they were offered.
    NotWarm {
        /// The line where it is worst.
        engine: String,
        /// Its share of bytes from storage there.
        fraction: f64,
        trials: usize,
    },
    /// Processes waited for memory, which no plan had limited.
    MemoryPressure {
        /// The largest share of a trial's time.
        fraction: f64,
        trials: usize,
    },
    /// The machine read or wrote swap space during trials.
    Swapped { bytes: u64, trials: usize },
    /// The files of all engines do not fit into memory together.
    DataExceedsMemory {
        /// Their bytes.
        data_bytes: u64,
        memory_bytes: u64,
    },
    /// The planner had no statistics.
    StatisticsMissing { engine: String },
    /// Releases of one engine that should be compared have not the same settings.
    SettingsDiffer { settings: Vec<String> },
    /// A distribution of response times cannot be read, and is not drawn.
    HistogramDamaged { first: String },
    /// Rows that were written stay in data of the user's, where later trials find them.
    WritesStay { engines: Vec<String> },
    /// The application answered requests without the database under whose name they stand.
    AnsweredWithoutEngine {
        engine: String,
        /// The share of the requests, by their weights, that used it.
        fraction: f64,
    },
    /// Whether requests used the database could not be seen, or should not be looked at.
    ReachOutOfSight { engines: Vec<String> },
    /// Checkpoints ended in some trials of a treatment and not in others, or otherwise than asked.
    UnevenCheckpoints {
        treatments: usize,
        /// The first, with the number that ended in each of its trials.
        first: String,
    },
}

impl Warning {
    pub fn kind(&self) -> &'static str {
        self.into()
    }
}

/// A run of `try` has a budget of its own.
pub fn may_end_by_budget(plan: &Plan, run: &Run) -> bool {
    plan.budget.is_some() || run.assessment.is_some()
}

/// Every doubt that the record of a run gives rise to. `planned` is its number of trials.
pub fn find(plan: &Plan, run: &Run, trials: &[Trial], planned: usize) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let blocks = run.blocks(plan);
    if blocks < stats::INTERVAL_MIN_REPLICATES {
        warnings.push(Warning::TooFewBlocks { blocks, by_budget: run.assessment.is_some() });
    }
    if trials.len() < planned {
        let recorded = trials.len();
        warnings.push(match run.complete && may_end_by_budget(plan, run) {
            true => Warning::CutByBudget { recorded, planned },
            false => Warning::Incomplete { recorded, planned },
        });
    }
    warnings.extend(engines::find(plan, run, trials));
    warnings.extend(machine::find(plan, run, trials));
    warnings.extend(clients::find(plan, run, trials));
    match plan.workload {
        WorkloadKind::Blob => warnings.extend(blob::find(plan, trials)),
        WorkloadKind::Oltp => warnings.extend(oltp::find(plan, run, trials)),
        WorkloadKind::Http => warnings.extend(reach::find(plan, trials)),
        WorkloadKind::Sql => warnings.extend(effects::find(trials)),
    }
    if run.environment.build_profile == "debug" {
        warnings.push(Warning::DebugBuild);
    }
    if !run.resumed.is_empty() {
        warnings.push(Warning::Resumed { times: run.resumed.len() });
    }
    warnings
}
