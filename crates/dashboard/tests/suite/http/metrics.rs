//! What is observed of requests: `/metrics`, and the names under which the log has them.

use axum::body::Body;
use axum::http::{Request, StatusCode};

use super::{application, get, get_with, send};
use crate::database::sqlite;
use crate::rows::Rows;

#[tokio::test]
async fn requests_are_counted_by_route_and_status_and_strangers_invent_no_labels() {
    let application = application(&sqlite(&Rows::nasty())).await;
    let period = "start=2021-01-01&end=2021-01-31";
    for path in ["/api/query/teams", "/api/query/days", "/api/query/invented", "/invented"] {
        get(&application, &format!("{path}?{period}")).await;
    }
    get_with(&application, "/api/query/teams", None).await;
    let reply = get_with(&application, "/metrics", None).await;
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
async fn what_sqlite_counted_is_told_under_names_that_any_application_may_use() {
    let application = application(&sqlite(&Rows::nasty())).await;
    get(&application, "/api/query/teams?start=2021-01-01&end=2021-01-31").await;
    let reply = get_with(&application, "/metrics", None).await;
    let value = |name: &str| {
        let line = reply.body.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().parse::<u64>().unwrap()
    };
    assert!(value("sqlite_cache_hits_total") + value("sqlite_cache_misses_total") > 0);
    assert!(value("sqlite_sorts_total") > 0, "{}", reply.body);
    assert_eq!(value("sqlite_temporary_bytes_total"), 0);
}
