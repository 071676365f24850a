//! `/api/query/{grouping}`

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use dashboard::key;
use dashboard::query::Day;

use super::{application, get, get_with, send};
use crate::database::{both, sqlite};
use crate::rows::Rows;

const JANUARY: &str = "start=2021-01-01&end=2021-01-31";

#[tokio::test(flavor = "multi_thread")]
async fn the_body_is_the_contract_and_the_headers_tell_the_engine() {
    let path = format!("/api/query/teams?{JANUARY}&blog=twilio&count=articles&limit=2");
    let mut bodies = Vec::new();
    for database in both(&Rows::nasty()).await {
        let reply = get(&application(&database).await, &path).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(reply.header("crossover-design"), "daily");
        let engine = reply.header("crossover-engine");
        let expected = if database.is_postgres() { "PostgreSQL 18." } else { "SQLite 3." };
        assert!(engine.starts_with(expected), "{engine}");
        let timing = reply.header("server-timing").strip_prefix("query;dur=").unwrap();
        assert!(timing.parse::<f64>().unwrap() > 0.0);
        bodies.push(reply.body);
    }
    assert_eq!(bodies[0], bodies[1]);
    insta::assert_snapshot!(bodies[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn csv_is_the_same_from_both_engines() {
    let mut bodies = Vec::new();
    for database in both(&Rows::nasty()).await {
        let application = application(&database).await;
        let path = format!("/api/query/authors?{JANUARY}&format=csv&sort=key");
        let reply = get(&application, &path).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.header("content-type"), "text/csv; charset=utf-8");
        bodies.push(reply.body);
    }
    assert_eq!(bodies[0], bodies[1]);
    insta::assert_snapshot!(bodies[0]);
}

#[tokio::test]
async fn without_a_valid_key_nothing_is_answered() {
    let database = sqlite(&Rows::nasty());
    let application = application(&database).await;
    let path = format!("/api/query/teams?{JANUARY}");
    let wrong = [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer "),
        Some("Bearer wrong"),
        Some("Basic Y3Jvc3NvdmVy"),
        Some("crossover_of_the_tests"),
        Some("Bearer crossover_of_the_test"),
        Some("Bearer crossover_of_the_tests crossover_of_the_tests"),
    ];
    let mut messages = String::new();
    for authorization in wrong {
        let reply = get_with(&application, &path, authorization).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{authorization:?}");
        assert_eq!(reply.header("content-type"), "application/problem+json");
        assert_eq!(reply.header("www-authenticate"), "Bearer");
        messages += &format!("{authorization:?}\n  {}\n", reply.body);
    }
    insta::assert_snapshot!(messages);
    // The key is checked first: strangers do not learn what there is.
    let reply = get_with(&application, "/api/query/nothing?x=1", None).await;
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    let reply = get_with(&application, &path, Some("bearer crossover_of_the_tests")).await;
    assert_eq!(reply.status, StatusCode::OK, "the scheme's case does not count");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_key_is_taken_until_it_is_revoked_or_over() {
    for database in both(&Rows::nasty()).await {
        let application = application(&database).await;
        let path = format!("/api/query/teams?{JANUARY}");
        let key = key::add(&database.url, "laptop", None).await.unwrap();
        let authorization = format!("Bearer {}", key.expose());
        let ask = || get_with(&application, &path, Some(&authorization));
        assert_eq!(ask().await.status, StatusCode::OK);
        key::revoke(&database.url, "laptop").await.unwrap();
        assert_eq!(ask().await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(get(&application, &path).await.status, StatusCode::OK, "the one in memory");
        let by_hash = format!("Bearer {}", key.hash().as_str());
        let reply = get_with(&application, &path, Some(&by_hash)).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "a stolen hash is not a key");
        let over = key::add(&database.url, "over", Some(Duration::ZERO)).await.unwrap();
        let authorization = format!("Bearer {}", over.expose());
        let reply = get_with(&application, &path, Some(&authorization)).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "its time is over");
    }
}

/// Every refusal as the client sees it; the rules behind them are tested in `src/query`.
#[tokio::test(flavor = "multi_thread")]
async fn a_bad_request_is_a_problem_that_names_the_parameter() {
    let paths = [
        "/api/query/teams".to_owned(),
        "/api/query/teams?start=yesterday&end=2021-01-31".to_owned(),
        "/api/query/teams?start=2021-02-01&end=2021-01-31".to_owned(),
        format!("/api/query/teams?{JANUARY}&blog=twillio"),
        format!("/api/query/teams?{JANUARY}&blog=%27%3B+DROP+TABLE+traffic%3B+--"),
        format!("/api/query/teams?{JANUARY}&blog=%00"),
        format!("/api/query/teams?{JANUARY}&blog=%FF%FE"),
        format!("/api/query/teams?{JANUARY}&blog=%F0%9F%A6%80"),
        format!("/api/query/teams?{JANUARY}&blog={}", "x".repeat(5_000)),
        format!("/api/query/teams?{JANUARY}&blog=twilio&blog=SendGrid"),
        format!("/api/query/teams?{JANUARY}&author=Ann"),
        format!("/api/query/teams?{JANUARY}&limt=5"),
        format!("/api/query/teams?{JANUARY}&%22%3B=1"),
        format!("/api/query/teams?{JANUARY}&limit=-1"),
        format!("/api/query/teams?{JANUARY}&sort=name"),
        format!("/api/query/team?{JANUARY}"),
        format!("/api/query/%27%3B--?{JANUARY}"),
        format!("/api/query/%FF?{JANUARY}"),
        format!("/api/query/{}?{JANUARY}", "x".repeat(5_000)),
        format!("/api/query/?{JANUARY}"),
        "/api/".to_owned(),
    ];
    let mut seen = Vec::new();
    for database in both(&Rows::nasty()).await {
        let application = application(&database).await;
        let mut messages = String::new();
        for path in &paths {
            let reply = get(&application, path).await;
            assert!(reply.status.is_client_error(), "{path}: {}", reply.status);
            assert_eq!(reply.header("content-type"), "application/problem+json", "{path}");
            let shown: String = path.chars().take(90).collect();
            messages += &format!("{shown}\n  {}\n", reply.body);
        }
        // The server is none the worse for it, and nothing was dropped.
        let path = format!("/api/query/teams?{JANUARY}");
        assert_eq!(get(&application, &path).await.status, StatusCode::OK);
        seen.push(messages);
    }
    assert_eq!(seen[0], seen[1]);
    insta::assert_snapshot!(seen[0]);
}

/// As the reference says: zeros before the data, a day left out of its own period only, no order by
/// change.
#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_period_without_data_has_zeros() {
    for database in both(&Rows::nasty()).await {
        let application = application(&database).await;
        let zeros = serde_json::json!({"pageviews": 0, "sessions": 0, "engagement_seconds": 0});
        let extent = get(&application, "/api/dataset").await.json();
        let first = extent["first_day"].as_str().unwrap();
        let start: Day = first.parse().unwrap();
        let path = format!("/api/query/days?start={first}&end={first}&compare=previous&states=1");
        let answer = get(&application, &path).await.json();
        assert_eq!(answer["totals"]["previous"], zeros);
        assert_eq!(answer["rows"][0]["previous"], zeros);
        assert_eq!(answer["states"], serde_json::json!([]));
        // The next day beside the first, which alone is left out.
        let next = Day::from_number(start.number() + 1).unwrap();
        let path = format!("/api/query/blogs?start={next}&end={next}&compare=previous");
        let whole = get(&application, &path).await.json();
        assert_ne!(whole["totals"]["previous"], zeros);
        let without = get(&application, &format!("{path}&not_day={first}")).await.json();
        assert_eq!(without["totals"]["previous"], zeros);
        assert_eq!(without["totals"]["pageviews"], whole["totals"]["pageviews"]);
        let refused = get(&application, &format!("{path}&sort=-change")).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["parameter"]), (400, &"sort".into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn states_tell_which_days_were_imported() {
    for database in both(&Rows::nasty()).await {
        let application = application(&database).await;
        let plain = get(&application, &format!("/api/query/days?{JANUARY}")).await.json();
        database
            .execute(
                "INSERT INTO imported_days (blog_id, day, state) \
                 SELECT id, 18628, 'complete' FROM blogs WHERE name <> 'empty'; \
                 INSERT INTO imported_days (blog_id, day, state) \
                 SELECT id, 18629, 'complete' FROM blogs WHERE name = 'twilio'; \
                 INSERT INTO imported_days (blog_id, day, state) \
                 SELECT id, 18631, 'partial' FROM blogs WHERE name = 'twilio'; \
                 INSERT INTO imported_days (blog_id, day, state) \
                 SELECT id, 18620, 'provisional' FROM blogs WHERE name = 'twilio'",
            )
            .await;
        let span = |blog: &str, start: &str, end: &str, state: &str| {
            let [start, end] = [start, end].map(|day| day.parse::<Day>().unwrap());
            serde_json::json!({"blog": blog, "start": start, "end": end, "state": state})
        };
        let sendgrid = span("SendGrid", "2021-01-01", "2021-01-01", "complete");
        let whole = span("twilio", "2021-01-01", "2021-01-02", "complete");
        let part = span("twilio", "2021-01-04", "2021-01-04", "partial");
        let before = span("twilio", "2020-12-24", "2020-12-24", "provisional");
        let ask = async |more: &str| {
            let path = format!("/api/query/days?{JANUARY}{more}");
            get(&application, &path).await.json()
        };
        // Without being asked for they are not there.
        assert_eq!(ask("").await, plain);
        let all = ask("&states=1").await;
        assert_eq!(all["states"], serde_json::json!([sendgrid, whole, part]));
        assert_eq!((&all["rows"], &all["totals"]), (&plain["rows"], &plain["totals"]));
        let twilio = ask("&states=1&blog=twilio&compare=previous_weekdays").await;
        assert_eq!(twilio["states"], serde_json::json!([before, whole, part]));
        let others = ask("&states=1&not_blog=twilio").await;
        assert_eq!(others["states"], serde_json::json!([sendgrid]));
        let extent = get(&application, "/api/dataset").await.json();
        assert_eq!(extent.get("states"), None);
        let extent = get(&application, "/api/dataset?states=1").await.json();
        assert_eq!(extent["states"], serde_json::json!([sendgrid, before, whole, part]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_is_not_there_may_be_allowed() {
    for database in both(&Rows::nasty()).await {
        let plain = application(&database).await;
        drop(database.rollup_store().await);
        // From facts, then from totals.
        for application in [plain, application(&database).await] {
            for grouping in ["teams", "countries", "days"] {
                let ask = async |more: &str| {
                    let path = format!("/api/query/{grouping}?{JANUARY}{more}");
                    let reply = get(&application, &path).await;
                    assert_eq!(reply.status, StatusCode::OK, "{path}: {}", reply.body);
                    let answer = reply.json();
                    (answer["rows"].clone(), answer["totals"].clone())
                };
                let all = ask("").await;
                let nothing = ask("&unknown_values=allowed&author=gone").await;
                assert_eq!(nothing.0, serde_json::json!([]));
                for dimension in ["blog", "author", "country", "article"] {
                    let word = format!("&unknown_values=allowed&{dimension}=gone");
                    assert_eq!(ask(&word).await, nothing, "{word}");
                    let word = format!("&unknown_values=allowed&{dimension}=%00");
                    assert_eq!(ask(&word).await, nothing, "{word}");
                    let word = format!("&unknown_values=allowed&not_{dimension}=gone");
                    assert_eq!(ask(&word).await, all, "{word}");
                }
                let both = ask("&unknown_values=allowed&blog=twilio&not_author=gone").await;
                assert_eq!(both, ask("&blog=twilio").await);
            }
        }
    }
}

#[tokio::test]
async fn only_get_and_head_are_offered() {
    let application = application(&sqlite(&Rows::nasty())).await;
    for path in ["/api/query/teams", "/healthz", "/metrics", "/", "/nothing"] {
        for method in [Method::POST, Method::DELETE, Method::PUT] {
            let request = Request::builder()
                .method(&method)
                .uri(path)
                .header("authorization", format!("Bearer {}", super::KEY));
            let reply = send(&application, request.body(Body::from("x")).unwrap()).await;
            assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert_eq!(reply.header("allow").replace(' ', ""), "GET,HEAD", "{method} {path}");
            assert_eq!(reply.header("content-type"), "application/problem+json");
        }
    }
}
