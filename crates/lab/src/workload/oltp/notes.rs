//! Notes of transactions as observations.

use ::oltp::{Failure, Sink, Transaction};

use load::{Recorded, Recorder};
use record::Outcome;

/// A thread's notes of its transactions.
pub(super) struct TransactionNotes(pub Recorder);

impl Sink for TransactionNotes {
    type Kept = Recorded;

    fn observe(&mut self, transaction: &Transaction) {
        let Transaction { client, start, end, failure } = *transaction;
        let outcome = failure.map_or(Outcome::Ok, outcome);
        self.0.observe(client, 0, start, end, outcome);
    }

    fn time_is_over(&mut self) {
        self.0.stop_counting();
    }

    fn end(self) -> Recorded {
        self.0.end()
    }
}

fn outcome(failure: Failure) -> Outcome {
    match failure {
        Failure::Lost => Outcome::ConnectionLost,
        Failure::TimedOut => Outcome::TimedOut,
        _ => Outcome::Refused,
    }
}
