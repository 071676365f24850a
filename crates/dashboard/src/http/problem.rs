//! Errors as `application/problem+json` (RFC 9457): what went wrong and the way out, never SQL,
//! paths or hosts.

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::query::QueryRefusal;
use crate::{account, answer, database};

/// An error on its way to the client.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Always `about:blank`: the status says what kind it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    #[serde(serialize_with = "number")]
    #[schema(value_type = u16)]
    status: StatusCode,
    /// The fault and the remedy.
    detail: String,
    /// The parameter or the field that is at fault, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    parameter: Option<String>,
    #[serde(skip)]
    retry_after: Option<Duration>,
    /// Which of the server's limits was reached.
    #[serde(skip)]
    limit: Option<&'static str>,
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
            retry_after: None,
            limit: None,
        }
    }

    /// With the parameter or field that is at fault.
    #[must_use]
    pub fn of(self, parameter: &str) -> Self {
        Self { parameter: Some(crate::query::clipped(parameter)), ..self }
    }

    /// With the time after which another try may help; told in whole seconds.
    #[must_use]
    pub fn retry_after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }

    /// With the name of the limit that was reached, for the counters.
    pub(super) fn at_limit(self, limit: &'static str) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Of a question that failed for a reason that only the log names.
    fn failed(error: &dyn std::error::Error) -> Self {
        tracing::error!("a question failed: {error}");
        let detail = "the question could not be answered; the server's log says why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }

    /// Without an answer from the database.
    pub(super) fn unavailable() -> Self {
        let detail = "the database does not answer at the moment; try again later";
        let wait = Duration::from_secs(5);
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(wait)
    }
}

impl From<QueryRefusal> for Problem {
    fn from(refusal: QueryRefusal) -> Self {
        Self::new(StatusCode::BAD_REQUEST, refusal.to_string()).of(refusal.parameter())
    }
}

impl From<answer::Error> for Problem {
    fn from(error: answer::Error) -> Self {
        match error {
            answer::Error::Refused(refusal) => refusal.into(),
            answer::Error::Database(error) => error.into(),
            error => Self::failed(&error),
        }
    }
}

impl From<database::Error> for Problem {
    fn from(error: database::Error) -> Self {
        let detail = error.to_string();
        match error {
            database::Error::TooSlow { limit } => {
                let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, detail);
                problem.retry_after(limit).at_limit("query_time")
            }
            database::Error::NoPermit { .. } => {
                let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, detail);
                problem.retry_after(Duration::from_secs(1)).at_limit("query_concurrency")
            }
            error if error.is_unavailable() => {
                tracing::warn!("no answer from the database: {error}");
                Self::unavailable()
            }
            error => Self::failed(&error),
        }
    }
}

impl From<account::Error> for Problem {
    fn from(error: account::Error) -> Self {
        let detail = error.to_string();
        match error {
            account::Error::BadName { .. } => Self::new(StatusCode::BAD_REQUEST, detail).of("name"),
            account::Error::BadPassword => {
                Self::new(StatusCode::BAD_REQUEST, detail).of("password")
            }
            account::Error::NameTaken { .. } => Self::new(StatusCode::CONFLICT, detail).of("name"),
            account::Error::LinkExpired => Self::new(StatusCode::FORBIDDEN, detail).of("token"),
            account::Error::Database(error) => error.into(),
            error => {
                tracing::error!("accounts: {error}");
                let detail = "this cannot be done just now; the server's log says why";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
            }
        }
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        // 422 says what 400 says elsewhere: the body is not what the document asks for.
        let status = match rejection.status() {
            StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
            status => status,
        };
        Self::new(status, rejection.body_text())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, wait, limit) = (self.status, self.retry_after, self.limit);
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = wait {
            let seconds = wait.as_secs_f64().ceil().max(1.0);
            if let Ok(seconds) = HeaderValue::from_str(&format!("{seconds:.0}")) {
                headers.insert(header::RETRY_AFTER, seconds);
            }
        }
        if let Some(limit) = limit {
            response.extensions_mut().insert(ReachedLimit(limit));
        }
        response
    }
}

/// Tells the counters on the way out which limit a request has met.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReachedLimit(pub &'static str);

/// A method that the route does not have; the header `Allow` says which it has.
pub(super) async fn method_not_allowed(method: Method) -> Problem {
    let detail = format!("{method} is not offered here; the header Allow says what is");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
}
