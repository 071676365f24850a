//! From a declared type and the values found to a PostgreSQL type; `--map` rules overrule both.

mod choice;
mod declared;
mod postgres_type;
mod rule;

pub use choice::{Candidate, candidate, choose, fallback};
pub use declared::{Declared, declared};
pub use postgres_type::PostgresType;
pub use rule::{Mapping, Rules, matches};
