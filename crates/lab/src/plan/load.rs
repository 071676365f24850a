//! `[load]` and `[trial]`: how load is offered, and how long.

use serde::{Deserialize, Serialize};

use super::Seconds;

/// How load is offered. Closed load: a client sends its next request when it has the answer to the
/// last, so a response time is a service time (Schroeder, Wierman, Harchol-Balter 2006).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Load {
    /// Closed is the only model yet.
    pub model: LoadModel,
    /// One connection for a client's whole trial, or one for each request.
    pub connection: ConnectionUse,
}

/// The models of load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// A fixed number of clients, each with at most one request under way.
    #[default]
    Closed,
}

/// How long a connection lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionUse {
    /// A client keeps its connection.
    #[default]
    PerClient,
    /// A connection is opened for each request and its opening counts in the response time.
    PerRequest,
}

/// What one trial is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case", deny_unknown_fields)]
pub enum Trial {
    /// Every client loops over the requests until the time is over.
    Steady {
        /// The shortest length of a trial.
        time: Seconds,
    },
    /// Every client sends every request `passes` times, as the article's script does.
    Passes {
        /// How often.
        passes: u32,
    },
}

impl Default for Trial {
    fn default() -> Self {
        Self::Steady { time: Seconds(10) }
    }
}
