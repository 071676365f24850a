//! Options of a trial, and errors that keep it from being run.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Arrivals;
use crate::resource::ResourceError;

/// How a trial goes, and how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Closed load: every client walks this many rounds. A round is every request as often as its
    /// weight says, in a new random order.
    Passes(u32),
    /// Closed load: every client does each operation once, whatever its weight.
    EachOnce,
    /// Closed load: every client walks rounds until `time` has passed since its own start, and
    /// until every client has finished `minimum_rounds`: those that are ahead go on meanwhile, so
    /// that the last ones are not measured with fewer clients than were asked for. A request
    /// counts if and only if it was sent before that moment; the one under way is waited for and
    /// counted. (To drop it would favour short requests; the number of requests sent before a
    /// moment, plus the one under way, is a stopping time, so their mean is unbiased by Wald's
    /// equation.)
    Steady {
        time: Duration,
        /// With at least 1 every request is observed, however slow the server is.
        minimum_rounds: u32,
    },
    /// Open load: requests are due at times drawn beforehand, whether or not the server has
    /// answered the earlier ones, and response time counts from when a request was due, so a stall
    /// of the server is seen by all the requests that it made wait (Tene, "How NOT to Measure
    /// Latency"). Every request due within `time` is sent and waited for, unless its turn has not
    /// come after as much time again.
    Open { time: Duration, per_second: f64, arrivals: Arrivals },
}

/// The use of a connection after an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionUse {
    /// Kept. In closed load it is opened before the clocks start; if the server closes it,
    /// opening another counts in the next request's response time.
    #[default]
    PerClient,
    /// Opened for each request, and counted in its response time, as curl does.
    PerRequest,
}

#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Number of clients, 1 to 65,535; in open load the most connections.
    pub clients: u16,
    /// How long, and closed or open.
    pub mode: Mode,
    /// Closed load: how long a client pauses between an answer and its next request.
    pub think_time: Duration,
    pub connection: ConnectionUse,
    /// Seed of this trial (see [`crate::derive_seed`]); each client derives its own from it.
    pub seed: u64,
    /// Operations that are not done, by their number; the rest of a shorter list are done.
    pub left_out: Vec<bool>,
    pub timeout: Duration,
    /// Processors that the clients may use; `None`: all.
    pub client_cpus: Option<Vec<usize>>,
}

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
    /// The user asked to stop; nothing of the trial is kept.
    #[error("interrupted")]
    Interrupted,
}

impl LoadOptions {
    pub(super) fn check(&self) -> Result<(), LoadError> {
        let refuse = |reason: &str| Err(LoadError::InvalidLoad(reason.to_owned()));
        if self.clients == 0 {
            return refuse("0 clients; at least 1 is needed");
        }
        match self.mode {
            Mode::Passes(0) => refuse("0 passes; at least 1 is needed"),
            Mode::Open { per_second, .. } if !(per_second.is_finite() && per_second > 0.0) => {
                refuse("open load needs a rate above 0 per second")
            }
            _ => Ok(()),
        }
    }
}
