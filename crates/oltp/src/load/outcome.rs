//! Results of a load, by client, second and statement.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::Failure;
use plan::oltp::MixStatement;

/// One transaction, as handed to a [`super::Sink`].
#[derive(Clone, Copy, Debug)]
pub struct Transaction {
    /// By which client, from 0.
    pub client: u16,
    /// When it began: its first BEGIN, whatever was tried again.
    pub start: Instant,
    /// When its last answer was there.
    pub end: Instant,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
}

/// A load, as its clients saw it. `K` is what the sinks kept, one of each thread.
#[derive(Clone, Debug)]
pub struct OltpLoad<K> {
    pub clients: Vec<ClientTotals>,
    /// Transactions that succeeded, by the second in which they ended, from the moment when the
    /// first thread began to measure; also those that had begun in the warm-up.
    pub per_second: Vec<u64>,
    /// Those of them that ended before the time was over, by that time. Where a load ends with its
    /// transactions instead: all of them, by the time they took.
    pub transactions_per_second: f64,
    /// Statements that the engine was asked for, retries included: BEGIN and COMMIT too.
    pub statements: BTreeMap<MixStatement, StatementTotals>,
    pub kept: Vec<K>,
    /// Threads that offered the load.
    pub threads: usize,
    /// The median time of `SELECT 1` on an idle connection before the load began.
    pub round_trip: Duration,
    /// Time of connecting and preparing, all clients together.
    pub connect_time: Duration,
    /// From the first thread's measured start to the last one's end.
    pub wall_time: Duration,
    /// The first failure that was not tried again, in the engine's words.
    pub first_failure: Option<(Failure, String)>,
}

/// Totals of one client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientTotals {
    pub transactions: u64,
    /// Statements sent, BEGIN and COMMIT included, also those of attempts that failed; without
    /// those of transactions that were cut off.
    pub statements: u64,
    /// Attempts that were tried again.
    pub retries: Retries,
    /// Transactions that came to nothing, by reason.
    pub failures: BTreeMap<Failure, u64>,
    /// Transactions that were under way when the load was over, of the warm-up too, and were
    /// cancelled or not tried again.
    pub cut_off: u64,
    /// SQLite: how often the busy handler slept.
    pub busy_waits: u64,
    /// Rows inserted less rows deleted by transactions that succeeded, in the warm-up too.
    pub rows_added: i64,
    /// The beginning of its first measured transaction, from the load's.
    pub first_start: Duration,
    /// The end of its last one.
    pub last_end: Duration,
    /// Why it ended before its time, if it did.
    pub ended_by: Option<Failure>,
}

/// Attempts that were tried again, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retries {
    /// [`Failure::Deadlock`].
    pub deadlocks: u64,
    pub serialization_failures: u64,
    /// [`Failure::DuplicateKey`].
    pub duplicate_keys: u64,
    /// [`Failure::LockTimeout`].
    pub lock_timeouts: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementTotals {
    /// How often it was answered.
    pub executions: u64,
    /// Rows that it returned or changed.
    pub rows: u64,
}
