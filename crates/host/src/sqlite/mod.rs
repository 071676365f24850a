//! SQLite as the laboratory hosts it, one file for each verb: `check`, `copy` (fill, settle, copy for
//! a trial, checkpoint), `changed` (copies of steps), `durability`, `counters`, `activity`, `opened`,
//! `explain`, `plan_shape`, and `build` (the bundled source, compiled with other flags).

mod activity;
mod build;
mod changed;
mod check;
mod copy;
mod counters;
mod database;
mod durability;
mod explain;
mod opened;
mod plan_shape;

pub use build::{BuiltLibrary, FILE, MADE_BY, build};
pub use changed::changed_copy;
pub use check::try_settings;
pub use copy::copy_filled;
pub use counters::SqliteWatch;
pub use database::SqliteDatabase;
pub use explain::{explain, plan_tree};
pub use opened::opened_by;

pub(crate) use check::{check_copy, check_yours};
pub(crate) use database::{deploy_copy, deploy_yours};
pub(crate) use durability::durability;
pub(crate) use plan_shape::shape;
