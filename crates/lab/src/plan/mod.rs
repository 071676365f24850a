//! The plan of an experiment: what a TOML file says, checked and made complete.
//! The resolved plan is written into the run's folder, so a run can be read without the program.

mod access_log;
mod application;
mod blob;
mod blob_repeated;
mod data;
mod duration;
mod effect;
mod factor;
mod load;
pub(crate) mod oltp;
mod parse;
mod period;
mod placeholder;
mod quantity;
mod request;
mod request_source;
mod response;
mod statement;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::EngineSpec;
use serde::{Deserialize, Serialize};

use crate::workload::Operation;

pub use self::oltp::{Checkpoints, Initdb, Oltp, Setting, Transport};
pub use application::Application;
pub use blob::{Blob, Knob};
pub(crate) use blob::{BlobCell, BlobOperation};
pub use data::Data;
pub use duration::Seconds;
pub use effect::canonical_levels;
pub(crate) use effect::telling_levels;
pub use factor::{Factor, Level, Scale};
pub(crate) use load::clients;
pub use load::{Arrivals, ConnectionUse, Load, LoadModel, Pause, Trial};
pub use parse::{parse, read};
pub use period::{days_of, last_day};
pub use placeholder::{Placeholders, expand};
pub use quantity::{Bound, Bytes, Percent};
pub use request::{AnswerCheck, Request};
pub use request_source::RequestSource;
pub use response::Response;
pub use statement::{Comparison, Given, Invariant, Parameter, Statement};

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
    /// A SQLite file that is copied into every engine, a command that makes it, or `present`.
    #[serde(default = "Data::present")]
    pub data: Data,
    /// The number of blocks, where no precision is asked for.
    #[serde(default = "seven")]
    pub replicates: usize,
    /// Blocks are added, from ten on, until the half-width of every interval (of each mean and of
    /// each ratio) is at most this share of its value. Whatever the values show: to stop on a
    /// verdict would make false ones likelier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Percent>,
    /// Starts every random choice; chosen and recorded where the plan has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// No block beyond the fifth and no round of bisection begins that would end after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Seconds>,
    /// What becomes of the run when an engine ends in the middle of a trial.
    #[serde(default, skip_serializing_if = "OnError::is_default")]
    pub on_error: OnError,
    /// What the report says of the conditions in its first line, beside what was measured.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub conditions: String,
    /// Processors of the whole server side, as `0` or `0,1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpus: Option<Vec<usize>>,
    /// Memory of the whole server side, page cache included, as `1GiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_memory: Option<Bytes>,
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
    /// Bounds that every treatment must keep to, by response; exit code 99 if one does not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub thresholds: BTreeMap<Response, Bound>,
    /// The application that is started for each engine; the commands that fill a database.
    #[serde(default)]
    pub application: Application,
    /// The blobs of workload `blob`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Blob>,
    /// The requests of workload `http`.
    #[serde(default, rename = "request", skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
    /// Where further requests come from; none once they have been read.
    #[serde(default, rename = "requests", skip_serializing_if = "Option::is_none")]
    pub request_source: Option<RequestSource>,
    /// The statements of workload `sql`.
    #[serde(default, rename = "statement", skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Statement>,
    /// What must hold after every trial of workload `sql`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariant: Option<Invariant>,
    /// What workload `oltp` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oltp: Option<Oltp>,
}

fn seven() -> usize {
    7
}

/// What becomes of a run when an engine ends in the middle of a trial. The trial is void.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The engine is started again and the run goes on.
    #[default]
    Continue,
    /// The run stops; it can be resumed.
    Stop,
}

impl OnError {
    fn is_default(&self) -> bool {
        *self == Self::Continue
    }
}

/// What an experiment does to its engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkloadKind {
    /// Requests to an application over HTTP.
    Http,
    /// Statements that clients of ours send to the engine itself.
    Sql,
    /// Blobs read and overwritten in databases and in files.
    Blob,
    /// Transactions on tables of our own making, by as many clients as there are to be.
    Oltp,
}

impl WorkloadKind {
    /// As it is written in a plan and in a run's id.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sql => "sql",
            Self::Blob => "blob",
            Self::Oltp => "oltp",
        }
    }

    /// The key of a plan under which the operations stand.
    pub(crate) fn operations_key(self) -> &'static str {
        match self {
            Self::Http => "request",
            Self::Sql => "statement",
            Self::Blob => "blob",
            Self::Oltp => "oltp",
        }
    }
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

    /// The first key, in the plan's order, that `other` has otherwise: `trial.time`.
    pub(crate) fn first_difference(&self, other: &Self) -> Result<Option<String>, PlanError> {
        fn table(plan: &Plan) -> Result<toml::Value, PlanError> {
            toml::Value::try_from(plan)
                .map_err(|error| PlanError::impossible("plan", error.to_string()))
        }
        Ok(difference(&table(self)?, &table(other)?))
    }

    /// The plan as TOML, in a form that [`read`] accepts again.
    pub fn to_toml(&self) -> Result<String, PlanError> {
        toml::to_string(self).map_err(|error| PlanError::impossible("plan", error.to_string()))
    }
}

/// Where two values differ; a list differs as a whole.
fn difference(one: &toml::Value, other: &toml::Value) -> Option<String> {
    let (toml::Value::Table(one), toml::Value::Table(other)) = (one, other) else {
        return (one != other).then(String::new);
    };
    one.keys().chain(other.keys()).find_map(|key| match (one.get(key), other.get(key)) {
        (Some(a), Some(b)) => {
            let inside = difference(a, b)?;
            Some(if inside.is_empty() { key.clone() } else { format!("{key}.{inside}") })
        }
        _ => Some(key.clone()),
    })
}
