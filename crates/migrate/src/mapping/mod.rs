//! Mapping of a column to a PostgreSQL type, by its declared type and its values; `--map` rules
//! overrule both.

mod choice;
mod declared;
mod user_rule;

pub use choice::{Candidate, candidate, choose, fallback};
pub use user_rule::{MapRule, MapRules};
