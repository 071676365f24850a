//! Work of a trial that changes data: the same list of executions on every engine.

use plan::Levels;
use serde::{Deserialize, Serialize};

/// The list of executions at some cells, by its length: which they are follows from the run's seed,
/// the number of clients and a client's own number.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct FixedWork {
    /// The cells whose trials are compared with each other.
    pub cells: Vec<Levels>,
    /// Rounds of each client.
    pub rounds: u32,
    /// The rows that an execution changes are chosen by its key alone, which no other execution has:
    /// the order in which clients get their turn does not count.
    pub keyed: bool,
}

/// The work at `levels`. Cells that the pilot has not seen, as those of another start of the engine or
/// of a bisection, have the shortest list of the same number of clients, or of all.
pub fn work_at<'w>(all: &'w [FixedWork], levels: &Levels) -> Option<&'w FixedWork> {
    let clients = |cell: &Levels| plan::clients(cell) == plan::clients(levels);
    let shortest = |wanted: &dyn Fn(&&FixedWork) -> bool| {
        all.iter().filter(wanted).min_by_key(|work| work.rounds)
    };
    let own = all.iter().find(|work| work.cells.contains(levels));
    own.or_else(|| shortest(&|work| work.cells.iter().any(clients))).or_else(|| shortest(&|_| true))
}
