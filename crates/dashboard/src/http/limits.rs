//! Limits of connections: their number and their times.

use std::time::Duration;

/// Limits on every connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A client that needs longer for the head of a request, or to begin another one on a
    /// connection that it keeps, loses the connection.
    pub head_time: Duration,
    /// A client that needs longer for the body of a request is refused.
    pub body_time: Duration,
    /// A client that takes nothing of an answer for so long loses the connection.
    pub stall_time: Duration,
    /// When a connection is ended, what its client still sends is read away for so long.
    pub linger_time: Duration,
    /// Connections served at once; further ones wait until one of them ends. Unless a
    /// proxy is in front, no more than half of them are from one address.
    pub connections: usize,
}

impl Default for Limits {
    /// Fewer connections than the 1,024 files that a process may have open unless it is set
    /// otherwise: the database needs some of them.
    fn default() -> Self {
        Self {
            head_time: Duration::from_secs(60),
            body_time: Duration::from_secs(30),
            stall_time: Duration::from_secs(60),
            linger_time: Duration::from_secs(2),
            connections: 900,
        }
    }
}
