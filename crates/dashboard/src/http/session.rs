//! `/api/session` and `/api/account`: signing in and out, and the first account. A change by a
//! signed-in browser needs the session's CSRF token and may not come from another site.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::client::{address, cookie_name, require_same_site, signed_in, unauthorized};
use super::timed_json::TimedJson;
use super::{App, Problem, etag};
use crate::account::{SESSION_SECONDS, SessionToken};

/// The header in which a change brings the token along.
const CSRF_HEADER: &str = "x-csrf-token";

/// The account that is signed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Session {
    /// The account; null without a session.
    name: Option<String>,
    /// Whether reading needs no signing in.
    public: bool,
    /// The value of `X-CSRF-Token` that a change must send; null without a session.
    csrf_token: Option<String>,
    /// False until the first account is made.
    has_accounts: bool,
}

/// A name with its password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignIn {
    name: String,
    #[schema(format = Password)]
    password: String,
}

/// The request that makes the first account.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FirstAccount {
    /// From the link that the server printed.
    token: String,
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    #[schema(format = Password, min_length = 10, max_length = 200)]
    password: String,
}

/// The account that is signed in, and whether one is needed.
#[utoipa::path(
    get,
    path = "/api/session",
    tag = "session",
    responses(
        (status = 200, description = "The account that is signed in", body = Session),
        (status = 304, description = "The client has it already (If-None-Match)"),
        (status = 503, description = "The database is away", body = Problem,
            content_type = "application/problem+json"),
    ),
)]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (token, person) = signed_in(&app, &headers).await?.unzip();
    let csrf_token = token.map(|token| token.csrf_token());
    let session = Session {
        name: person.map(|person| person.name),
        public: app.public,
        csrf_token,
        has_accounts: app.access.has_accounts().await?,
    };
    etag::json(&headers, &session)
}

/// Signs in.
#[utoipa::path(
    post,
    path = "/api/session",
    tag = "session",
    request_body = SignIn,
    responses(
        (status = 200, description = "Signed in; the cookie holds the session", body = Session),
        (status = 400, description = "The body is not what it should be", body = Problem,
            content_type = "application/problem+json"),
        (status = 401, description = "The name or the password is wrong", body = Problem,
            content_type = "application/problem+json"),
        (status = 403, description = "From another site", body = Problem,
            content_type = "application/problem+json"),
        (status = 408, description = "The body did not arrive in time", body = Problem,
            content_type = "application/problem+json"),
        (status = 413, description = "The body is too large", body = Problem,
            content_type = "application/problem+json"),
        (status = 415, description = "The body is not JSON", body = Problem,
            content_type = "application/problem+json"),
        (status = 429, description = "Too many wrong passwords", body = Problem,
            content_type = "application/problem+json"),
        (status = 503, description = "The database is away or busy", body = Problem,
            content_type = "application/problem+json"),
    ),
)]
pub(super) async fn sign_in(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    extensions: Extensions,
    body: Result<TimedJson<SignIn>, Problem>,
) -> Result<Response, Problem> {
    require_same_site(&app, &headers)?;
    let TimedJson(SignIn { name, password }) = body?;
    let address = address(&app, &headers, &extensions);
    let from = address.map_or_else(String::new, |address| address.to_string());
    if let Err(wait) = app.sign_ins.take(&name, &from, Instant::now()) {
        let detail = "too many wrong passwords; wait a little";
        let refusal = Problem::new(StatusCode::TOO_MANY_REQUESTS, detail);
        return Err(refusal.retry_after(wait).at_limit("sign_in"));
    }
    let signed_in = app.access.sign_in(&name, &password).await;
    if !matches!(signed_in, Ok(None)) {
        // Only wrong passwords count.
        app.sign_ins.give_back(&name, &from);
    }
    let Some(token) = signed_in? else {
        tracing::warn!(%from, "a wrong name or password");
        return Err(unauthorized("the name or the password is wrong"));
    };
    Ok(signed_in_as(&app, &headers, StatusCode::OK, name, &token))
}

/// Signs out.
#[utoipa::path(
    delete,
    path = "/api/session",
    tag = "session",
    params(("x-csrf-token" = String, Header, description = "From GET /api/session")),
    responses(
        (status = 204, description = "Signed out"),
        (status = 401, description = "No account is signed in", body = Problem,
            content_type = "application/problem+json"),
        (status = 403, description = "Without the token, or from another site", body = Problem,
            content_type = "application/problem+json"),
        (status = 503, description = "The database is away or busy", body = Problem,
            content_type = "application/problem+json"),
    ),
    security(("session" = [])),
)]
pub(super) async fn sign_out(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let no_account = || unauthorized("no account is signed in");
    let (token, _) = signed_in(&app, &headers).await?.ok_or_else(no_account)?;
    require_same_site(&app, &headers)?;
    let presented = headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
    if !presented.is_some_and(|presented| token.is_csrf_token(presented)) {
        let detail = "X-CSRF-Token is missing or wrong; GET /api/session returns it";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail));
    }
    app.access.sign_out(&token).await?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    set_cookie(&mut response, &app, &headers, "", 0);
    Ok(response)
}

/// Makes the first account, by the link that the server printed.
#[utoipa::path(
    post,
    path = "/api/account",
    tag = "session",
    request_body = FirstAccount,
    responses(
        (status = 201, description = "Made, and its maker is signed in", body = Session),
        (status = 400, description = "A name or password that cannot be one", body = Problem,
            content_type = "application/problem+json"),
        (status = 403, description = "The token does not hold, or from another site",
            body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "The body did not arrive in time", body = Problem,
            content_type = "application/problem+json"),
        (status = 413, description = "The body is too large", body = Problem,
            content_type = "application/problem+json"),
        (status = 415, description = "The body is not JSON", body = Problem,
            content_type = "application/problem+json"),
        (status = 503, description = "The database is away or busy", body = Problem,
            content_type = "application/problem+json"),
    ),
)]
pub(super) async fn make_first_account(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Result<TimedJson<FirstAccount>, Problem>,
) -> Result<Response, Problem> {
    require_same_site(&app, &headers)?;
    let TimedJson(FirstAccount { token, name, password }) = body?;
    let token = app.access.make_first_account(&token, &name, &password).await?;
    Ok(signed_in_as(&app, &headers, StatusCode::CREATED, name, &token))
}

fn signed_in_as(
    app: &App,
    headers: &HeaderMap,
    status: StatusCode,
    name: String,
    token: &SessionToken,
) -> Response {
    let session = Session {
        name: Some(name),
        public: app.public,
        csrf_token: Some(token.csrf_token()),
        has_accounts: true,
    };
    let mut response = (status, Json(session)).into_response();
    set_cookie(&mut response, app, headers, token.expose(), SESSION_SECONDS);
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, no_store);
    response
}

/// `Secure` where the browser came by https: as the proxy in front says, or as the command line.
fn set_cookie(response: &mut Response, app: &App, asked: &HeaderMap, value: &str, seconds: i64) {
    let forwarded = asked.get("x-forwarded-proto").and_then(|value| value.to_str().ok());
    let is_secure = app.secure_cookies || (app.behind_proxy && forwarded == Some("https"));
    let secure = if is_secure { "; Secure" } else { "" };
    let name = cookie_name(app, asked);
    let cookie =
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}
