//! Mapping of a column to a PostgreSQL type, by its declared type and its values; `--map` rules
//! overrule both, a framework's preset its declared type.

mod choice;
mod declared;
mod preset;
mod user_rule;

pub use choice::{Candidate, candidate, choose, fallback};
pub use preset::preset_reading;
pub use user_rule::{MapRule, MapRules};
