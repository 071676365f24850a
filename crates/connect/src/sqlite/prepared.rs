//! A connection beside the statements that it keeps prepared.

use rusqlite::{Connection, Statement};
use self_cell::self_cell;

/// Groups of prepared statements.
pub type PreparedStatements<'c> = Vec<Vec<Statement<'c>>>;

self_cell!(
    /// A connection with its prepared statements. The cache of rusqlite clears the values of a
    /// statement that it takes back; where values may have chosen the plan, SQLite then plans the
    /// statement again at each execution, which programs that bind one value over another do not pay.
    pub struct PreparedConnection {
        owner: Connection,

        #[covariant]
        dependent: PreparedStatements,
    }
);

#[expect(
    unsafe_code,
    reason = "rusqlite's statements cannot say that they move with their connection"
)]
// SAFETY: a connection may move to another thread, and all statements of this one move with it: no
// borrow of either outlives the call that hands it out, so both are used by one thread at a time.
unsafe impl Send for PreparedConnection {}
