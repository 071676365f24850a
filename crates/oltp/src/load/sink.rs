//! Sinks of observations: a load itself keeps none.

use hdrhistogram::Histogram;

use super::outcome::Transaction;

/// Takes the observations of one thread. It is made by that thread at the moment when its measured
/// part begins, and ended by it too, so that it may read the thread's own counters.
pub trait Sink {
    type Kept: Send;

    /// One transaction of the measured part, failed ones too, but none that was cut off.
    fn observe(&mut self, transaction: &Transaction);

    /// The time is over; the thread still waits for its last answers, which are observed too. May
    /// be said more than once.
    fn time_is_over(&mut self) {}

    /// The thread has no clients any more.
    fn end(self) -> Self::Kept;
}

/// The simplest sink: a histogram of the times of transactions that succeeded, in nanoseconds,
/// exact to three digits.
#[derive(Debug)]
pub struct Latencies(Option<Histogram<u64>>);

/// A longer time is counted as this one.
const TIME_MAX_NS: u64 = 3_600_000_000_000;

impl Latencies {
    #[must_use]
    pub fn new() -> Self {
        // These bounds are possible ones, so there is a histogram.
        Self(Histogram::new_with_bounds(1, TIME_MAX_NS, 3).ok())
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

impl Sink for Latencies {
    type Kept = Option<Histogram<u64>>;

    fn observe(&mut self, transaction: &Transaction) {
        if transaction.failure.is_some() {
            return;
        }
        let time = (transaction.end - transaction.start).as_nanos();
        if let Some(histogram) = &mut self.0 {
            histogram.saturating_record(u64::try_from(time).unwrap_or(u64::MAX));
        }
    }

    fn end(self) -> Self::Kept {
        self.0
    }
}
