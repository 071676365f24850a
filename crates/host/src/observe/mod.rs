//! Observation of an engine by its own reports: counters, durability, the plans that it chose. All
//! of it is looked up outside of the timed part of a trial.

pub mod auto_explain;
mod counters;
mod durability;
mod explain;
mod plan_hash;
mod quiet;
mod steadiness;
pub mod temporary_files;
#[cfg(test)]
mod tests;

pub use counters::{counters_postgres, from_metrics, of_client, of_server};
pub use durability::durability;
pub use explain::explain_sqlite;
pub use plan_hash::plan_hash;
pub use quiet::Quiet;
pub use quiet::{QuietWait, wait_for_quiet};
pub use steadiness::second_half_ratio;
