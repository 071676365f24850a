//! How long a question may take, its wait for a turn included, and whether its asker is still
//! there: what stops an engine's work that nobody will read.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::Error;

/// The deadline of one asker, which begins when he asks.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    limit: Option<Duration>,
    deadline: Option<Instant>,
    gone: Arc<AtomicBool>,
}

impl Deadline {
    /// Begins now. The asker is there as long as what is returned beside it.
    pub(crate) fn begin(limit: Option<Duration>) -> (Self, CancelOnDrop) {
        let gone = Arc::new(AtomicBool::new(false));
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        (Self { limit, deadline, gone: gone.clone() }, CancelOnDrop(gone))
    }

    /// Whether the work is for nobody any more.
    pub(crate) fn is_over(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// To be called now and then by work that no engine stops.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_over() { Err(self.stopped()) } else { Ok(()) }
    }

    /// Waits for a turn, at most until the deadline.
    pub(crate) async fn turn<T>(&self, turn: impl Future<Output = T>) -> Result<T, Error> {
        let no_turn = || Error::NoTurn { limit: self.limit.unwrap_or_default() };
        self.until_over(turn).await.ok_or_else(no_turn)
    }

    /// Waits for what somebody else works on, at most until the deadline.
    pub(crate) async fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        self.until_over(work).await.ok_or_else(|| self.stopped())
    }

    async fn until_over<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        match self.deadline {
            None => Some(work.await),
            Some(deadline) => tokio::time::timeout_at(deadline, work).await.ok(),
        }
    }

    /// Ends at the deadline; never without one.
    pub(crate) async fn end(&self) {
        match self.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    /// What an asker whose question was stopped is told; nobody reads it if he has gone.
    pub(crate) fn stopped(&self) -> Error {
        Error::TooSlow { limit: self.limit.unwrap_or_default() }
    }
}

/// Somebody who waits for an answer. Dropped, he has gone away.
#[derive(Debug)]
pub(crate) struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
