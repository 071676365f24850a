//! Plan of an experiment, as its TOML file says it.

use std::collections::BTreeMap;

use engine::EngineSpec;
use serde::{Deserialize, Serialize};

use crate::{
    Application, Blob, Bound, Bytes, Data, EnoughBound, Factor, Invariant, Load, Oltp, Percent,
    PlanError, Request, RequestSource, ResponseVariable, Seconds, Statement, Step, TrialSettings,
    WorkloadKind,
};

/// An experiment: engines, factors, load, and the software that is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub title: String,
    /// The load on the engines.
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
    /// Two engines whose ratio is shown to lie within this share are equal: 5% is a ratio between
    /// 1/1.05 and 1.05. Fixed before anything is measured.
    #[serde(default = "equal_by_default", skip_serializing_if = "is_equal_by_default")]
    pub equivalent_within: Percent,
    /// The response by which engines are compared, where it is another than the workload's: of workload
    /// `sql` transactions per second instead of response times.
    #[serde(default, rename = "response", skip_serializing_if = "Option::is_none")]
    pub own_response: Option<ResponseVariable>,
    /// A side that is slower by more than this share than the one it is compared with
    /// ([`Plan::regression_sides`]) is a missed threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_on_regression: Option<Percent>,
    /// The pairs of engines that get a verdict. Every further one costs power, so it is fixed before
    /// anything is measured. None: every engine with the first, and the other pairs as a family of
    /// their own where that is not too many verdicts for the blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<Compare>,
    /// The share of requests that may fail (be refused, time out, meet a fault of the server's)
    /// without costing a treatment its verdict: of all and of each distinct request, over all
    /// blocks. 0.1% unless given, of workload `oltp` 1%. A wrong answer is never tolerated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_failures: Option<Percent>,
    /// Starts every random choice; chosen and recorded where the plan has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// No block beyond the fifth and no round of bisection begins that would end after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Seconds>,
    /// The course of the run when an engine ends in the middle of a trial.
    #[serde(default, skip_serializing_if = "OnError::is_default")]
    pub on_error: OnError,
    /// Whether a trial waits, up to a minute, until other programs leave the machine alone.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub wait_for_quiet: bool,
    /// Conditions for the first line of the report, beside those that were measured.
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
    #[serde(default)]
    pub load: Load,
    #[serde(default)]
    pub trial: TrialSettings,
    /// The factors; every name is a placeholder too. `clients` is the number of clients.
    #[serde(default)]
    pub factors: BTreeMap<String, Factor>,
    /// Bounds that every treatment must keep to, by response; exit code 99 if one does not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub thresholds: BTreeMap<ResponseVariable, Bound>,
    /// The application that is started for each engine; the commands that fill a database.
    #[serde(default)]
    pub application: Application,
    /// The blobs of workload `blob`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Blob>,
    /// The requests of workload `http`.
    #[serde(default, rename = "request", skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
    /// Before the first block the requests are sampled until a round of them fits a trial: those of
    /// an access log, which is a sample itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fit_rounds: bool,
    /// Where further requests come from; none once they have been read.
    #[serde(default, rename = "requests", skip_serializing_if = "Option::is_none")]
    pub request_source: Option<RequestSource>,
    /// The statements of workload `sql`.
    #[serde(default, rename = "statement", skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Statement>,
    /// Changes to the copies of workload `sql`, each on top of all earlier ones. The factor `step` has
    /// their names as levels.
    #[serde(default, rename = "step", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// The step of each engine, by its label, at which engines are compared at their best: chosen
    /// before anything is measured. The last step where none is named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub best_steps: BTreeMap<String, String>,
    /// The bound of the user's own that makes a step enough; without one it is enough where it is
    /// not slower than the other engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enough: Option<EnoughBound>,
    /// A condition that holds after every trial of workload `sql`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariant: Option<Invariant>,
    /// The transactions of workload `oltp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oltp: Option<Oltp>,
}

fn yes() -> bool {
    true
}

fn seven() -> usize {
    7
}

/// Differences below it seldom decide anything.
const EQUAL_BY_DEFAULT: Percent = Percent(0.05);

fn equal_by_default() -> Percent {
    EQUAL_BY_DEFAULT
}

fn is_equal_by_default(within: &Percent) -> bool {
    *within == EQUAL_BY_DEFAULT
}

/// Intervals from fewer blocks are themselves too uncertain for their width to decide.
const PRECISION_MIN_BLOCKS: usize = 10;

/// The comparisons of three engines and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// Every engine with the first, and no other pair.
    First,
    /// Every engine with every other.
    All,
}

impl Compare {
    /// How many comparisons `engines` have at one set of levels.
    pub fn pairs(self, engines: usize) -> usize {
        match self {
            Self::First => engines.saturating_sub(1),
            Self::All => engines * engines.saturating_sub(1) / 2,
        }
    }
}

/// The course of a run when an engine ends in the middle of a trial. The trial is void.
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

impl Plan {
    /// `true` where a run goes on without an engine that crashes: there are others.
    #[must_use]
    pub fn goes_on_without_an_engine(&self) -> bool {
        self.on_error == OnError::Continue && self.engines.len() > 1
    }

    /// How many blocks a round begins with.
    pub fn first_blocks(&self) -> usize {
        match self.precision {
            Some(_) => self.replicates.max(PRECISION_MIN_BLOCKS),
            None => self.replicates,
        }
    }

    /// The factor that is swept, if any: the x axis.
    pub fn swept(&self) -> Option<(&str, &Factor)> {
        self.factors
            .iter()
            .find(|(_, factor)| factor.swept.is_some())
            .map(|(name, factor)| (name.as_str(), factor))
    }

    /// Whether it measures what the article measured, this program's own dashboard: reports of other
    /// runs do not speak of the article.
    pub fn is_the_articles(&self) -> bool {
        self.application.start.iter().any(|word| word == "{crossover}")
    }

    /// The first day of the period that is asked for, where the plan has one.
    pub fn start_day(&self) -> Option<&str> {
        self.constants.get("start").map(String::as_str)
    }

    /// Adds one more to what the report says of the conditions.
    pub fn add_condition(&mut self, condition: &str) {
        if !self.conditions.is_empty() {
            self.conditions.push_str("; ");
        }
        self.conditions.push_str(condition);
    }

    /// Takes over the sample that a run of this plan has taken of its requests.
    pub fn take_sample_of(&mut self, run: &Self) {
        if !self.fit_rounds || !run.fit_rounds || !run.conditions.starts_with(&self.conditions) {
            return;
        }
        self.requests.retain_mut(|mine| {
            let sampled = run.requests.iter().find(|one| one.name == mine.name);
            mine.weight = sampled.map_or(0, |sampled| sampled.weight);
            mine.weight > 0
        });
        self.conditions.clone_from(&run.conditions);
    }

    /// The first key, in the plan's order, that `other` has otherwise: `trial.time`.
    pub fn first_difference(&self, other: &Self) -> Result<Option<String>, PlanError> {
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
