//! Errors that keep a trial from being run.

use std::io;

use plan::{LoadOptions, Mode};

use crate::resource::ResourceError;

/// A trial that could not be run. A server that fails is not such an error: its failures are
/// observations.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The lists do not fit together, or there is nothing to do.
    #[error("load: {0}")]
    InvalidLoad(String),
    /// A thread could not be started.
    #[error("load: thread {thread} of {threads} cannot be started: {source}; use fewer clients")]
    Thread {
        /// Number of the thread, from 1.
        thread: usize,
        threads: usize,
        source: io::Error,
    },
    /// The clients could not be bound to their processors.
    #[error("load: {0}")]
    Cpus(#[from] ResourceError),
    /// The system does not let us wait for sockets.
    #[error("load: cannot wait for sockets: {0}; allow more open files (ulimit -n)")]
    Poll(#[from] io::Error),
    /// A client process could not be started.
    #[error(
        "load: client {client} cannot be started as a process: {source}; use fewer clients, or \
         --clients-as threads"
    )]
    Process { client: u16, source: io::Error },
    /// A client process has ended in the middle of its work.
    #[error("the process of client {client} {how}")]
    ProcessEnded { client: u16, how: String },
    /// A client process cannot do its job, in its own words.
    #[error("{0}")]
    ProcessRefused(String),
    /// The user asked to stop; nothing of the trial is kept.
    #[error("interrupted")]
    Interrupted,
}

/// Refuses what cannot be offered.
pub(super) fn check(options: &LoadOptions) -> Result<(), LoadError> {
    let refuse = |reason: &str| Err(LoadError::InvalidLoad(reason.to_owned()));
    if options.clients == 0 {
        return refuse("0 clients; at least 1 is needed");
    }
    match options.mode {
        Mode::Passes(0) => refuse("0 passes; at least 1 is needed"),
        Mode::Open { per_second, .. } if !(per_second.is_finite() && per_second > 0.0) => {
            refuse("open load needs a rate above 0 per second")
        }
        _ => Ok(()),
    }
}
