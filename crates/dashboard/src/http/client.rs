//! The client of a request: a key, an account, or an address where the dashboard is public.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::{App, Problem};
use crate::account::{Person, SESSION_COOKIE, SessionToken};
use crate::key::KeyHash;

/// An identified client, by which requests are limited and logged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum RequestClient {
    /// `Authorization: Bearer KEY`, by the name of the key.
    Key(String),
    /// The key that the server was started with.
    KeyInMemory,
    /// The cookie of a session, by the name of its account.
    Account(String),
    /// On a public dashboard; without an address where a proxy sends none.
    Anonymous(Option<IpAddr>),
}

impl fmt::Display for RequestClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(name) => write!(formatter, "key {name}"),
            Self::KeyInMemory => formatter.write_str("key in memory"),
            Self::Account(name) => write!(formatter, "account {name}"),
            Self::Anonymous(Some(address)) => write!(formatter, "address {address}"),
            Self::Anonymous(None) => formatter.write_str("address "),
        }
    }
}

/// Lets a request pass if its client may read and is within its rate limit.
pub(super) async fn require(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let client = identify(&app, request.headers(), request.extensions()).await?;
    if let Some(rate) = &app.rate
        && let Err(wait) = rate.take(&client, Instant::now())
    {
        let detail = "too many requests in a minute (--rate-limit); wait a little";
        let refusal = Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).retry_after(wait);
        let mut response = refusal.at_limit("rate").into_response();
        response.extensions_mut().insert(client);
        return Ok(response);
    }
    request.extensions_mut().insert(client.clone());
    let mut response = next.run(request).await;
    response.extensions_mut().insert(client);
    Ok(response)
}

async fn identify(
    app: &App,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<RequestClient, Problem> {
    if let Some(known) = by_key_or_session(app, headers).await? {
        return Ok(known);
    }
    if app.public {
        return Ok(RequestClient::Anonymous(address(app, headers, extensions)));
    }
    Err(unauthorized("sign in, or send an API key: Authorization: Bearer KEY"))
}

/// The client by its key or its session.
async fn by_key_or_session(
    app: &App,
    headers: &HeaderMap,
) -> Result<Option<RequestClient>, Problem> {
    if headers.contains_key(header::AUTHORIZATION) {
        let presented = KeyHash::of(bearer(headers)?);
        if app.extra_key.as_ref().is_some_and(|extra| presented.is(extra.as_str())) {
            return Ok(Some(RequestClient::KeyInMemory));
        }
        return match app.access.key_holder(&presented).await? {
            Some(holder) => Ok(Some(RequestClient::Key(holder.name))),
            None => Err(unauthorized("the API key is not valid: unknown, revoked or expired")),
        };
    }
    let found = signed_in(app, headers).await?;
    Ok(found.map(|(_, person)| RequestClient::Account(person.name)))
}

/// Lets programs of this machine and known clients pass. A request that a proxy of this machine
/// forwards is another machine's.
pub(super) async fn require_local_or_known(
    app: &App,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<(), Problem> {
    let is_local = connected(extensions).is_some_and(|it| it.to_canonical().is_loopback());
    if is_local && !is_forwarded(headers) || by_key_or_session(app, headers).await?.is_some() {
        return Ok(());
    }
    Err(unauthorized("from another machine an API key is required: Authorization: Bearer KEY"))
}

/// Whether a proxy says in any way that it sends the request for another.
fn is_forwarded(headers: &HeaderMap) -> bool {
    const NAMES: [&str; 6] =
        ["forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip"];
    headers.keys().any(|name| {
        let name = name.as_str();
        NAMES.contains(&name) || name.starts_with("x-forwarded")
    })
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

/// The session that the browser sends along, if it is valid now, and whose it is.
pub(super) async fn signed_in(
    app: &App,
    headers: &HeaderMap,
) -> Result<Option<(SessionToken, Person)>, Problem> {
    for token in presented(app, headers) {
        if let Some(person) = app.access.person(&token).await? {
            return Ok(Some((token, person)));
        }
    }
    Ok(None)
}

/// Sessions of other databases that are tried: each costs a look into this one.
const OTHERS_MAX: usize = 4;

/// The sessions in cookies of this database, then those of others: a dashboard that was moved has
/// the sessions of the database that it comes from.
fn presented(app: &App, headers: &HeaderMap) -> Vec<SessionToken> {
    let own = cookie_name(app, headers);
    let port = own.strip_prefix(app.access.cookie()).unwrap_or_default();
    let is_alike = |name: &str| {
        name.len() == own.len() && name.starts_with(SESSION_COOKIE) && name.ends_with(port)
    };
    let (mut tokens, mut others) = (Vec::new(), Vec::new());
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    for (name, value) in
        values.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='))
    {
        let Some(token) = SessionToken::presented(value) else { continue };
        if name == own {
            tokens.push(token);
        } else if is_alike(name) {
            others.push(token);
        }
    }
    tokens.truncate(1);
    tokens.extend(others.into_iter().take(OTHERS_MAX));
    tokens
}

/// The name of the cookie that holds a session's secret. A browser sends the cookies of a host to all
/// of its ports, and two containers may have databases of one path: the port tells them apart.
pub(super) fn cookie_name(app: &App, headers: &HeaderMap) -> String {
    let name = app.access.cookie();
    let port = host(app, headers).and_then(|host| host.rsplit_once(':')?.1.parse::<u16>().ok());
    port.map_or_else(|| name.to_owned(), |port| format!("{name}_{port}"))
}

/// The host, with its port, by which the browser knows this server.
fn host<'a>(app: &App, headers: &'a HeaderMap) -> Option<&'a str> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let forwarded = if app.behind_proxy { text("x-forwarded-host") } else { None };
    forwarded.or(text("host"))
}

/// The address of the client: the connection's other end, or the last one that the proxy names.
pub(super) fn address(app: &App, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
    let forwarded = || {
        // Only the last address was seen by our own proxy; those before it may be invented.
        let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
        last.rsplit(',').next()?.trim().parse().ok()
    };
    let connected = connected(extensions);
    if app.behind_proxy { forwarded().or(connected) } else { connected }
}

fn connected(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip())
}

/// Refuses requests that a page of another site makes a browser send (RFC 6454, Fetch Metadata). Programs
/// send neither header.
pub(super) fn require_same_site(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_foreign = match text("sec-fetch-site") {
        Some(site) => site != "same-origin" && site != "none",
        None => false,
    };
    let is_other = match headers.get(header::ORIGIN).map(|value| value.to_str()) {
        Some(Ok(origin)) => origin.split_once("://").map(|(_, rest)| rest) != host(app, headers),
        Some(Err(_)) => true,
        None => false,
    };
    if is_foreign || is_other {
        let detail = "the request comes from a page of another site, which may change nothing";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail));
    }
    Ok(())
}

pub(super) fn unauthorized(detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, detail)
}
