//! Observation of requests: `/metrics`, and their ids in the log.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use dashboard::http::Options;
use dashboard::store;

use super::{application, get, get_with, send, served};
use crate::database::sqlite;
use crate::rows::Rows;

#[tokio::test]
async fn requests_are_counted_by_route_and_status_only() {
    let application = application(&sqlite(&Rows::nasty())).await;
    let period = "start=2021-01-01&end=2021-01-31";
    for path in ["/api/query/teams", "/api/query/days", "/api/query/invented", "/invented"] {
        get(&application, &format!("{path}?{period}")).await;
    }
    get_with(&application, "/api/query/teams", None).await;
    let reply = get(&application, "/metrics").await;
    assert_eq!(reply.status, StatusCode::OK);
    for line in [
        r#"crossover_http_requests_total{route="/api/query/{grouping}",status="200"} 2"#,
        r#"crossover_http_requests_total{route="/api/query/{grouping}",status="404"} 1"#,
        r#"crossover_http_requests_total{route="/api/query/{grouping}",status="401"} 1"#,
        r#"crossover_http_requests_total{route="other",status="404"} 1"#,
        r#"crossover_query_duration_seconds_count{grouping="teams"} 1"#,
    ] {
        assert!(reply.body.lines().any(|found| found == line), "{line}\n{}", reply.body);
    }
    assert!(!reply.body.contains("invented"), "{}", reply.body);
}

#[tokio::test]
async fn an_answer_tells_the_name_of_its_request() {
    let application = application(&sqlite(&Rows::none())).await;
    let named = Request::get("/healthz").header("x-request-id", "trace-1");
    let reply = send(&application, named.body(Body::empty()).unwrap()).await;
    assert_eq!(reply.header("x-request-id"), "trace-1");
    let unnamed = get_with(&application, "/nothing", None).await;
    assert_eq!(unnamed.header("x-request-id").len(), 16, "{:?}", unnamed.headers);
}

#[tokio::test]
async fn sqlite_counters_have_names_without_a_prefix() {
    let application = application(&sqlite(&Rows::nasty())).await;
    get(&application, "/api/query/teams?start=2021-01-01&end=2021-01-31").await;
    let reply = get(&application, "/metrics").await;
    let value = |name: &str| {
        let line = reply.body.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().parse::<u64>().unwrap()
    };
    assert!(value("sqlite_cache_hits_total") + value("sqlite_cache_misses_total") > 0);
    assert!(value("sqlite_sorts_total") > 0, "{}", reply.body);
    assert_eq!(value("sqlite_temporary_bytes_total"), 0);
}

#[tokio::test]
async fn metrics_need_a_key_from_another_machine() {
    let database = sqlite(&Rows::none());
    let public = Options { is_public: true, ..Options::default() };
    let public = served(&database.url, &store::Options::default(), public).await;
    for application in [application(&database).await, public] {
        let ask = |address: &str, header: Option<&'static str>| {
            let mut request = Request::get("/metrics");
            if let Some(header) = header {
                request = request.header(header, "127.0.0.1");
            }
            let peer: std::net::SocketAddr = format!("{address}:50000").parse().unwrap();
            let request = request.extension(axum::extract::ConnectInfo(peer));
            let (application, request) =
                (application.clone(), request.body(Body::empty()).unwrap());
            async move { send(&application, request).await.status }
        };
        for local in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "127.8.8.8"] {
            assert_eq!(ask(local, None).await, StatusCode::OK, "{local}");
            for header in ["forwarded", "x-forwarded-for", "x-forwarded-proto", "via", "x-real-ip"]
            {
                assert_eq!(ask(local, Some(header)).await, StatusCode::UNAUTHORIZED, "{header}");
            }
        }
        for other in ["192.0.2.1", "[2001:db8::1]", "0.0.0.0"] {
            assert_eq!(ask(other, None).await, StatusCode::UNAUTHORIZED, "{other}");
        }
    }
}
