//! Load of one trial, as the laboratory offers it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Arrivals, ConnectionUse};

/// How a trial goes, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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

#[derive(Clone, Debug, Serialize, Deserialize)]
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
