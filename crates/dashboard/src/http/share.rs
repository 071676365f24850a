//! Fair shares: one client holds at most half of the query slots or connections.

use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Problem;
use super::client::RequestClient;
use crate::database::Deadline;

/// Above this number, owners without a permit are forgotten.
const OWNERS_MAX: usize = 1_000;

/// The size of the pieces in which a body is sent.
const PIECE_BYTES: usize = 64 * 1_024;

/// Equal shares of permits, by owner.
#[derive(Debug)]
pub(super) struct Shares<O> {
    each: usize,
    owners: Mutex<HashMap<O, Arc<Semaphore>>>,
}

/// At least one.
pub(super) fn half(all: usize) -> usize {
    (all / 2).max(1)
}

impl<O: Clone + Eq + Hash> Shares<O> {
    pub(super) fn of(each: usize) -> Self {
        Self { each, owners: Mutex::default() }
    }

    /// Takes a permit, released on drop; `None` when this owner has no more.
    pub(super) fn take(&self, owner: &O) -> Option<OwnedSemaphorePermit> {
        self.share(owner).try_acquire_owned().ok()
    }

    fn share(&self, owner: &O) -> Arc<Semaphore> {
        let mut owners = self.owners.lock();
        if owners.len() >= OWNERS_MAX {
            // Every permit and every waiter holds another reference.
            owners.retain(|_, share| Arc::strong_count(share) > 1);
        }
        let new = || Arc::new(Semaphore::new(self.each));
        owners.entry(owner.clone()).or_insert_with(new).clone()
    }
}

impl Shares<RequestClient> {
    /// Waits for a permit of the client.
    ///
    /// # Errors
    /// 429 if the client's other queries hold all of its permits until the deadline.
    pub(super) async fn permit(
        &self,
        client: &RequestClient,
        deadline: &Deadline,
    ) -> Result<OwnedSemaphorePermit, Problem> {
        match deadline.wait(self.share(client).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => {
                let detail = "your other queries took all turns that one client has (half of \
                              --query-concurrency); ask again when they are answered";
                let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, detail);
                Err(problem.retry_after(Duration::from_secs(1)).at_limit("query_share"))
            }
        }
    }
}

/// A body that holds the permit of its query until it is sent: bodies that no client reads would
/// fill the memory otherwise.
pub(super) fn until_sent(answer: Bytes, permit: Option<OwnedSemaphorePermit>) -> Body {
    Body::new(UnsentBody { rest: answer, _permit: permit })
}

struct UnsentBody {
    rest: Bytes,
    _permit: Option<OwnedSemaphorePermit>,
}

impl HttpBody for UnsentBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let length = self.rest.len().min(PIECE_BYTES);
        let piece = self.rest.split_to(length);
        Poll::Ready((length > 0).then(|| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::response::IntoResponse as _;

    use super::*;

    async fn permit(shares: &Shares<RequestClient>, name: &str) -> OwnedSemaphorePermit {
        let (patient, _waiting) = Deadline::begin(None);
        shares.permit(&RequestClient::Key(name.to_owned()), &patient).await.unwrap()
    }

    /// The refusal of a client without a permit left, after a short wait.
    async fn refusal(shares: &Shares<RequestClient>, name: &str) -> Problem {
        let (hasty, _waiting) = Deadline::begin(Some(Duration::from_millis(1)));
        shares.permit(&RequestClient::Key(name.to_owned()), &hasty).await.unwrap_err()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_without_permits_waits_and_others_do_not() {
        let shares = Shares::of(half(4));
        let first = permit(&shares, "ann").await;
        let _second = permit(&shares, "ann").await;
        let refusal = refusal(&shares, "ann").await.into_response();
        assert_eq!(refusal.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refusal.headers()["retry-after"], "1");
        let _others = permit(&shares, "bob").await;
        drop(first);
        drop(permit(&shares, "ann").await);
        drop(permit(&Shares::of(half(1)), "ann").await);
    }

    #[tokio::test(start_paused = true)]
    async fn an_unread_body_keeps_its_permit() {
        let shares = Shares::of(1);
        let bytes = Bytes::from((0..=255).cycle().take(1_000_000).collect::<Vec<u8>>());
        let body = until_sent(bytes.clone(), Some(permit(&shares, "ann").await));
        refusal(&shares, "ann").await;
        assert_eq!(body.size_hint().exact(), Some(1_000_000));
        assert_eq!(to_bytes(body, usize::MAX).await.unwrap(), bytes);
        drop(permit(&shares, "ann").await);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_owners_are_forgotten_and_busy_ones_kept() {
        let shares = Shares::of(1);
        let _permit = permit(&shares, "ann").await;
        for number in 0..3 * OWNERS_MAX {
            drop(permit(&shares, &number.to_string()).await);
        }
        assert!(shares.owners.lock().len() <= OWNERS_MAX);
        refusal(&shares, "ann").await;
    }
}
