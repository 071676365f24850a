//! `/api/session`, `/api/account`: the cookie, the CSRF token, foreign sites, wrong passwords.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use dashboard::account::{self, Password};
use dashboard::{http, store};

use super::{Reply, app, application, get, get_with, send, served};
use crate::database::{TestDatabase, both, sqlite};
use crate::rows::Rows;

const PASSWORD: &str = "correct horse";
const QUESTION: &str = "/api/query/teams?start=2021-01-01&end=2021-01-31";

async fn with_ann(database: &TestDatabase) -> Router {
    account::add(&database.url, "ann", Password::chosen(PASSWORD).unwrap()).await.unwrap();
    application(database).await
}

fn request(method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body.to_owned())).unwrap()
}

async fn post(application: &Router, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let json = [("content-type", "application/json")];
    let headers: Vec<_> = json.iter().chain(headers).copied().collect();
    send(application, request(Method::POST, path, &headers, body)).await
}

async fn sign_in(application: &Router, password: &str) -> Reply {
    let body = serde_json::json!({"name": "ann", "password": password}).to_string();
    post(application, "/api/session", &[], &body).await
}

/// Two containers of one host, with databases of the same path in each.
#[tokio::test]
async fn cookies_of_two_ports_of_one_host_do_not_collide() {
    let application = with_ann(&sqlite(&Rows::nasty())).await;
    let body = serde_json::json!({"name": "ann", "password": PASSWORD}).to_string();
    let mut cookies = Vec::new();
    for host in ["here", "here:8080", "here:8081", "[::1]", "[::1]:8080"] {
        let reply = post(&application, "/api/session", &[("host", host)], &body).await;
        cookies.push((host, cookie(&reply)));
        let sent = cookies.iter().map(|(_, cookie)| cookie.as_str()).collect::<Vec<_>>().join("; ");
        let headers = [("host", host), ("cookie", sent.as_str())];
        let reply = send(&application, request(Method::GET, QUESTION, &headers, "")).await;
        assert_eq!(reply.status, StatusCode::OK, "{host}");
    }
    let name = |at: usize| cookies[at].1.split('=').next().unwrap();
    assert_eq!(name(1), format!("{}_8080", name(0)));
    assert_eq!((name(0), name(1)), (name(3), name(4)));
    let elsewhere = [("host", "here:8081"), ("cookie", cookies[1].1.as_str())];
    let reply = send(&application, request(Method::GET, QUESTION, &elsewhere, "")).await;
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
}

/// What a browser would send back.
fn cookie(reply: &Reply) -> String {
    reply.header("set-cookie").split(';').next().unwrap().to_owned()
}

async fn with_cookie(application: &Router, path: &str, cookie: &str) -> Reply {
    send(application, request(Method::GET, path, &[("cookie", cookie)], "")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_reads_and_signs_out() {
    for database in both(&Rows::nasty()).await {
        let application = with_ann(&database).await;
        let before = get_with(&application, "/api/session", None).await.json();
        let nobody = serde_json::json!({"name": null, "public": false, "csrf_token": null, "has_accounts": true});
        assert_eq!(before, nobody);
        let reply = sign_in(&application, PASSWORD).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
        let set = reply.header("set-cookie");
        assert!(set.contains("; HttpOnly; SameSite=Lax; Max-Age=1209600"), "{set}");
        assert!(!set.contains("Secure"), "the browser came by http");
        assert_eq!(reply.header("cache-control"), "no-store");
        let token = reply.json()["csrf_token"].as_str().unwrap().to_owned();
        let cookie = cookie(&reply);
        let known = with_cookie(&application, "/api/session", &cookie).await.json();
        assert_eq!((&known["name"], &known["csrf_token"]), (&"ann".into(), &token.clone().into()));
        assert_eq!(with_cookie(&application, QUESTION, &cookie).await.status, StatusCode::OK);
        let others = format!("theme=dark; {cookie}; x=1");
        assert_eq!(with_cookie(&application, QUESTION, &others).await.status, StatusCode::OK);
        let (name, _) = cookie.split_once('=').unwrap();
        let value = &cookie[name.len() + 1..];
        // After a move the browser has the cookie of the database before.
        let before = format!("{name}={}; crossover_session_00000000={value}", "0".repeat(64));
        assert_eq!(with_cookie(&application, QUESTION, &before).await.status, StatusCode::OK);
        let others = format!("crossover_session_00000000_8080={value}");
        let forged = [format!("{name}="), format!("{name}=' OR 1=1"), cookie[..40].to_owned()];
        for forged in forged.iter().chain([&others]) {
            let reply = with_cookie(&application, QUESTION, forged).await;
            assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{forged}");
        }
        let out = |headers: Vec<(&'static str, String)>| {
            let (application, cookie) = (application.clone(), cookie.clone());
            async move {
                let mut all = vec![("cookie", cookie.as_str())];
                all.extend(headers.iter().map(|(name, value)| (*name, value.as_str())));
                send(&application, request(Method::DELETE, "/api/session", &all, "")).await
            }
        };
        for wrong in [vec![], vec![("x-csrf-token", "0".repeat(64))]] {
            assert_eq!(out(wrong).await.status, StatusCode::FORBIDDEN);
        }
        let right = vec![("x-csrf-token", token)];
        let foreign = [right.clone(), vec![("origin", "https://evil.example".to_owned())]].concat();
        assert_eq!(out(foreign).await.status, StatusCode::FORBIDDEN);
        assert_eq!(with_cookie(&application, QUESTION, &cookie).await.status, StatusCode::OK);
        let reply = out(right.clone()).await;
        assert_eq!(reply.status, StatusCode::NO_CONTENT);
        assert!(reply.header("set-cookie").starts_with(&format!("{name}=; ")));
        assert_eq!(out(right).await.status, StatusCode::UNAUTHORIZED);
        let reply = with_cookie(&application, QUESTION, &cookie).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_sign_in_body_is_refused_with_the_reason() {
    let application = with_ann(&sqlite(&Rows::nasty())).await;
    let right = format!(r#"{{"name":"ann","password":"{PASSWORD}"}}"#);
    for (headers, body, status) in [
        (vec![], r#"{"name":"ann","password":"wrong"}"#, 401),
        (vec![], r#"{"name":"bob","password":"correct horse"}"#, 401),
        (vec![], "", 400),
        (vec![], "{", 400),
        (vec![], r#"{"name":"ann"}"#, 400),
        (vec![], r#"{"name":"ann","password":"x","more":1}"#, 400),
        (vec![], r#"{"name":["ann"],"password":1}"#, 400),
        (vec![("origin", "https://evil.example"), ("host", "here")], &right, 403),
        (vec![("origin", "null"), ("host", "here")], &right, 403),
        (vec![("sec-fetch-site", "cross-site")], &right, 403),
        (vec![("origin", "http://here:8080"), ("host", "here:8080")], &right, 200),
        (vec![("sec-fetch-site", "same-origin")], &right, 200),
    ] {
        let reply = post(&application, "/api/session", &headers, body).await;
        assert_eq!(reply.status.as_u16(), status, "{headers:?} {body}: {}", reply.body);
        if status != 200 {
            assert_eq!(reply.header("content-type"), "application/problem+json", "{body}");
            assert_eq!(reply.header("set-cookie"), "");
        }
    }
    let form = request(
        Method::POST,
        "/api/session",
        &[("content-type", "application/x-www-form-urlencoded")],
        "name=ann&password=correct+horse",
    );
    assert_eq!(send(&application, form).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let huge = format!(r#"{{"name":"ann","password":"{}"}}"#, "x".repeat(1_000_000));
    let reply = post(&application, "/api/session", &[], &huge).await;
    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_passwords_are_counted_and_right_ones_are_not() {
    let application = with_ann(&sqlite(&Rows::none())).await;
    for _ in 0..20 {
        assert_eq!(sign_in(&application, PASSWORD).await.status, StatusCode::OK);
    }
    for _ in 0..10 {
        assert_eq!(sign_in(&application, "wrong").await.status, StatusCode::UNAUTHORIZED);
    }
    // Each 30 seconds one more is let in, which a busy machine may need for ten.
    while sign_in(&application, "wrong").await.status != StatusCode::TOO_MANY_REQUESTS {}
    let reply = sign_in(&application, PASSWORD).await;
    assert_eq!(reply.status, StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = reply.header("retry-after").parse().unwrap();
    assert!((1..=30).contains(&wait), "{wait}");
    let metrics = get(&application, "/metrics").await.body;
    let line = r#"crossover_limits_reached_total{limit="sign_in"} 2"#;
    assert!(metrics.lines().any(|found| found == line), "{metrics}");
}

/// Guesses never lock an account's owner out.
#[tokio::test]
async fn guesses_from_elsewhere_lock_no_owner_out() {
    let database = sqlite(&Rows::none());
    account::add(&database.url, "ann", Password::chosen(PASSWORD).unwrap()).await.unwrap();
    let options = http::Options { behind_proxy: true, ..http::Options::default() };
    let application = served(&database.url, &store::Options::default(), options).await;
    let sign_in = async |address: &str, password: &str| {
        let body = serde_json::json!({"name": "ann", "password": password}).to_string();
        let from = [("x-forwarded-for", address)];
        post(&application, "/api/session", &from, &body).await.status
    };
    for _ in 0..10 {
        assert_eq!(sign_in("192.0.2.1", "wrong").await, StatusCode::UNAUTHORIZED);
    }
    while sign_in("192.0.2.1", "wrong").await != StatusCode::TOO_MANY_REQUESTS {}
    assert_eq!(sign_in("192.0.2.1", PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(sign_in("192.0.2.2", PASSWORD).await, StatusCode::OK);
}

#[tokio::test]
async fn cookies_are_for_https_where_the_browser_came_by_it() {
    let database = sqlite(&Rows::none());
    account::add(&database.url, "ann", Password::chosen(PASSWORD).unwrap()).await.unwrap();
    let body = format!(r#"{{"name":"ann","password":"{PASSWORD}"}}"#);
    let https = [("x-forwarded-proto", "https")];
    let secure = http::Options { secure_cookies: true, ..http::Options::default() };
    let proxied = http::Options { behind_proxy: true, ..http::Options::default() };
    for (options, headers, expected) in [
        (http::Options::default(), &https[..], false),
        (secure, &[], true),
        (proxied.clone(), &[], false),
        (proxied, &https, true),
    ] {
        let application = served(&database.url, &store::Options::default(), options.clone()).await;
        let reply = post(&application, "/api/session", headers, &body).await;
        let set = reply.header("set-cookie");
        assert_eq!(set.ends_with("; Secure"), expected, "{options:?} {headers:?} {set}");
        // The port is that of the address in the browser, which only a trusted proxy tells.
        let of_proxy = [("host", "inside:81"), ("x-forwarded-host", "outside:82")];
        let reply = post(&application, "/api/session", &of_proxy, &body).await;
        let port = if options.behind_proxy { "_82" } else { "_81" };
        assert!(cookie(&reply).split('=').next().unwrap().ends_with(port), "{options:?}");
    }
}

#[tokio::test]
async fn the_first_account_is_made_by_the_link_alone() {
    let database = sqlite(&Rows::nasty());
    let access = account::AccessControl::open(&database.url).await.unwrap();
    let link = access.offer_first_account().unwrap();
    let catalog = dashboard::catalog::DataCatalog::open(&database.url).await.unwrap();
    let questions =
        store::DashboardStore::open(&database.url, &store::Options::default()).await.unwrap();
    let options = http::Options::default();
    let application = http::router(http::App::new(questions, access, catalog, &options));
    assert_eq!(get_with(&application, "/api/session", None).await.json()["has_accounts"], false);
    let make = async |token: &str, name: &str, password: &str| {
        let body = serde_json::json!({"token": token, "name": name, "password": password});
        post(&application, "/api/account", &[], &body.to_string()).await
    };
    let reply = make("guessed", "ann", PASSWORD).await;
    assert_eq!(
        (reply.status, &reply.json()["parameter"]),
        (StatusCode::FORBIDDEN, &"token".into())
    );
    let reply = make(link.expose(), "ann", "short").await;
    let field = &reply.json()["parameter"];
    assert_eq!((reply.status, field), (StatusCode::BAD_REQUEST, &"password".into()));
    let reply = make(link.expose(), " ann", PASSWORD).await;
    assert_eq!(
        (reply.status, &reply.json()["parameter"]),
        (StatusCode::BAD_REQUEST, &"name".into())
    );
    let reply = make(link.expose(), "ann", PASSWORD).await;
    assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.body);
    let cookie = cookie(&reply);
    assert_eq!(with_cookie(&application, QUESTION, &cookie).await.status, StatusCode::OK);
    assert_eq!(make(link.expose(), "bob", PASSWORD).await.status, StatusCode::FORBIDDEN);
    assert_eq!(get_with(&application, "/api/session", None).await.json()["has_accounts"], true);
}

#[tokio::test]
async fn a_public_dashboard_still_refuses_a_wrong_key() {
    let database = sqlite(&Rows::nasty());
    let options = http::Options { is_public: true, ..http::Options::default() };
    let application = http::router(app(&database.url, &store::Options::default(), &options).await);
    assert_eq!(get_with(&application, QUESTION, None).await.status, StatusCode::OK);
    assert_eq!(get_with(&application, "/api/session", None).await.json()["public"], true);
    let reply = get_with(&application, QUESTION, Some("Bearer wrong")).await;
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    let sign_out = request(Method::DELETE, "/api/session", &[], "");
    assert_eq!(send(&application, sign_out).await.status, StatusCode::UNAUTHORIZED);
    let page = get_with(&application, "/", None).await;
    let policy = page.headers.get(header::CONTENT_SECURITY_POLICY).unwrap().to_str().unwrap();
    assert!(policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"));
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("referrer-policy"), "same-origin");
}
