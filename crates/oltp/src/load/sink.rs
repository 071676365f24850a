//! Where observations go: a load keeps none itself.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::outcome::Transaction;

/// Takes the observations of one thread. It is made by that thread at the moment when its measured
/// part begins, and ended by it too, so that it may read the thread's own counters.
pub trait Sink {
    /// What it leaves behind.
    type Kept: Send;

    /// One transaction of the measured part, failed ones too.
    fn observe(&mut self, transaction: &Transaction);

    /// The measured part is over.
    fn end(self) -> Self::Kept;
}

/// The simplest sink: a histogram of the times of transactions that succeeded, in nanoseconds,
/// three digits exact.
#[derive(Debug)]
pub struct Latencies(Histogram<u64>);
