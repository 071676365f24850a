//! One observation per request, failures among them, and totals of each operation.

use serde::{Deserialize, Serialize};

use crate::http::HttpError;

/// The outcome of one request.
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

    /// The kind of failure; none of a success.
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

/// Totals of one operation of the mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
