//! Schema of the target as PostgreSQL's statements.

mod expression;
mod locks;
mod nocase;
mod proposal;
mod schema;

pub use expression::{MadeFor, PlannedTable, default_expression, default_proposal, renamed};
pub use locks::{OF_CATALOGS, locks_to_make};
pub use nocase::{CollatedKey, NocaseRule, collated_parts, is_only_nocase};
pub use proposal::{proposal, too_many};
pub use schema::{LONGEST_NAME_BYTES, Statements, cut, statements};
