//! Mapping of a column to a PostgreSQL type: by a `--map` rule, a framework's preset, its declared
//! type, without one by its values.

mod choice;
mod declared;
mod preset;
mod user_rule;

pub use choice::{Candidate, IntegerRule, TypeChoice, TypeRule, candidates, choose, fallback};
pub use declared::{DeclaredType, declared};
pub use preset::preset_reading;
pub use user_rule::{MapRule, MapRules, declared_name};
