//! The plan that an engine chose for one operation of a treatment, as far as it can be seen.

use serde::{Deserialize, Serialize};

/// One operation of the mix and the plan that its engine chose for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct OperationPlan {
    pub operation: String,
    pub plan: CapturedPlan,
}

/// A plan, or why there is none to see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapturedPlan {
    Observed {
        /// Digest of its shape, without costs, rows and times: plans of the same shape have the
        /// same hash.
        hash: String,
        /// As the engine wrote it. In a trial's file it is left out (empty): run.json holds one
        /// text for each hash.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    NotObservable {
        why: String,
    },
}
