//! Mapping of a column to a PostgreSQL type, by its declared type, without one by its values;
//! `--map` rules overrule both.

mod choice;
mod declared;
mod user_rule;

pub use choice::{Candidate, IntegerRule, TypeChoice, TypeRule, candidates, choose, fallback};
pub use declared::{DeclaredType, declared};
pub use user_rule::{MapRule, MapRules, declared_name};
