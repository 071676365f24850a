//! How many of the queries that run at once may be one asker's: who asks many slow questions, or is
//! slow to take their answers, waits for himself, and others find a turn.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Problem;
use super::asker::Asker;
use crate::store::patience::Patience;

/// Where there are more askers than this, those who ask nothing at the moment are forgotten.
const ASKERS_MAX: usize = 1_000;

/// So much of an answer is handed on at a time: what is handed on, nobody can hold back.
const PIECE_BYTES: usize = 64 * 1_024;

/// Turns for each asker.
#[derive(Debug)]
pub(super) struct Shares {
    turns_each: usize,
    askers: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Shares {
    /// Half of all turns for each asker, at least one.
    pub(super) fn of(all_turns: usize) -> Self {
        Self { turns_each: (all_turns / 2).max(1), askers: Mutex::default() }
    }

    /// One of the asker's turns, his as long as what is returned is kept.
    ///
    /// # Errors
    /// 429 where he has used them all until his patience ends.
    pub(super) async fn turn(
        &self,
        asker: &Asker,
        patience: &Patience,
    ) -> Result<OwnedSemaphorePermit, Problem> {
        match patience.wait(self.turns(asker).acquire_owned()).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => {
                let detail = "your other queries took all turns that one asker has (half of \
                              --query-concurrency); ask again when they are answered";
                let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, detail);
                Err(problem.retry_after(Duration::from_secs(1)).at_limit("query_share"))
            }
        }
    }

    fn turns(&self, asker: &Asker) -> Arc<Semaphore> {
        let mut askers = self.askers.lock().unwrap_or_else(PoisonError::into_inner);
        if askers.len() >= ASKERS_MAX {
            // Every turn taken and everybody who waits for one holds another reference.
            askers.retain(|_, turns| Arc::strong_count(turns) > 1);
        }
        let new = || Arc::new(Semaphore::new(self.turns_each));
        askers.entry(asker.0.clone()).or_insert_with(new).clone()
    }
}

/// An answer whose asker has his turn until he has taken it: answers that are asked for and not
/// taken would else fill the memory.
pub(super) fn until_taken(answer: Bytes, turn: Option<OwnedSemaphorePermit>) -> Body {
    Body::new(Untaken { rest: answer, _turn: turn })
}

struct Untaken {
    rest: Bytes,
    _turn: Option<OwnedSemaphorePermit>,
}

impl HttpBody for Untaken {
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

    fn named(name: &str) -> Asker {
        Asker(name.to_owned())
    }

    #[tokio::test]
    async fn half_of_all_turns_are_one_asker_s_and_who_wants_more_is_told_so() {
        let shares = Shares::of(4);
        let (patient, _waiting) = Patience::begin(None);
        let first = shares.turn(&named("ann"), &patient).await.unwrap();
        let _second = shares.turn(&named("ann"), &patient).await.unwrap();
        let (hasty, _waiting) = Patience::begin(Some(Duration::from_millis(1)));
        let refusal = shares.turn(&named("ann"), &hasty).await.unwrap_err().into_response();
        assert_eq!(refusal.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refusal.headers()["retry-after"], "1");
        let _others = shares.turn(&named("bob"), &patient).await.unwrap();
        drop(first);
        drop(shares.turn(&named("ann"), &patient).await.unwrap());
        let least = Shares::of(1);
        drop(least.turn(&named("ann"), &patient).await.unwrap());
    }

    #[tokio::test]
    async fn who_does_not_take_an_answer_keeps_his_turn_with_it() {
        let shares = Shares::of(2);
        let (patient, _waiting) = Patience::begin(None);
        let turn = shares.turn(&named("ann"), &patient).await.unwrap();
        let bytes = Bytes::from((0..=255).cycle().take(1_000_000).collect::<Vec<u8>>());
        let body = until_taken(bytes.clone(), Some(turn));
        let (hasty, _waiting) = Patience::begin(Some(Duration::from_millis(1)));
        assert!(shares.turn(&named("ann"), &hasty).await.is_err());
        assert_eq!(body.size_hint().exact(), Some(1_000_000));
        assert_eq!(to_bytes(body, usize::MAX).await.unwrap(), bytes);
        drop(shares.turn(&named("ann"), &patient).await.unwrap());
    }

    #[tokio::test]
    async fn askers_without_end_do_not_fill_the_memory_and_those_at_work_are_kept() {
        let shares = Shares::of(2);
        let (patient, _waiting) = Patience::begin(None);
        let _turn = shares.turn(&named("ann"), &patient).await.unwrap();
        for number in 0..3 * ASKERS_MAX {
            drop(shares.turn(&named(&number.to_string()), &patient).await.unwrap());
        }
        assert!(shares.askers.lock().unwrap().len() <= ASKERS_MAX);
        let (hasty, _waiting) = Patience::begin(Some(Duration::from_millis(1)));
        assert!(shares.turn(&named("ann"), &hasty).await.is_err());
    }
}
