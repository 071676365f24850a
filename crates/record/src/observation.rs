//! One observation per request, failures among them.

use serde::{Deserialize, Serialize};

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
