//! Expressions of a SQLite schema (CHECK, the WHERE of an index) as PostgreSQL writes them, where
//! both surely mean the same; for all others a draft.

mod default;
mod now;
mod operand;
mod parse;
mod start;
mod translate;

pub use default::{default_expression, default_proposal};
pub use start::renamed;
pub use translate::condition;
