//! Expressions of a SQLite schema (CHECK, indexes) as PostgreSQL writes them, where
//! both surely mean the same; for all others a draft.

mod default;
mod function;
mod glob;
mod now;
mod operand;
mod parse;
mod planned;
mod start;
mod translate;

pub use default::{default_expression, default_proposal};
pub use planned::{MadeFor, PlannedTable};
pub use start::renamed;
