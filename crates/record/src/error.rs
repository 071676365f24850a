//! Errors of a run's folder.

use std::path::PathBuf;

use crate::run::SCHEMA_VERSION;

/// Errors of a run's folder.
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
