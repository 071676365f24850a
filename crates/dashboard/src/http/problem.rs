//! Every error as `application/problem+json` (RFC 9457): what went wrong and the way out, never
//! SQL, paths or hosts.

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Serialize, Serializer};

use crate::query::Refusal;
use crate::store;

/// An error on its way to the asker.
#[derive(Debug, Clone, Serialize)]
pub struct Problem {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    #[serde(serialize_with = "number")]
    status: StatusCode,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
}

fn number<S: Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}

impl Problem {
    /// A problem of that status.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status,
            detail: detail.into(),
            parameter: None,
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let parameter = Some(crate::query::clipped(refusal.parameter()));
        Self { parameter, ..Self::new(StatusCode::BAD_REQUEST, refusal.to_string()) }
    }
}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Refused(refusal) => refusal.into(),
            error if error.is_unavailable() => {
                tracing::warn!("no answer from the database: {error}");
                let detail = "the database does not answer at the moment; try again later";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
            }
            error => {
                tracing::error!("a question failed: {error}");
                let detail = "the question could not be answered; the server's log says why";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Every route answers GET and HEAD only: data is changed from the command line.
pub(super) async fn method_not_allowed(method: Method) -> Response {
    let detail = format!("{method} is not offered here; use GET");
    let mut response = Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail).into_response();
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}
