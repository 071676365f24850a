//! What a trial leaves behind: one observation per request, failures among them.

use std::sync::OnceLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::http::{Answer, HttpError};

/// What a request's answer must be to count as right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// This status, and a body of this length and hash.
    Exact(Answer),
    /// This status, and the same body as this request's first answer of the trial: for servers
    /// whose answers are not known beforehand.
    Alike(u16),
    /// This status; any body.
    Status(u16),
}

impl Expected {
    /// How this answer is to be recorded. `first` keeps the request's first answer of this status.
    pub(super) fn judge(&self, answer: &Answer, first: &OnceLock<Answer>) -> Outcome {
        let (Self::Exact(Answer { status, .. }) | Self::Alike(status) | Self::Status(status)) =
            self;
        if answer.status != *status {
            return Outcome::Status(answer.status);
        }
        let right = match self {
            Self::Exact(expected) => answer == expected,
            Self::Alike(_) => answer == first.get_or_init(|| *answer),
            Self::Status(_) => true,
        };
        if right { Outcome::Ok } else { Outcome::WrongAnswer }
    }
}

/// What became of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The expected answer.
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
}

impl Outcome {
    /// Whether it counts as a failure.
    #[must_use]
    pub fn is_failure(self) -> bool {
        self != Self::Ok
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

/// One request of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Which client, from 0.
    pub client: u16,
    /// Index of the request in the trial's list.
    pub request: u16,
    /// When it was sent, counted from the start of the trial (the first client's start).
    pub start_ns: u64,
    /// From just before sending (with a connection per request: before connecting) to the last
    /// byte of the answer, or to the failure.
    pub response_time_ns: u64,
    /// What became of it.
    pub outcome: Outcome,
}

/// A trial as its clients saw it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialSample {
    /// Every request, failed ones included, ordered by client and then by time.
    pub observations: Vec<Observation>,
    /// From the first client's start to the last client's end.
    pub wall_time: Duration,
    /// Processor time of the client threads alone: sending, receiving, hashing, comparing.
    pub client_cpu_seconds: f64,
    /// Connections made, the first of each client included.
    pub connections_opened: u64,
    /// Clients that ended early, since no connection could be made many times in a row.
    pub clients_given_up: u16,
}

impl TrialSample {
    /// Requests that did not get their expected answer.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.observations.iter().filter(|one| one.outcome.is_failure()).count()
    }

    /// Right answers per second: the sum over clients of each one's right answers by the time
    /// until its last answer. (Dividing by the wall time would count clients that have finished
    /// and wait for the last one as if they were serving nobody.)
    #[must_use]
    pub fn requests_per_second(&self) -> f64 {
        self.observations
            .chunk_by(|one, other| one.client == other.client)
            .map(|client| {
                let right = client.iter().filter(|one| !one.outcome.is_failure()).count();
                let end = client.last().map_or(0, |last| last.start_ns + last.response_time_ns);
                let begin = client.first().map_or(0, |first| first.start_ns);
                right as f64 * 1e9 / (end - begin).max(1) as f64
            })
            .sum()
    }

    /// Mean response time of all right answers; `None` where there was none.
    #[must_use]
    pub fn mean_response_time_ns(&self) -> Option<f64> {
        let right = self.observations.iter().filter(|one| !one.outcome.is_failure());
        let (count, sum) =
            right.fold((0u64, 0u64), |(count, sum), one| (count + 1, sum + one.response_time_ns));
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// Mean response time of each request's right answers, in the order of the trial's list of
    /// `requests`; `None` where there was none.
    #[must_use]
    pub fn mean_response_time_ns_by_request(&self, requests: usize) -> Vec<Option<f64>> {
        let mut totals = vec![(0u64, 0u64); requests];
        for one in self.observations.iter().filter(|one| !one.outcome.is_failure()) {
            if let Some((count, sum)) = totals.get_mut(usize::from(one.request)) {
                *count += 1;
                *sum += one.response_time_ns;
            }
        }
        let mean = |(count, sum)| (count > 0).then(|| sum as f64 / count as f64);
        totals.into_iter().map(mean).collect()
    }
}
