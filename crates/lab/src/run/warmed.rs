//! Observations before the first trial of a turn.

use std::collections::BTreeMap;

use record::OperationPlan;

/// Observations before the first trial of a turn.
pub(super) struct Warmed {
    /// Plans by the number of the trial that they belong to.
    pub plans: BTreeMap<usize, Vec<OperationPlan>>,
    /// Whether the warm-up ended because times stood still; none where trials warm themselves.
    pub steady: Option<bool>,
    /// Requests of the warm-up that failed.
    pub failures: u64,
}
