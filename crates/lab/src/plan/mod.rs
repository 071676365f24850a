//! The plan of an experiment: what a TOML file says, checked and made complete.
//! The resolved plan is written into the run's folder, so a run can be read without the program.

mod duration;
mod factor;
mod parse;
mod period;
mod placeholder;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::EngineSpec;
use serde::{Deserialize, Serialize};

use crate::workload::Operation;

pub use duration::Seconds;
pub use factor::{Factor, Level, Scale};
pub use parse::read;
pub use period::{days_of, last_day};
pub use placeholder::{Placeholders, expand};

/// What is wrong with a plan, where, and how to put it right.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file cannot be read.
    #[error("cannot read the plan {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The text is no plan: syntax, an unknown key, a wrong type.
    #[error("{place}: {message}")]
    Malformed {
        /// File, line and column.
        place: String,
        /// What is wrong there.
        message: String,
    },
    /// The text can be read but not carried out.
    #[error("plan, {key}: {message}")]
    Impossible {
        /// The key that is at fault.
        key: String,
        /// What is wrong with it and the way out.
        message: String,
    },
}

impl PlanError {
    pub(crate) fn impossible(key: &str, message: impl Into<String>) -> Self {
        Self::Impossible { key: key.to_owned(), message: message.into() }
    }
}

/// An experiment: engines, factors, load, and the software that is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The question.
    pub title: String,
    /// What is done to the engines.
    pub workload: WorkloadKind,
    /// The engines, the first being the one that the others are compared with.
    pub engines: Vec<EngineSpec>,
    /// A SQLite file that is copied into every engine, or `present`.
    #[serde(default = "Data::present")]
    pub data: Data,
    /// The number of blocks.
    #[serde(default = "seven")]
    pub replicates: usize,
    /// Starts every random choice; chosen and recorded where the plan has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// No further round of bisection starts after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Seconds>,
    /// What the report says of the conditions in its first line, beside what was measured.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub conditions: String,
    /// Processors of the whole server side, as `0` or `0,1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpus: Option<Vec<usize>>,
    /// Processors of the measuring client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpus: Option<Vec<usize>>,
    /// Fixed placeholders: `{name}` in commands, paths and headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, String>,
    /// How load is offered.
    #[serde(default)]
    pub load: Load,
    /// What one trial is.
    #[serde(default)]
    pub trial: Trial,
    /// The factors; every name is a placeholder too. `clients` is the number of clients.
    #[serde(default)]
    pub factors: BTreeMap<String, Factor>,
    /// The application that is started for each engine; the commands that fill a database.
    #[serde(default)]
    pub application: Application,
    /// The requests of workload `http`.
    #[serde(default, rename = "request", skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
}

fn seven() -> usize {
    7
}

/// What an experiment does to its engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkloadKind {
    /// Requests to an application over HTTP.
    Http,
}

impl WorkloadKind {
    /// As it is written in a plan and in a run's id.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
        }
    }
}

/// Where the data comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Data {
    /// The engines hold it already.
    Present,
    /// A SQLite file, copied into every engine.
    File(PathBuf),
}

impl Data {
    fn present() -> Self {
        Self::Present
    }
}

impl From<String> for Data {
    fn from(text: String) -> Self {
        if text == "present" { Self::Present } else { Self::File(text.into()) }
    }
}

impl From<Data> for String {
    fn from(data: Data) -> Self {
        match data {
            Data::Present => "present".to_owned(),
            Data::File(path) => path.display().to_string(),
        }
    }
}

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

/// The application under test: commands, each a list of words, with placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Application {
    /// Run once per engine and data: they fill the engine's database. Not run for `sqlite`, which
    /// gets a copy of the data file, nor for an engine given by URL, which is never written to.
    pub prepare: Vec<Vec<String>>,
    /// The command that serves. A word that is just `{settings}` becomes `--set key=value` for each
    /// setting of an engine that the application, not a server, has to apply.
    pub start: Vec<String>,
    /// Its environment, beside that of this program.
    pub environment: BTreeMap<String, String>,
    /// A path that answers 200 once the application is ready; empty: `/`.
    pub ready: String,
}

/// One request of the mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// A short name for tables; the path where there is none.
    #[serde(default)]
    pub name: String,
    /// Path and query, with placeholders.
    pub path: String,
    /// How often it is sent in a round.
    #[serde(default = "one")]
    pub weight: u32,
    /// What is expected of the answer.
    #[serde(default)]
    pub answer: AnswerCheck,
    /// Further headers, with placeholders.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

fn one() -> u32 {
    1
}

/// How an answer is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerCheck {
    /// Status 200 and the same bytes from every engine, every time.
    #[default]
    Exact,
    /// Status 200.
    Status,
}

impl Plan {
    /// The factor that is swept, if any: the x axis.
    pub fn swept(&self) -> Option<(&str, &Factor)> {
        self.factors
            .iter()
            .find(|(_, factor)| factor.swept.is_some())
            .map(|(name, factor)| (name.as_str(), factor))
    }

    /// The mix of the workload, in the order of the plan.
    pub fn operations(&self) -> Vec<Operation> {
        crate::workload::of(self).operations()
    }

    /// The first day of the period that is asked for, where the plan has one.
    pub(crate) fn start_day(&self) -> Option<&str> {
        self.constants.get("start").map(String::as_str)
    }

    /// The plan as TOML, in a form that [`read`] accepts again.
    pub fn to_toml(&self) -> Result<String, PlanError> {
        toml::to_string(self).map_err(|error| PlanError::impossible("plan", error.to_string()))
    }
}
