//! Locks that creating a schema takes. PostgreSQL keeps every lock until its transaction ends, in a
//! table of a fixed size that all sessions share. Thousands of tables in one transaction may exceed
//! it; the count is known beforehand.

use notation::thousands;

use super::schema::Statements;
use crate::finding::Finding;

/// Locks that PostgreSQL takes (counted on releases 9.6 to 18) for a table with its toast table and
/// sequence, an index, a constraint over an index.
const OF_TABLE: u64 = 9;

const OF_INDEX: u64 = 2;

const OF_CONSTRAINT: u64 = 2;

/// For any database.
pub const OF_CATALOGS: u64 = 100;

/// Room of a server with default settings, on any release.
const DEFAULT_ROOM: u64 = 64 * 100;

/// A warning if a server with default settings has no room for the locks of all tables.
pub fn warning(statements: &Statements) -> Option<Finding> {
    let needed = locks_to_make(statements);
    let message = format!(
        "{} tables take about {} locks in one transaction, a server with default settings has room \
         for about {}",
        thousands(statements.tables.len()),
        thousands(needed),
        thousands(DEFAULT_ROOM)
    );
    let setting = (needed + needed / 10).div_ceil(100);
    let fix = format!(
        "ALTER SYSTEM SET max_locks_per_transaction = {setting} and restart it; migrate looks before \
         it begins"
    );
    let finding = Finding::warning("many_tables", "max_locks_per_transaction", message, fix);
    (needed > DEFAULT_ROOM).then_some(finding)
}

/// Locks for creating these tables in one transaction.
pub fn locks_to_make(statements: &Statements) -> u64 {
    let attached = statements.keys.iter().filter(|key| key.attach.is_some()).count();
    let constraints = attached + statements.foreign_keys.len();
    OF_CATALOGS
        + OF_TABLE * statements.tables.len() as u64
        + OF_INDEX * statements.keys.len() as u64
        + OF_CONSTRAINT * constraints as u64
}
