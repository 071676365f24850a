//! Sample of a trial: its observations, their totals, and what the client used.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::resource::ThreadUse;
use record::{Observations, Outcome};

/// A trial as its clients saw it.
#[derive(Clone, Debug)]
pub struct TrialSample {
    /// Every request, failed ones included.
    pub observations: Observations,
    /// Totals of each request, in the order of the trial's list.
    pub operations: Vec<OperationTotals>,
    /// Index and outcome of a request that failed, the first of its thread.
    pub first_failure: Option<(u16, Outcome)>,
    /// Right answers per second. In closed load the sum over clients of each one's right answers by
    /// the time until its last answer: the wall time would also hold the idle time of clients that
    /// have finished before the last one. In open load right answers by wall time; in workload
    /// `oltp` those that came within the trial's time, by it.
    pub requests_per_second: f64,
    /// From the first client's start to the last client's end.
    pub wall_time: Duration,
    /// Processor time of the client threads alone: sending, receiving, hashing, comparing.
    pub client_cpu_seconds: f64,
    /// Further use of the client threads: switches, storage, time in the processors' queue.
    pub client_use: ThreadUse,
    /// Connections made, the first of each client included.
    pub connections_opened: u64,
    /// Clients that ended early, since no connection could be made many times in a row.
    pub clients_given_up: u16,
    /// Open load: requests due per second, as the drawn arrivals had it.
    pub offered_per_second: Option<f64>,
    /// Open load: the answers did not keep up with the arrivals, so response times grow with the
    /// length of the trial and say nothing else.
    pub saturated: bool,
}

impl TrialSample {
    /// Requests that did not get their expected answer.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.operations.iter().map(|one| one.failures).sum()
    }

    /// Mean response time of all right answers; `None` where there was none.
    #[must_use]
    pub fn mean_response_time_ns(&self) -> Option<f64> {
        let mut all = OperationTotals::default();
        self.operations.iter().for_each(|one| all.add(one));
        all.mean_response_time_ns()
    }
}

/// Totals of one operation of the mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationTotals {
    pub count: u64,
    pub failures: u64,
    /// Failures by a wrong answer.
    pub wrong: u64,
    pub timed_out: u64,
    /// Response times of the right answers together.
    pub response_time_ns: u64,
    /// The same of those that timed out.
    pub timed_out_ns: u64,
}

impl OperationTotals {
    /// Mean response time of the right answers; `None` where there was none.
    #[must_use]
    pub fn mean_response_time_ns(&self) -> Option<f64> {
        let right = self.count - self.failures;
        (right > 0).then(|| self.response_time_ns as f64 / right as f64)
    }

    /// The same with requests that timed out, which took at least the time waited;
    /// `None` where there is none of either.
    #[must_use]
    pub fn mean_with_time_outs_ns(&self) -> Option<f64> {
        let all = self.count - self.failures + self.timed_out;
        let together = self.response_time_ns + self.timed_out_ns;
        (all > 0).then(|| together as f64 / all as f64)
    }

    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.failures += other.failures;
        self.wrong += other.wrong;
        self.timed_out += other.timed_out;
        self.response_time_ns += other.response_time_ns;
        self.timed_out_ns += other.timed_out_ns;
    }
}
