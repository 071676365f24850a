//! Record of a run, run.json: what was measured, where, by which program, on which data.

use std::collections::BTreeMap;

use crate::Answer;
use jiff::Timestamp;
use plan::Plan;
use plan::Round;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::{AssessmentRecord, EngineRecord, FixedWork, RelayAddition};

/// The version of run.json and of the trial files. A newer one is refused.
pub const SCHEMA_VERSION: u32 = 1;

/// Begins the digest of data that no file holds.
pub const DECLARED_DATA: &str = "plan-";

#[derive(Clone, Debug, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Run {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    pub id: String,
    pub started: Timestamp,
    /// When its last trial ended.
    pub finished: Option<Timestamp>,
    /// All planned trials are there.
    pub complete: bool,
    pub seed: u64,
    /// As typed, without secrets.
    pub command_line: String,
    pub crossover_version: String,
    /// SHA-256 of the program's file.
    pub program_digest: String,
    /// Digest of the data file, or of the commands that prepare the data.
    pub data_digest: String,
    pub environment: Environment,
    /// By label, at their last start.
    pub engines: BTreeMap<String, EngineRecord>,
    /// The cells of each round.
    pub rounds: Vec<Round>,
    /// The work of trials that change data; empty where trials last a time, or nothing is changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed_work: Vec<FixedWork>,
    /// When the run was taken up again.
    pub resumed: Vec<Timestamp>,
    /// The answer of every engine to each distinct request, by path.
    pub answers: BTreeMap<String, Answer>,
    /// The text of every plan that a trial names, by its hash.
    #[serde(default)]
    pub plans: BTreeMap<String, String>,
    /// The run whose blocks alternated with this one's, in one sitting (`compare --rerun`).
    #[serde(default)]
    pub interleaved_with: Option<String>,
    /// Of a plan with delays: what the relay adds to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<RelayAddition>,
    /// Of `crossover try`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<AssessmentRecord>,
}

impl Run {
    /// The blocks of its first round: a precision adds to those of the plan, a budget ends them.
    pub fn blocks(&self, plan: &Plan) -> usize {
        self.rounds.first().map_or(plan.replicates, |round| round.blocks)
    }

    /// The same for all runs of the same data. Where no file holds it the plan says what it is: earlier
    /// programs took every constant of the plan for a part of it.
    pub fn data_name(&self, plan: &Plan) -> String {
        match self.data_digest.starts_with(DECLARED_DATA) {
            true => plan.declared_data(),
            false => self.data_digest.clone(),
        }
    }
}
