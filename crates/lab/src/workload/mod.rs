//! Workloads: the load of an experiment on an engine. Each is a folder here, behind two traits: a
//! [`Workload`] sets engines up, a [`Subject`] is one of them, ready to be measured.

mod blob;
mod http;
pub(crate) mod library;
mod oltp;
mod reading;
pub mod sql;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use engine::EngineSpec;
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use host::HostOptions;
use host::Site;
use load::TrialSample;
use load::resource::ServerSide;
use plan::LoadOptions;
use plan::PlannedTrial;
use plan::{Levels, Plan, PlanError, WorkloadKind};
use record::Answer;
use record::{EngineRecord, OperationPlan, WrittenTable};

pub(crate) use oltp::{OltpChild, OltpJob};
pub(crate) use reading::{CounterReading, MeasuredPart};
pub(crate) use record::Counters;
pub(crate) use sql::{AskedSession, SqlChild, SqlJob, SqlQuestion};

/// The time until what a trial left unwritten was in its place, after its clock had stopped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriteBack {
    /// The engine's checkpoint, and those between transactions.
    pub checkpoint: Duration,
    /// Until nothing of it was dirty in memory any more, where that belongs to the workload.
    pub sync: Option<Duration>,
}

/// The answers so far to each distinct request or statement, by its full text.
pub(crate) type Answers = BTreeMap<String, Answer>;

/// The part of a client that is a process.
#[derive(Serialize, Deserialize)]
pub(crate) enum ClientJob {
    Sql(SqlJob),
    Oltp(OltpJob),
    Ask(SqlQuestion),
}

/// How far the values of an operation reach that changes data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyReach {
    pub operation: usize,
    /// The executions after which its values would come again and find nothing to do; none where they
    /// find something.
    pub executions: Option<u64>,
    /// One value alone chooses what is changed.
    pub keyed: bool,
}

/// How far tables are compared that a trial has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TableComparison {
    None,
    /// The number of their rows.
    Rows,
    Digest,
}

/// The load that a plan puts on its engines.
pub(crate) trait Workload {
    /// Refuses an engine that cannot be had or set as asked for, before anything is measured or
    /// generated. `engine` has its placeholders filled in; it is called once for each distinct one.
    fn check(&self, engine: &EngineSpec, options: &HostOptions<'_>) -> Result<(), RunError>;

    /// Whether trials may change data that are then compared.
    fn changes_data(&self) -> Result<bool, PlanError> {
        Ok(false)
    }

    /// Sets `engine` up, alone, for its turn in a block, at `levels` of the deployment's factors.
    fn deploy<'a>(
        &'a self,
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
    ) -> Result<Box<dyn Subject + 'a>, RunError>;

    /// Seconds of a start beside its trials, on average.
    fn seconds_per_start(&self, _trials: &[PlannedTrial], _starts: usize) -> u64 {
        START_SECONDS
    }

    /// Time of the data that the workload makes itself; none where the starts include it.
    fn data_time(&self, _trials: &[PlannedTrial]) -> Result<Option<DataTime>, PlanError> {
        Ok(None)
    }

    /// Time of the load before each trial, whose answers do not count.
    fn warm_up(&self) -> Duration {
        Duration::ZERO
    }
}

/// Time of one start beside its trials: the server, ANALYZE, reading the data into the page cache,
/// one look at every answer, and the warm-up. Seen on small and middling data; large data and slow
/// requests take longer.
const START_SECONDS: u64 = 6;

/// An estimate of the time that data takes beside the trials.
#[derive(Clone, Debug)]
pub(crate) struct DataTime {
    pub seconds: u64,
    /// The same in words, with what was assumed.
    pub sentence: String,
}

/// An operation that takes longer is executed once before a trial: what a first execution costs
/// besides is a small part of its time.
pub const SLOW: Duration = Duration::from_millis(250);

/// An engine ready to be measured.
pub(crate) trait Subject {
    /// Current version and settings.
    fn engine(&self) -> &EngineRecord;

    /// Every process of the server side; none where it is out of sight.
    fn side(&self) -> Option<&ServerSide>;

    /// Folders or files with the data, to be read into the page cache or evicted from it.
    fn data_paths(&self) -> &[PathBuf];

    /// An untimed pass: does every distinct operation of `cells` once, notes its whole answer in
    /// `answers` or compares it with what stands there.
    fn check_answers(&mut self, cells: &[Levels], answers: &mut Answers) -> Result<(), RunError>;

    /// Whether the untimed pass found this operation to take long at `levels`; it needs no further
    /// execution before a trial.
    fn is_slow(&self, _operation: usize, _levels: &Levels) -> bool {
        false
    }

    /// Whether every trial warms its own clients up, so that nothing needs warming before the
    /// first.
    fn includes_warm_up(&self) -> bool {
        false
    }

    /// Brings about the state that a trial on this cell begins from; nothing is counted yet.
    fn prepare(&mut self, _levels: &Levels) -> Result<(), RunError> {
        Ok(())
    }

    /// Load on one cell: a trial or a window of the warm-up.
    fn load(&mut self, levels: &Levels, options: &LoadOptions) -> Result<TrialSample, RunError>;

    /// Brings what the last load has written to its place; none where it wrote nothing, or that
    /// is unknown.
    fn write_back(&mut self) -> Result<Option<WriteBack>, RunError> {
        Ok(None)
    }

    /// The reach of each operation that changes data at `levels`; none where nothing is changed, so that
    /// a trial may last a time.
    fn key_reaches(&mut self, _levels: &Levels) -> Result<Option<Vec<KeyReach>>, RunError> {
        Ok(None)
    }

    /// The tables that the operations of `levels` change, as the last load has left them.
    fn written_tables(
        &mut self,
        _levels: &Levels,
        _wanted: TableComparison,
    ) -> Result<BTreeMap<String, WrittenTable>, RunError> {
        Ok(BTreeMap::new())
    }

    /// Counters of the measured part of the last load; none where that is all of it.
    fn measured_part(&mut self) -> Option<MeasuredPart> {
        None
    }

    /// Looks after a trial whether the data are what they must be. What it refuses ends the run:
    /// nothing that was measured can be trusted then.
    fn check_data(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    /// The engine's message when this operation first failed under the last load, where there was
    /// one.
    fn failure_message(&self, _operation: u16) -> Option<String> {
        None
    }

    /// Share of the executions of this operation under the last load that changed no row (0 to 1);
    /// none where it only reads, or effects are not counted.
    fn without_effect_fraction(&self, _operation: u16) -> Option<f64> {
        None
    }

    /// The engine's counters so far; the differences over a trial are recorded.
    fn counters(&mut self) -> Counters {
        Counters::new()
    }

    /// Counters of what is asked, untimed, when the last trial of a turn is over.
    fn after_turn(&mut self, _levels: &Levels) -> Counters {
        Counters::new()
    }

    /// The plans that the engine chose for the operations of one cell, looked up untimed.
    fn plans(&mut self, _levels: &Levels) -> Vec<OperationPlan> {
        Vec::new()
    }

    /// Whether everything that was started still runs.
    fn check_alive(&mut self) -> Result<(), RunError>;

    fn retire(self: Box<Self>) -> Result<(), RunError>;
}

/// The workload that the plan names.
pub(crate) fn of(plan: &Plan) -> Box<dyn Workload + '_> {
    match plan.workload {
        WorkloadKind::Http => Box::new(http::Http::new(plan)),
        WorkloadKind::Sql => Box::new(sql::Sql::new(plan)),
        WorkloadKind::Blob => Box::new(blob::Blobs::new(plan)),
        WorkloadKind::Oltp => Box::new(oltp::OltpWorkload::new(plan)),
    }
}
