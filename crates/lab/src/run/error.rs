//! Why a run could not be carried out to its end.

use std::path::PathBuf;

use crate::deployment::DeployError;
use crate::http::HttpError;
use crate::load::LoadError;
use crate::plan::PlanError;
use crate::record::RecordError;

/// Why a run stopped. Trials recorded by then stay.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The run's folder.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// An engine or application could not be set up.
    #[error(transparent)]
    Deploy(Box<DeployError>),
    /// The data could not be read into the page cache.
    #[error(transparent)]
    Prewarm(#[from] crate::prewarm::PrewarmError),
    /// Load could not be offered.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A request of the untimed pass.
    #[error("{engine}: {path}: {source}")]
    Request {
        /// Label.
        engine: String,
        /// Path and query.
        path: String,
        /// Why.
        source: HttpError,
    },
    /// The application refused a request of the plan.
    #[error("{engine} answers {path} with status {status}: {body}")]
    Refused {
        /// Label.
        engine: String,
        /// Path and query.
        path: String,
        /// HTTP status.
        status: u16,
        /// The beginning of the answer.
        body: String,
    },
    /// Two engines, or one engine twice, answered differently.
    #[error(
        "answers differ: {engine} answers {path} with {answer}, another answer was {expected}; \
         times of different work cannot be compared. Mend the application, or judge by status \
         alone: answer = \"status\""
    )]
    AnswersDiffer {
        /// Label of the engine that answered last.
        engine: String,
        /// Path and query.
        path: String,
        /// Length and hash of its body.
        answer: String,
        /// Length and hash of the body expected.
        expected: String,
    },
    /// An engine or its application ended during a trial, and the plan says to stop then.
    #[error("{engine} ended in the middle of a trial: {why}; go on with --resume {run}")]
    EngineEnded {
        /// Label.
        engine: String,
        /// The run.
        run: String,
        /// What was seen.
        why: String,
    },
    /// The memory of the server side cannot be limited.
    #[error(transparent)]
    Memory(#[from] crate::resource::MemoryLimitError),
    /// Files.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No random numbers from the system.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
    /// The user asked to stop.
    #[error("interrupted; continue with --resume {run}")]
    Interrupted {
        /// The run.
        run: String,
    },
}

impl From<DeployError> for RunError {
    fn from(error: DeployError) -> Self {
        Self::Deploy(Box::new(error))
    }
}
