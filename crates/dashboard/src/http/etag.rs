//! ETags: a body is identified by its hash, and a matching If-None-Match gets 304.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::Problem;

/// The weak ETag of a body: the same for every compression of it.
pub(super) fn etag_of(bytes: &[u8]) -> String {
    format!("W/\"{:032x}\"", xxh3_128(bytes))
}

/// A value as JSON, or 304.
pub(super) fn json(asked: &HeaderMap, value: &impl Serialize) -> Result<Response, Problem> {
    let body = serde_json::to_vec(value).map_err(|error| {
        let detail = format!("cannot write the answer: {error}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    })?;
    let etag = etag_of(&body);
    Ok(tagged(asked, &etag, "application/json", body.into()))
}

/// The body, or 304. No proxy may keep it, and a browser asks again before it uses it again.
pub(super) fn tagged(
    asked: &HeaderMap,
    etag: &str,
    content_type: &'static str,
    body: Body,
) -> Response {
    let mut response = if is_known(asked, etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))], body).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(header::ETAG, etag);
    }
    response
}

/// Whether `If-None-Match` has the ETag (RFC 9110, section 13.1.2: the weak comparison).
fn is_known(asked: &HeaderMap, etag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let wanted = opaque(etag);
    asked
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|tag| tag.trim() == "*" || opaque(tag) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_none_match_compares_weakly() {
        let etag = etag_of(b"body");
        let strong = etag.trim_start_matches("W/").to_owned();
        let names = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_NONE_MATCH, HeaderValue::from_str(text).unwrap());
            is_known(&headers, &etag)
        };
        assert!(names(&etag) && names(&strong) && names("*"));
        assert!(names(&format!("\"other\", {etag}")));
        assert!(!names("\"other\"") && !names("") && !names("W/"));
        assert!(!is_known(&HeaderMap::new(), &etag));
        assert_ne!(etag, etag_of(b"other body"));
    }
}
