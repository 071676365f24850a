//! `[load]` and `[trial]`: how load is offered, and how long.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Levels;
use crate::model::quantity::written_as_text;
use crate::{Level, Seconds};

/// An operation that takes longer is a failure, unless the plan says otherwise.
const TIMEOUT: Duration = Duration::from_secs(300);
/// The most connections of open load, unless the plan says otherwise.
pub(crate) const CONNECTIONS_MAX: u16 = 256;
/// The same for clients of a database, which are all connected before a trial, a thread each.
/// PostgreSQL lets in 100 unless its configuration says otherwise.
pub(crate) const CLIENTS_MAX: u16 = 32;

/// How the times between arrivals are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Exponential gaps (independent users).
    #[default]
    Poisson,
    /// Equal gaps.
    Uniform,
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

/// How load is offered (Schroeder, Wierman, Harchol-Balter 2006).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Load {
    pub model: LoadModel,
    /// Open load: requests due per second; a factor `rate` stands above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Open load: how arrivals are spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Open load: the most connections; requests queue in the client beyond that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections_max: Option<u16>,
    /// Closed load: a client's pause between an answer and its next request; a factor
    /// `think_time` stands above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Pause>,
    /// An operation that takes longer has failed; 5 minutes unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
    /// One connection for a client's whole trial, or one for each request.
    pub connection: ConnectionUse,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// A fixed number of clients, each sending its next request when it has the answer to the
    /// last: a response time is a service time.
    #[default]
    Closed,
    /// Requests come by a clock, whether or not the server keeps up: a response time counts from
    /// when the request was due.
    Open,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenTrial", into = "WrittenTrial")]
pub enum TrialSettings {
    /// Every client loops over the requests until the time is over.
    Steady {
        /// The shortest length of a trial.
        time: Seconds,
    },
    /// Every client sends every request `passes` times, as the article's script does.
    Passes { passes: u32 },
}

/// A trial as written. One table, since a key of a wrong kind keeps its place only so.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTrial {
    mode: TrialMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<Seconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passes: Option<u32>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TrialMode {
    Steady,
    Passes,
}

impl TryFrom<WrittenTrial> for TrialSettings {
    type Error = &'static str;

    fn try_from(WrittenTrial { mode, time, passes }: WrittenTrial) -> Result<Self, &'static str> {
        match (mode, time, passes) {
            (TrialMode::Steady, Some(time), None) => Ok(Self::Steady { time }),
            (TrialMode::Steady, None, None) => Err("mode = \"steady\" needs time = \"10s\""),
            (TrialMode::Steady, _, Some(_)) => Err("passes goes with mode = \"passes\""),
            (TrialMode::Passes, None, Some(passes)) => Ok(Self::Passes { passes }),
            (TrialMode::Passes, None, None) => Err("mode = \"passes\" needs passes = 1"),
            (TrialMode::Passes, Some(_), _) => {
                Err("time goes with mode = \"steady\"; a pass ends by itself")
            }
        }
    }
}

impl From<TrialSettings> for WrittenTrial {
    fn from(trial: TrialSettings) -> Self {
        match trial {
            TrialSettings::Steady { time } => {
                Self { mode: TrialMode::Steady, time: Some(time), passes: None }
            }
            TrialSettings::Passes { passes } => {
                Self { mode: TrialMode::Passes, time: None, passes: Some(passes) }
            }
        }
    }
}

impl Default for TrialSettings {
    fn default() -> Self {
        Self::Steady { time: Seconds(10) }
    }
}

/// A short length of time, written `100ms`, `2s` or `1m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause(pub Duration);

impl FromStr for Pause {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        notation::duration(text).map(Self)
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}ms", self.0.as_millis())
    }
}

written_as_text!(Pause);

impl Load {
    /// The limit of an operation.
    pub fn timeout(&self) -> Duration {
        self.timeout.map_or(TIMEOUT, Seconds::duration)
    }
}

/// The number of clients of a treatment; one where the plan does not vary it.
pub fn clients(levels: &Levels) -> u16 {
    let number = levels.get("clients").and_then(Level::number).unwrap_or(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by plan")]
    let clients = number as u16;
    clients.max(1)
}
