//! SQLite as the laboratory hosts it, one file for each verb: `check`, `copy` (fill, settle, copy for
//! a trial, checkpoint), `durability`, `counters`, `explain` and `plan_shape`.

mod check;
mod copy;
mod counters;
mod durability;
mod explain;
mod plan_shape;

pub use check::try_settings;
pub use counters::SqliteWatch;
pub use explain::explain;

pub(crate) use check::{check_copy, check_yours};
pub(crate) use copy::{
    checkpoint, contents_of_template, copy_for_trial, copy_of_data, copy_of_trial, settle,
};
pub(crate) use counters::facts;
pub(crate) use durability::durability;
pub(crate) use plan_shape::shape;
