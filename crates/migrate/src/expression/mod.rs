//! Expressions of a SQLite schema (CHECK, the WHERE of an index) as PostgreSQL writes them, where
//! both surely mean the same; for all others the statement that people may start from.

mod operand;
mod parse;
mod start;
mod translate;

pub use start::{default_start, renamed};
pub use translate::condition;
