//! The middleware of every request: its id, its count, its line in the log, and the security
//! headers of its response.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument as _;

use super::App;
use super::client::RequestClient;
use super::problem::ReachedLimit;
use crate::query::clipped;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Scripts only from our own files; styles also inline, which the charts need; no page may put us
/// into a frame.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' \
    'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; \
    manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Counts a request by the pattern of its route, so that clients cannot invent labels, and writes
/// one line about it (at the level `info`).
pub(super) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or("other", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let path = clipped(request.uri().path());
    let id = request_id(request.headers());
    let span = tracing::info_span!("request", id = %id);
    let mut response = next.run(request).instrument(span).await;
    let status = response.status().as_u16();
    app.metrics.requested(route, status);
    if let Some(ReachedLimit(limit)) = response.extensions().get() {
        app.metrics.limited(limit);
    }
    let client = response.extensions().get::<RequestClient>().map(RequestClient::to_string);
    let client = client.unwrap_or_default();
    let milliseconds = begin.elapsed().as_secs_f64() * 1_000.0;
    tracing::info!(%id, %method, %path, status, milliseconds, %client, "answered");
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    protect(response.headers_mut());
    response
}

/// The client's X-Request-Id if it is short plain ASCII, otherwise a new one.
fn request_id(headers: &HeaderMap) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let given = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok());
    match given {
        Some(id) if (1..=64).contains(&id.len()) && id.bytes().all(is_plain) => id.to_owned(),
        _ => {
            let mut random = [0_u8; 8];
            // Without random numbers the id is not unique, and that is all.
            let _ = getrandom::fill(&mut random);
            hex::encode(random)
        }
    }
}

fn protect(headers: &mut HeaderMap) {
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_id_is_kept_only_if_it_is_short_plain_ascii() {
        let named = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(text.as_bytes()).unwrap());
            request_id(&headers)
        };
        assert_eq!(named("Trace-1.2_3"), "Trace-1.2_3");
        let long = "x".repeat(65);
        for text in ["", "two words", "a\"b", "a=b", "ü", &long] {
            let id = named(text);
            assert!(id.len() == 16 && id != text, "{text}: {id}");
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}
