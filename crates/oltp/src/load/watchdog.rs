//! Watchdog for clients that wait without limit: a timeout of each wait would be set and taken
//! back at every statement, a tenth of what they cost a client here.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::net::Shutdown;

use super::SharedState;

/// State that a client and its watchdog share.
#[derive(Debug)]
pub(super) struct Watched {
    /// Of the client's connection, to end it by.
    socket: OwnedFd,
    sent: AtomicU64,
    overdue: AtomicBool,
}

impl Watched {
    pub(super) fn new(socket: &impl AsFd) -> io::Result<Arc<Self>> {
        let socket = socket.as_fd().try_clone_to_owned()?;
        Ok(Arc::new(Self { socket, sent: AtomicU64::new(0), overdue: AtomicBool::new(false) }))
    }

    /// The client, which alone counts, sends a statement.
    pub(super) fn sends(&self) {
        self.sent.store(self.sent.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Whether its connection was ended because an answer did not come.
    pub(super) fn is_overdue(&self) -> bool {
        self.overdue.load(Ordering::Acquire)
    }

    /// Wakes the thread that waits for the other side; later calls on the connection fail.
    fn hang_up(&self) {
        // One that the other side has closed is at its end already.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }
}

/// Ends the connections of clients that wait too long, and of all when the load is called off.
pub(super) struct Watchdog {
    /// With what it had sent at an earlier look, and since when.
    clients: Vec<(Arc<Watched>, u64, Instant)>,
    timeout: Duration,
}

impl Watchdog {
    pub(super) fn new(clients: impl Iterator<Item = Arc<Watched>>, timeout: Duration) -> Self {
        let now = Instant::now();
        Self { clients: clients.map(|client| (client, 0, now)).collect(), timeout }
    }

    /// To be called again and again: an answer is late by as much as lies between two calls.
    pub(super) fn look_up(&mut self, shared: &SharedState<'_>) {
        let cancelled = shared.check_not_stopped().is_err();
        let now = Instant::now();
        for (client, seen, since) in &mut self.clients {
            let sent = client.sent.load(Ordering::Relaxed);
            if sent != *seen {
                (*seen, *since) = (sent, now);
            }
            let overdue = now - *since > self.timeout;
            client.overdue.fetch_or(overdue, Ordering::Release);
            if overdue || cancelled {
                client.hang_up();
            }
        }
    }
}
