//! Limits: of time, of queries at once, of requests in a minute. Each says what it is and when to
//! try again, and none of them touches anybody else.

use std::num::NonZeroU32;
use std::time::Duration;

use axum::http::StatusCode;
use dashboard::statement::Design;
use dashboard::{http, key, store};

use super::{get, get_with, served};
use crate::database::{both, sqlite};
use crate::rows::Rows;

const QUESTION: &str = "/api/query/teams?start=2019-01-01&end=2022-12-31";

#[tokio::test(flavor = "multi_thread")]
async fn a_query_over_its_time_is_stopped_and_says_so() {
    let limit = Some(Duration::from_nanos(1));
    let questions = store::Options { query_limit: limit, ..store::Options::default() };
    for database in both(&Rows::nasty()).await {
        drop(database.rollup_store().await);
        for design in [Design::Daily, Design::Rollup] {
            let questions = store::Options { design: Some(design), ..questions.clone() };
            let application = served(&database.url, &questions, http::Options::default()).await;
            let reply = get(&application, QUESTION).await;
            assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE, "{}", reply.body);
            assert_eq!(reply.header("content-type"), "application/problem+json");
            let options = ["--query-limit", "--query-concurrency"];
            assert!(options.iter().any(|option| reply.body.contains(option)), "{}", reply.body);
            assert!(reply.header("retry-after").parse::<u64>().unwrap() >= 1);
            let health = get_with(&application, "/healthz", None).await;
            assert_eq!(health.status, StatusCode::OK);
            let metrics = get_with(&application, "/metrics", None).await.body;
            let counted = "crossover_limits_reached_total{limit=\"query_";
            assert!(metrics.contains(counted), "{metrics}");
        }
    }
}

#[tokio::test]
async fn who_asks_too_often_waits_and_nobody_else_does() {
    let database = sqlite(&Rows::nasty());
    let other = key::add(&database.url, "other", None).await.unwrap();
    let options = http::Options { rate_limit: NonZeroU32::new(3), ..http::Options::default() };
    let application = served(&database.url, &store::Options::default(), options).await;
    for _ in 0..3 {
        assert_eq!(get(&application, QUESTION).await.status, StatusCode::OK);
    }
    let reply = get(&application, QUESTION).await;
    assert_eq!(reply.status, StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = reply.header("retry-after").parse().unwrap();
    assert!((1..=20).contains(&wait), "{wait}");
    let bearer = format!("Bearer {}", other.expose());
    let reply = get_with(&application, QUESTION, Some(&bearer)).await;
    assert_eq!(reply.status, StatusCode::OK, "each key has a limit of its own");
    let reply = get_with(&application, QUESTION, Some("Bearer wrong")).await;
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn thousands_of_values_and_absurd_parameters_are_refused_by_name() {
    let database = sqlite(&Rows::nasty());
    let application = super::application(&database).await;
    let short: String = (0..5_000).map(|number| format!("&team={number:x}")).collect();
    let reply = get(&application, &format!("{QUESTION}{short}")).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{}", reply.body);
    assert_eq!(reply.json()["parameter"], "team");
    for (parameters, name) in [
        ("start=0000-01-01&end=2021-01-01", "start"),
        ("start=2021-02-30&end=2021-03-01", "start"),
        ("start=2021-01-01&end=99999-01-01", "end"),
        ("start=2021-01-01&end=2021-01-31&limit=99999999999999999999", "limit"),
        ("start=2021-01-01&end=2021-01-31&team=%F0%9F%A6%80", "team"),
        ("start=2021-01-01&end=2021-01-31&team=';DROP%20TABLE%20teams;--", "team"),
    ] {
        let reply = get(&application, &format!("/api/query/teams?{parameters}")).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{parameters}: {}", reply.body);
        assert_eq!(reply.json()["parameter"], name, "{parameters}");
    }
    assert_eq!(get(&application, QUESTION).await.status, StatusCode::OK);
}
