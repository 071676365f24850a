//! Errors that end a run before its end.

use std::path::PathBuf;
use std::time::Duration;

use host::DeployError;
use load::LoadError;
use load::http::HttpError;
use load::resource::MemoryLimitError;
use plan::PlanError;
use record::RecordError;

/// Why a run stopped. Trials recorded by then stay.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Record(#[from] RecordError),
    /// An engine or application could not be set up.
    #[error(transparent)]
    Deploy(Box<DeployError>),
    #[error(
        "this processor is emulated by QEMU: times here say nothing about a machine. Run the package for \
         this machine's own processor; `audit`, `migrate` and the dashboard work here too"
    )]
    EmulatedProcessor,
    /// The data could not be read into the page cache.
    #[error(transparent)]
    Prewarm(#[from] host::prewarm::PrewarmError),
    /// Load could not be offered.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A request of the untimed pass.
    #[error("{engine}: {path}: {source}")]
    Request { engine: String, path: String, source: HttpError },
    /// The application refused a request of the plan.
    #[error("{engine} answers {path} with status {status}: {body}")]
    Refused {
        engine: String,
        path: String,
        status: u16,
        /// The beginning of the answer.
        body: String,
    },
    /// Two engines, or one engine twice, answered differently.
    #[error(
        "answers differ: {path}: {difference}; times of different work cannot be compared. Mend the \
         application, or ignore it in the plan: {remedy}"
    )]
    AnswersDiffer {
        /// Label of the engine that answered last.
        engine: String,
        path: String,
        difference: String,
        /// The line for the plan that ignores it.
        remedy: String,
    },
    /// One engine answered the same request in two ways.
    #[error(
        "{engine} gave two different answers to the same {path}; tell the plan what to ignore: \
         {remedy}"
    )]
    AnswerChanges {
        engine: String,
        path: String,
        /// The line for the plan.
        remedy: String,
    },
    /// A request of a mix that writes is answered otherwise after each write.
    #[error(
        "{engine}: the answer to {path} is another one after {writes}, which the same mix sends: no \
         answer can be expected of it. Compare less of it: {remedy}; or measure the two by themselves"
    )]
    ChangedByWrites {
        engine: String,
        path: String,
        /// The requests that may have changed it.
        writes: String,
        /// The line for the plan.
        remedy: String,
    },
    /// The application did not use the database under whose name it would be measured.
    #[error(
        "{engine}: the application asked nothing of the database that is measured: {found}. {remedy}"
    )]
    NotAsked {
        engine: String,
        /// Objects that were looked at, and the file that was open instead.
        found: String,
        remedy: String,
    },
    /// A request that writes was answered without that database, while others use it.
    #[error(
        "{engine}: {request} was answered, but nothing {looked_at}: it may write to your own database. It \
         was sent once, and nothing was measured. See which address the application opens for it; leave it \
         out of the mix, or measure it without this look by own_database = true (bench http: \
         --own-database)"
    )]
    WroteElsewhere { engine: String, request: String, looked_at: String },
    /// An answer is not of the form that the plan expects.
    #[error("{engine}: the answer to {path} {reason}: {body}")]
    UnexpectedAnswer {
        engine: String,
        path: String,
        /// The fault.
        reason: String,
        /// The beginning of the answer.
        body: String,
    },
    /// The application fails too often to be measured.
    #[error(
        "{engine} failed {failures} of {requests} requests before anything was measured; the \
         first: {first}. Times of an application that fails mean nothing: {remedy}"
    )]
    Failing {
        engine: String,
        /// Requests that got no right answer.
        failures: u64,
        requests: u64,
        /// A request and what came of it.
        first: String,
        remedy: String,
    },
    /// An engine or its application ended during a trial, and the plan says to stop then.
    #[error(
        "{engine} ended in the middle of a trial: {why}; go on with `crossover bench --resume {run}`"
    )]
    EngineEnded { engine: String, run: String, why: String },
    /// A statement of workload `sql` could not be carried out; not because of its text.
    #[error("{0}")]
    Statement(String),
    /// A client process that holds the engine has ended, as by a library that crashes.
    #[error("{0}")]
    EngineCrashed(String),
    /// The same executions have left other rows on two engines.
    #[error(
        "after the same executions table {table} differs: {what}; times of different work cannot be \
         compared. Mend the statement (NAME.postgres.sql beside NAME.sql is for that engine alone), or \
         compare less in the plan: ignore_columns = [\"updated_at\"], digits = 9, answer = \"count\" \
         (rows are counted) or \"none\""
    )]
    WritesDiffer { table: String, what: String },
    /// Two engines answered a statement differently.
    #[error(
        "answers differ: {statement}: {what}; times of different work cannot be compared. Mend the \
         statement (NAME.postgres.sql beside NAME.sql is for that engine alone) or the data, or \
         compare less in the plan: {}digits = 12, answer = \"count\" or \"none\" (bench sql: {}--answer \
         count)",
        ignoring(columns).0,
        ignoring(columns).1
    )]
    StatementAnswersDiffer {
        /// Its name and the values that it was asked with.
        statement: String,
        what: String,
        /// The columns that differ, where that is all.
        columns: Vec<String>,
    },
    /// Blobs could not be made, or not read as made.
    #[error("{0}")]
    Blob(String),
    /// Workload `oltp`: tables, rights, connections.
    #[error("{engine}: {source}")]
    Oltp {
        engine: String,
        /// The cause.
        source: Box<oltp::Error>,
    },
    /// Rows are not what they must be after a trial that changed them.
    #[error(
        "{engine}: after {mix} the rows are not what they must be: {what}; the experiment is void, \
         nothing measured on an engine that loses or invents rows can be trusted"
    )]
    Invariant { engine: String, mix: &'static str, what: String },
    /// The memory of the server side cannot be limited.
    #[error(transparent)]
    Memory(#[from] MemoryLimitError),
    /// The copies that trials work on have no place.
    #[error(
        "no folder for copies of the data can be made at {path}: {source}; name another place by \
         CROSSOVER_DATA_DIR"
    )]
    Scratch { path: PathBuf, source: std::io::Error },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    /// No random numbers from the system.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
    /// A part that trials need broke after some were recorded.
    #[error(
        "{source}; the trials so far are kept: once that is repaired, go on with `crossover bench --resume {run}`"
    )]
    CutShort { run: String, source: Box<RunError> },
    /// The user asked to stop.
    #[error("interrupted; go on with `crossover bench --resume {run}`")]
    Interrupted { run: String },
    /// The first block shows that too few will fit the time; nothing is kept.
    #[error("a block takes {} s: fewer than {blocks} fit the time", block.as_secs())]
    BlocksDoNotFit { block: Duration, blocks: usize },
    /// The user asked to stop before a trial was recorded, so no run is kept.
    #[error("interrupted before the first trial ended: nothing was recorded")]
    InterruptedBeforeTrials,
    /// The user asked to stop while two runs were measured in turn, which cannot be resumed.
    #[error("interrupted; measure both again with `crossover compare --rerun`")]
    RerunInterrupted,
}

/// The key of a plan, and the flags, that leave `columns` out of a comparison.
fn ignoring(columns: &[String]) -> (String, String) {
    if columns.is_empty() {
        return Default::default();
    }
    let quoted: Vec<String> = columns.iter().map(|name| format!("{name:?}")).collect();
    let flags = columns.iter().map(|name| format!("--ignore-column {name:?} "));
    (format!("ignore_columns = [{}], ", quoted.join(", ")), flags.collect())
}

impl RunError {
    /// Whether the plan or the command line is at fault, and not the machine or an engine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Plan(_) => true,
            Self::Memory(error) => !matches!(error, MemoryLimitError::Io { .. }),
            Self::Deploy(error) => error.is_usage(),
            Self::Oltp { source, .. } => source.is_usage(),
            Self::CutShort { source, .. } => source.is_usage(),
            _ => false,
        }
    }

    /// `true` where an engine has brought its own process down, so that the others can be measured
    /// without it.
    pub(crate) fn is_crash(&self) -> bool {
        matches!(self, Self::EngineCrashed(_) | Self::Load(LoadError::ProcessEnded { .. }))
    }

    /// The mistake in the plan, where it is one.
    pub fn plan(&self) -> Option<&PlanError> {
        match self {
            Self::Plan(error) => Some(error),
            Self::Deploy(error) => match &**error {
                DeployError::Plan(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }

    /// Known by the engine's place in the plan, where the engine is what is wrong.
    pub(super) fn of_engine(self, index: usize) -> Self {
        match self {
            Self::Plan(error) => error.of_engine(index).into(),
            Self::Deploy(error) => match *error {
                DeployError::Plan(error) => error.of_engine(index).into(),
                error if error.is_usage() => {
                    PlanError::impossible(&format!("engines.{index}"), error.to_string()).into()
                }
                error => error.into(),
            },
            other => other,
        }
    }

    /// The same with the way on, if a machine or an engine broke that can be repaired.
    pub(super) fn with_resume_command(self, run: &str) -> Self {
        match self {
            // What was measured before is of other data.
            Self::Deploy(error) if matches!(*error, DeployError::DataChanged { .. }) => {
                Self::Deploy(error)
            }
            Self::Deploy(_) | Self::Oltp { .. } | Self::Io { .. } | Self::Scratch { .. } => {
                Self::CutShort { run: run.to_owned(), source: Box::new(self) }
            }
            other => other,
        }
    }
}

impl From<DeployError> for RunError {
    fn from(error: DeployError) -> Self {
        Self::Deploy(Box::new(error))
    }
}
