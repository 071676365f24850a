//! What a trial leaves behind: one observation per request, failures among them, and totals.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Observations, OperationTotals};
use crate::http::HttpError;
use crate::resource::ThreadUse;

/// What became of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    /// Another status than the expected one.
    Status(u16),
    /// The expected status with another body.
    WrongAnswer,
    /// No connection could be made: refused, no route, no free port, TLS not agreed.
    ConnectionFailed,
    /// The connection broke before the answer was complete.
    ConnectionLost,
    /// No whole answer in time.
    TimedOut,
    /// The answer was not HTTP.
    Malformed,
    /// Open load: it was due, and no connection was free for it before the trial had to end.
    NotSent,
    /// The engine refused the statement: a lock not given, a deadlock, a limit passed.
    Refused,
}

impl Outcome {
    /// Whether it counts as a failure.
    #[must_use]
    pub fn is_failure(self) -> bool {
        self != Self::Ok
    }

    /// What kind of failure it is; none where it is none.
    #[must_use]
    pub fn failure(self) -> Option<FailureKind> {
        match self {
            Self::Ok => None,
            Self::TimedOut => Some(FailureKind::TimedOut),
            Self::WrongAnswer | Self::Malformed => Some(FailureKind::Wrong),
            // Too late, too many, or a fault of the server's that it names itself.
            Self::Status(408 | 429 | 500..) => Some(FailureKind::Refused),
            Self::Status(_) => Some(FailureKind::Wrong),
            Self::ConnectionFailed | Self::ConnectionLost | Self::NotSent | Self::Refused => {
                Some(FailureKind::Refused)
            }
        }
    }

    /// How a failed exchange is recorded; `None` for an interruption, which is not the server's.
    #[must_use]
    pub fn of_error(error: &HttpError) -> Option<Self> {
        Some(match error {
            HttpError::Interrupted => return None,
            HttpError::TimedOut { .. } => Self::TimedOut,
            HttpError::Closed { .. } | HttpError::Lost { .. } => Self::ConnectionLost,
            HttpError::Malformed { .. } | HttpError::InvalidRequest { .. } => Self::Malformed,
            HttpError::Refused { .. }
            | HttpError::Connect { .. }
            | HttpError::Tls { .. }
            | HttpError::UnknownHost { .. }
            | HttpError::InvalidUrl { .. } => Self::ConnectionFailed,
        })
    }
}

/// Kinds of failures, by what they say about the times of the right answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Other work was done than was asked for, so its time says nothing.
    Wrong,
    /// No answer within the limit: the request took at least so long.
    TimedOut,
    /// No answer, and the server or the way to it said so.
    Refused,
}

/// One request of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Which client, from 0; in open load which connection.
    pub client: u16,
    /// Index of the request in the trial's list.
    pub request: u16,
    /// When it was sent, counted from the start of the trial; in open load when it was due.
    pub start_ns: u64,
    /// From just before sending (with a connection per request: before connecting; in open load
    /// from when it was due) to the last byte of the answer, or to the failure.
    pub response_time_ns: u64,
    pub outcome: Outcome,
}

/// A trial as its clients saw it.
#[derive(Clone, Debug)]
pub struct TrialSample {
    /// Every request, failed ones included.
    pub observations: Observations,
    /// Totals of each request, in the order of the trial's list.
    pub operations: Vec<OperationTotals>,
    /// Index and outcome of a request that failed, the first of its thread.
    pub first_failure: Option<(u16, Outcome)>,
    /// Right answers per second: in closed load the sum over clients of each one's right answers
    /// by the time until its last answer (dividing by the wall time would count clients that have
    /// finished and wait for the last one as if they were serving nobody); in open load right
    /// answers by wall time; in workload `oltp` those that came within the trial's time, by it.
    pub requests_per_second: f64,
    /// From the first client's start to the last client's end.
    pub wall_time: Duration,
    /// Processor time of the client threads alone: sending, receiving, hashing, comparing.
    pub client_cpu_seconds: f64,
    /// What the client threads used besides: switches, storage, time in the processors' queue.
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

impl OperationTotals {
    /// Mean response time of the right answers; `None` where there was none.
    #[must_use]
    pub fn mean_response_time_ns(&self) -> Option<f64> {
        let right = self.count - self.failures;
        (right > 0).then(|| self.response_time_ns as f64 / right as f64)
    }

    /// The same with requests that timed out, which took at least as long as they were waited for;
    /// `None` where there is none of either.
    #[must_use]
    pub fn mean_with_time_outs_ns(&self) -> Option<f64> {
        let all = self.count - self.failures + self.timed_out;
        let together = self.response_time_ns + self.timed_out_ns;
        (all > 0).then(|| together as f64 / all as f64)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.failures += other.failures;
        self.wrong += other.wrong;
        self.timed_out += other.timed_out;
        self.response_time_ns += other.response_time_ns;
        self.timed_out_ns += other.timed_out_ns;
    }
}
