//! Deadlines: the time limit of a query, its wait for a connection included, and its cancellation.
//! They stop an engine's work whose result nothing waits for.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::Error;

/// The deadline and the cancellation of one query.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    limit: Option<Duration>,
    end: Option<Instant>,
    cancelled: Arc<AtomicBool>,
}

impl Deadline {
    /// Begins now. Work stops when the [`CancelOnDrop`] is dropped.
    pub(crate) fn begin(limit: Option<Duration>) -> (Self, CancelOnDrop) {
        let cancelled = Arc::new(AtomicBool::new(false));
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        (Self { limit, end, cancelled: cancelled.clone() }, CancelOnDrop(cancelled))
    }

    /// Whether the work is to stop: past the deadline, or cancelled.
    pub(crate) fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// For work that no engine stops: fails once the work is to stop.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_over() { Err(self.stopped()) } else { Ok(()) }
    }

    /// Waits for a permit, at most until the deadline.
    pub(crate) async fn permit<T>(&self, permit: impl Future<Output = T>) -> Result<T, Error> {
        let no_permit = || Error::NoPermit { limit: self.limit.unwrap_or_default() };
        self.until_over(permit).await.ok_or_else(no_permit)
    }

    /// Waits for the work of another task, at most until the deadline.
    pub(crate) async fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        self.until_over(work).await.ok_or_else(|| self.stopped())
    }

    async fn until_over<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        match self.end {
            None => Some(work.await),
            Some(end) => tokio::time::timeout_at(end, work).await.ok(),
        }
    }

    /// Ends at the deadline; never without one.
    pub(crate) async fn end(&self) {
        match self.end {
            Some(end) => tokio::time::sleep_until(end).await,
            None => std::future::pending().await,
        }
    }

    /// The error of a stopped query.
    pub(crate) fn stopped(&self) -> Error {
        Error::TooSlow { limit: self.limit.unwrap_or_default() }
    }
}

/// Cancels the work of its [`Deadline`] when it is dropped.
#[derive(Debug)]
pub(crate) struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
