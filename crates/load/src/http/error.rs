//! Errors between a measuring client and a server, each with the place and the remedy.

use std::io;
use std::time::Duration;

use record::Outcome;

/// An HTTP exchange that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The base URL cannot be used.
    #[error("base URL {url:?}: {reason}")]
    InvalidUrl {
        /// The text as given, a password in it masked.
        url: String,
        /// The fault, and what was expected.
        reason: String,
    },
    /// A request cannot be written as HTTP.
    #[error("request {name:?}: {reason}")]
    InvalidRequest {
        /// The request's name in the plan.
        name: String,
        /// The fault, and what was expected.
        reason: String,
    },
    /// The host name has no address.
    #[error("no address for host {host}: {source}; check the name, or give an IP address")]
    UnknownHost {
        /// Host of the base URL.
        host: String,
        source: io::Error,
    },
    #[error("{address}: connection refused; is the server running, and on this port?")]
    Refused { address: String },
    /// The connection could not be made for another reason.
    #[error("{address}: cannot connect: {source}")]
    Connect { address: String, source: io::Error },
    /// TLS could not be agreed upon.
    #[error("{address}: TLS: {reason}")]
    Tls { address: String, reason: String },
    /// The answer, or the connection, did not come in time.
    #[error("{address}: no whole answer within {timeout:?}; give it longer, or look at the server")]
    TimedOut {
        address: String,
        /// The limit that was passed.
        timeout: Duration,
    },
    /// The server ended the connection before its answer was complete.
    #[error("{address}: the server closed the connection before the end of its answer")]
    Closed { address: String },
    /// Reading or writing failed (mostly a reset by the server).
    #[error("{address}: connection lost: {source}")]
    Lost { address: String, source: io::Error },
    /// The answer is not HTTP/1.x.
    #[error("{address}: not a valid HTTP answer: {reason}")]
    Malformed {
        address: String,
        /// The rule that was broken.
        reason: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl HttpError {
    /// How a failed exchange is recorded; `None` for an interruption, which is not the server's.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        Some(match self {
            Self::Interrupted => return None,
            Self::TimedOut { .. } => Outcome::TimedOut,
            Self::Closed { .. } | Self::Lost { .. } => Outcome::ConnectionLost,
            Self::Malformed { .. } | Self::InvalidRequest { .. } => Outcome::Malformed,
            Self::Refused { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::UnknownHost { .. }
            | Self::InvalidUrl { .. } => Outcome::ConnectionFailed,
        })
    }
}
