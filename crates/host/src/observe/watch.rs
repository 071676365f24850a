//! Watch of an engine while load is on it, by a connection of its own.

use std::time::Duration;

use record::Counters;

/// A watch waits no longer for a server that has fallen silent.
pub(crate) const ANSWER_AT_MOST: Duration = Duration::from_secs(30);

/// Reports of an engine while load is on it.
pub trait Watch {
    /// Counters that only grow.
    fn counters(&mut self) -> Counters;

    /// The state at this moment; means over a trial are kept.
    fn look(&mut self) -> Counters {
        Counters::new()
    }
}

/// An engine that tells nothing.
pub struct Silent;

impl Watch for Silent {
    fn counters(&mut self) -> Counters {
        Counters::new()
    }
}
