//! Schema of the target as PostgreSQL's statements.

mod expression;
mod locks;
mod proposal;
mod schema;

pub use expression::{PlannedTable, default_expression, default_proposal, renamed};
pub use locks::{OF_CATALOGS, locks_to_make};
pub use proposal::{CURRENT_VERSION, proposal, too_many};
pub use schema::{LONGEST_NAME_BYTES, Statements, cut, statements};
