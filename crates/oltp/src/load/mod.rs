//! Closed load: sessions, what drives them, and what they came to.

mod options;
mod outcome;
mod sink;

use std::sync::atomic::AtomicBool;

pub use options::{Driver, LoadOptions, Until};
pub use outcome::{ClientTotals, Load, Retries, StatementTotals, Transaction};
pub use sink::{Latencies, Sink};

use crate::{Error, TableOptions, Target};

/// Connects every client, prepares its statements once, offers the load and disconnects. Threads
/// inherit the processors of the calling thread. A client whose connection breaks ends, and is
/// reported ([`ClientTotals::ended_by`]); the load ends when all have.
///
/// # Errors
/// [`Error::Connect`] for the first client that is not let in, [`Error::NotFilled`],
/// [`Error::OtherTables`], [`Error::Interrupted`].
pub fn run<S: Sink>(
    target: &Target,
    tables: &TableOptions,
    options: &LoadOptions,
    begin: &(impl Fn() -> S + Sync),
    interrupted: &AtomicBool,
) -> Result<Load<S::Kept>, Error>;
