//! Applications under test as child processes: started, waited for until they answer, watched,
//! and stopped with everything that they started.

mod application;
mod group;
mod keeper;
mod parent_death;
mod ready;

pub use application::{ApplicationOptions, ChildApplication, run_to_end};
pub use ready::ReadyQuestion;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use load::resource::ResourceError;

/// An application that could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("{name}: its command is empty; give at least a program")]
    EmptyCommand { name: String },
    /// The program could not be started.
    #[error("{name}: cannot start {program:?}: {source}; check the path and the permissions")]
    Start {
        name: String,
        /// First word of its command.
        program: String,
        source: io::Error,
    },
    /// A log file cannot be written or read.
    #[error("log file {}: {source}", path.display())]
    Log { path: PathBuf, source: io::Error },
    /// It ended though it should run, or a command failed.
    #[error("{name} ended with {how}{tail}")]
    Ended {
        name: String,
        how: String,
        /// The end of its output, introduced by the file it is from.
        tail: String,
    },
    /// It runs and does not get ready.
    #[error(
        "{name} was not ready within {timeout:?}: {last}; `ready` in the plan (bench http: --ready PATH) \
         names a path that it answers well{tail}"
    )]
    NotReady {
        name: String,
        /// The limit that was passed.
        timeout: Duration,
        last: String,
        /// The end of its output, introduced by the file it is from.
        tail: String,
    },
    /// It could not be bound to its processors.
    #[error("{name}: {source}")]
    Cpus { name: String, source: ResourceError },
    /// No port could be had.
    #[error("no free TCP port on 127.0.0.1: {0}")]
    NoPort(io::Error),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}
