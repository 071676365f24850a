//! A run on disk: `runs/<id>/` with run.json, plan.toml, trials and the report. Every file is
//! written to a temporary name, synced and renamed, so that a run that is cut off at any moment
//! holds whole trials only.

mod captured_plan;
mod engine;
mod file;
mod folder;
mod histogram;
mod observations;
mod trial;

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::http::Answer;
use crate::plan::Plan;
use crate::schedule::Round;

pub use captured_plan::{CapturedPlan, OperationPlan};
pub use engine::{BlobStore, Durability, EngineRecord};
pub use file::write_atomically;
pub use folder::RunFolder;
pub use histogram::{PERCENTILES, ResponseTimes, read_histogram, write_histogram};
pub use observations::{describe, read_observations, write_observations};
pub(crate) use trial::NO_RIGHT_ANSWER;
pub use trial::{FailureCounts, RequestSummary, Status, Trial};

/// The version of run.json and of the trial files. A newer one is refused.
pub const SCHEMA_VERSION: u32 = 1;

/// What can go wrong with a run's folder.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    /// A file of the run is not what this program writes.
    #[error("{path} is damaged or not of this program: {message}")]
    Damaged { path: PathBuf, message: String },
    /// Written by a later release.
    #[error(
        "{path} was written by a newer Crossover (schema {found}, this one reads {SCHEMA_VERSION}); update Crossover"
    )]
    Newer { path: PathBuf, found: u32 },
    #[error(
        "there is no run `{name}` in {folder}; `crossover runs` lists them, `latest` is the newest"
    )]
    Unknown {
        /// As the user wrote it.
        name: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// A folder that may not be removed, since it is not certain that it is a run and nothing else.
    #[error("{path} is not removed: {why}; remove it by hand if it is to go")]
    Kept { path: PathBuf, why: String },
    /// Another process measures into the run.
    #[error(
        "the run {run} is being measured by another process; wait for its end, or stop it first"
    )]
    InProgress { run: String },
    /// Two runs that cannot be measured together.
    #[error("{a} and {b} cannot be measured again together. {why}")]
    NotInterleaved { a: String, b: String, why: &'static str },
    /// `--resume` of one of two runs that were measured together.
    #[error(
        "cannot resume {run} alone: its blocks alternated with those of {with}; measure both again \
         with compare --rerun"
    )]
    Interleaved { run: String, with: String },
    /// `--resume` with something else than what the run was begun with.
    #[error("cannot resume {run}: {what} changed since it began; start a new run")]
    Changed { run: String, what: String },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    pub id: String,
    pub started: Timestamp,
    /// When its last trial ended.
    pub finished: Option<Timestamp>,
    /// All planned trials are there.
    pub complete: bool,
    pub seed: u64,
    /// As it was typed, without secrets.
    pub command_line: String,
    pub crossover_version: String,
    /// SHA-256 of the program's file.
    pub program_digest: String,
    /// Digest of the data file, or of the commands that prepare the data.
    pub data_digest: String,
    pub environment: Environment,
    /// By label, as they were when last started.
    pub engines: BTreeMap<String, EngineRecord>,
    /// The cells of each round.
    pub rounds: Vec<Round>,
    /// When the run was taken up again.
    pub resumed: Vec<Timestamp>,
    /// What every engine answered to each distinct request, by path.
    pub answers: BTreeMap<String, Answer>,
    /// The text of every plan that a trial names, by its hash.
    #[serde(default)]
    pub plans: BTreeMap<String, String>,
    /// The run whose blocks alternated with this one's, in one sitting (`compare --rerun`).
    #[serde(default)]
    pub interleaved_with: Option<String>,
}

impl Run {
    /// The blocks of its first round: a precision adds to those of the plan, a budget ends them.
    pub(crate) fn blocks(&self, plan: &Plan) -> usize {
        self.rounds.first().map_or(plan.replicates, |round| round.blocks)
    }
}
