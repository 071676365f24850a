//! Schema of the target as PostgreSQL's statements.

mod expression;
mod locks;
mod proposal;
mod schema;

pub use expression::{default_expression, default_proposal, renamed};
pub use locks::{OF_CATALOGS, locks_to_make};
pub use proposal::{proposal, too_many};
pub use schema::{
    LONGEST_NAME_BYTES, Statements, check_condition, cut, index_predicate, statements,
};
