//! `Authorization: Bearer KEY` before every question.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use super::{App, Problem};
use crate::key::KeyHash;

/// Lets a request pass if its key is the one in memory or a valid one of the database. The
/// database is asked each time, so a revoked key is refused from the next request on.
pub(super) async fn require_key(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let presented = KeyHash::of(bearer(request.headers())?);
    let in_memory = app.extra_key.as_ref().is_some_and(|extra| presented.is(extra.as_str()));
    if !in_memory {
        let stored = app.store.key_hashes().await?;
        // No early end: the time must not tell which key was nearly right.
        let matches = stored.iter().filter(|hash| presented.is(hash)).count();
        if matches == 0 {
            return Err(unauthorized("the API key is not valid: unknown or revoked"));
        }
    }
    Ok(next.run(request).await)
}

fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let missing = || unauthorized("an API key is required: Authorization: Bearer KEY");
    let header = headers.get(header::AUTHORIZATION).ok_or_else(missing)?;
    let (scheme, key) =
        header.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(missing)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(missing());
    }
    Ok(key.trim())
}

fn unauthorized(detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, detail)
}
