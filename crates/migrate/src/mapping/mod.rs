//! From a declared type and the values found to a PostgreSQL type; `--map` rules overrule both.

mod choice;
mod declared;
mod user_rule;

pub use choice::{Candidate, candidate, choose, fallback};
pub use user_rule::{MapRule, MapRules};
