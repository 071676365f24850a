//! A run on disk: `runs/<id>/` with run.json, plan.toml, trials and the report. Every file is
//! written to a temporary name, synced and renamed, so that a run that is cut off at any moment
//! holds whole trials only.

mod captured_plan;
mod engine;
mod file;
mod histogram;
mod observations;
mod trial;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::http::Answer;
use crate::plan::Plan;
use crate::schedule::Round;

pub use captured_plan::{CapturedPlan, OperationPlan};
pub use engine::{Durability, EngineRecord};
pub use file::write_atomically;
pub use histogram::{PERCENTILES, ResponseTimes, read_histogram, write_histogram};
pub use observations::{describe, read_observations, write_observations};
pub use trial::{RequestSummary, Status, Trial};

/// The version of run.json and of the trial files. A newer one is refused.
pub const SCHEMA_VERSION: u32 = 1;

/// What can go wrong with a run's folder.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of the run is not what this program writes.
    #[error("{path} is damaged or not of this program: {message}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// Written by a later release.
    #[error(
        "{path} was written by a newer Crossover (schema {found}, this one reads {SCHEMA_VERSION}); update Crossover"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// No such run.
    #[error(
        "there is no run `{name}` in {folder}; `ls {folder}` shows the runs, `latest` is the newest"
    )]
    Unknown {
        /// As the user wrote it.
        name: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// `--resume` with something else than what the run was begun with.
    #[error("cannot resume {run}: {what} changed since it began; start a new run")]
    Changed {
        /// The run.
        run: String,
        /// Plan, program or data.
        what: String,
    },
}

/// What run.json says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The folder's name.
    pub id: String,
    /// When it began.
    pub started: Timestamp,
    /// When its last trial ended.
    pub finished: Option<Timestamp>,
    /// All planned trials are there.
    pub complete: bool,
    /// Starts every random choice.
    pub seed: u64,
    /// As it was typed, without secrets.
    pub command_line: String,
    /// This program's release.
    pub crossover_version: String,
    /// SHA-256 of the program's file.
    pub program_digest: String,
    /// Digest of the data file, or of the commands that prepare the data.
    pub data_digest: String,
    /// The machine.
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
}

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes the folder of a new run below `runs`.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn create(runs: &Path, workload: &str, started: Timestamp) -> Result<Self, RecordError> {
        let mut random = [0; 2];
        getrandom::fill(&mut random).map_err(|error| RecordError::Io {
            path: runs.to_owned(),
            source: std::io::Error::other(error.to_string()),
        })?;
        let [a, b] = random;
        let time = started.strftime("%Y%m%d-%H%M%S");
        let path = runs.join(format!("{time}-{workload}-{a:02x}{b:02x}"));
        let trials = path.join("trials");
        std::fs::create_dir_all(&trials)
            .map_err(|source| RecordError::Io { path: trials, source })?;
        Ok(Self { path })
    }

    /// Finds a run by id, path or `latest`.
    ///
    /// # Errors
    /// [`RecordError::Unknown`].
    pub fn find(runs: &Path, name: &str) -> Result<Self, RecordError> {
        let unknown = || RecordError::Unknown { name: name.to_owned(), folder: runs.to_owned() };
        let path = if name == "latest" {
            newest(runs).ok_or_else(unknown)?
        } else if Path::new(name).join("run.json").is_file() {
            PathBuf::from(name)
        } else {
            runs.join(name)
        };
        if path.join("run.json").is_file() { Ok(Self { path }) } else { Err(unknown()) }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its last part.
    pub fn id(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Writes run.json.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write_run(&self, run: &Run) -> Result<(), RecordError> {
        file::write_json(&self.path.join("run.json"), run)
    }

    /// Reads run.json.
    ///
    /// # Errors
    /// When it is damaged or newer.
    pub fn read_run(&self) -> Result<Run, RecordError> {
        let path = self.path.join("run.json");
        file::refuse_newer(&path)?;
        file::read_json(&path)
    }

    /// Writes the resolved plan.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write_plan(&self, text: &str) -> Result<(), RecordError> {
        write_atomically(&self.path.join("plan.toml"), text.as_bytes())
    }

    /// The plan as it was written: the text, and what it says.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read_plan(&self) -> Result<(String, Plan), RecordError> {
        let path = self.path.join("plan.toml");
        let text = std::fs::read_to_string(&path)
            .map_err(|source| RecordError::Io { path: path.clone(), source })?;
        match toml::from_str(&text) {
            Ok(plan) => Ok((text, plan)),
            Err(error) => Err(RecordError::Damaged { path, message: error.message().to_owned() }),
        }
    }

    /// Writes one trial.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write_trial(&self, trial: &Trial) -> Result<(), RecordError> {
        file::write_json(&self.trial_path(trial.number), trial)
    }

    /// Reads all trials, by number.
    ///
    /// # Errors
    /// When one is damaged.
    pub fn read_trials(&self) -> Result<Vec<Trial>, RecordError> {
        let folder = self.path.join("trials");
        let io = |source| RecordError::Io { path: folder.clone(), source };
        let mut trials: Vec<Trial> = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                trials.push(file::read_json(&path)?);
            }
        }
        trials.sort_by_key(|trial| trial.number);
        Ok(trials)
    }

    fn trial_path(&self, number: usize) -> PathBuf {
        self.path.join("trials").join(format!("{number:04}.json"))
    }

    /// Where the raw observations of a trial lie.
    pub fn observations_path(&self, number: usize) -> PathBuf {
        self.path.join("trials").join(format!("{number:04}.observations.zst"))
    }

    /// Where the distribution of a trial's response times lies.
    pub fn histogram_path(&self, number: usize) -> PathBuf {
        self.path.join("trials").join(format!("{number:04}.histogram"))
    }
}

fn newest(runs: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(runs).ok()?;
    let folders = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    folders
        .filter(|path| path.join("run.json").is_file())
        .max_by_key(|path| path.file_name().map(std::ffi::OsStr::to_os_string))
}
