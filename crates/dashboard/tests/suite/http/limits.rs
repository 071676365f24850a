//! Limits: of time, of queries at once and of one client's share of them, of requests in a minute,
//! of a client's slowness. Each names itself and the time to try again, and none of them affects
//! other clients.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::http::StatusCode;
use dashboard::answer::AnswerDesign;
use dashboard::{http, key, store};
use engine::DatabaseUrl;
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{app, get, get_with, served};
use crate::database::{TestDatabase, both, postgres, sqlite};
use crate::rows::Rows;

const QUESTION: &str = "/api/query/teams?start=2019-01-01&end=2022-12-31";

#[tokio::test(flavor = "multi_thread")]
async fn a_query_over_its_time_is_stopped_and_says_so() {
    let limit = Some(Duration::from_nanos(1));
    let questions = store::Options { query_limit: limit, ..store::Options::default() };
    for database in both(&Rows::nasty()).await {
        drop(database.rollup_store().await);
        // In that time no connection to PostgreSQL is made.
        let (option, limit) = match database.is_postgres() {
            true => ("--query-concurrency", "query_concurrency"),
            false => ("--query-limit", "query_time"),
        };
        for design in [AnswerDesign::Daily, AnswerDesign::Rollup] {
            let questions = store::Options { design: Some(design), ..questions.clone() };
            let application = served(&database.url, &questions, http::Options::default()).await;
            let reply = get(&application, QUESTION).await;
            assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE, "{}", reply.body);
            assert_eq!(reply.header("content-type"), "application/problem+json");
            assert!(reply.body.contains(option), "{}", reply.body);
            assert!(reply.header("retry-after").parse::<u64>().unwrap() >= 1);
            let health = get_with(&application, "/healthz", None).await;
            assert_eq!(health.status, StatusCode::OK);
            let metrics = get(&application, "/metrics").await.body;
            let counted = format!("crossover_limits_reached_total{{limit=\"{limit}\"}} 1\n");
            assert!(metrics.contains(&counted), "{metrics}");
        }
    }
}

#[tokio::test]
async fn a_client_above_the_rate_limit_waits_alone() {
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
async fn absurd_parameters_are_refused_by_name() {
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

/// A public dashboard behind a real socket.
async fn listening(database: &TestDatabase, limits: http::Limits) -> SocketAddr {
    let options = http::Options { limits, ..http::Options::default() };
    listening_with(database, &store::Options::default(), options).await
}

async fn listening_with(
    database: &TestDatabase,
    questions: &store::Options,
    options: http::Options,
) -> SocketAddr {
    let options = http::Options { is_public: true, ..options };
    let app = app(&database.url, questions, &options).await;
    let listener = http::listen("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(http::serve(listener, app, std::future::pending()));
    address
}

/// All that the server says to `request` until it closes the connection.
async fn reply_to(address: SocketAddr, request: &str) -> String {
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    let mut told = String::new();
    client.read_to_string(&mut told).await.unwrap();
    told
}

/// The answer of a server behind a proxy.
async fn ask(address: SocketAddr, from: &str, path: String) -> String {
    reply_to(address, &asked_by(from, &path)).await
}

/// A question on a connection that ends with the answer.
fn asked_by(from: &str, path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: here\r\nX-Forwarded-For: {from}\r\n\
         Connection: close\r\n\r\n"
    )
}

/// A client that does not read its answer keeps its permit.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_beyond_its_share_gets_429_and_others_an_answer() {
    let database = sqlite(&Rows::nasty());
    // Together the buffers between the server and a client hold less.
    let long = "UPDATE articles SET title = hex(zeroblob(6000000)) WHERE id = 1;
                DELETE FROM traffic WHERE article_id = 1;
                INSERT INTO traffic VALUES (18620, 1, 1, 1, 1, 1)";
    database.execute(long).await;
    let limit = Some(Duration::from_secs(15));
    let questions =
        store::Options { connections: 2, query_limit: limit, ..store::Options::default() };
    let options = http::Options { behind_proxy: true, ..http::Options::default() };
    let address = listening_with(&database, &questions, options).await;
    let mut untaken = TcpStream::connect(address).await.unwrap();
    let question = asked_by("192.0.2.1", &QUESTION.replace("teams", "articles"));
    untaken.write_all(question.as_bytes()).await.unwrap();
    let mut status = [0; 13];
    untaken.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 200 ");
    let (refusal, other) = tokio::join!(
        ask(address, "192.0.2.1", QUESTION.to_owned()),
        ask(address, "192.0.2.2", QUESTION.to_owned())
    );
    assert!(refusal.starts_with("HTTP/1.1 429 "), "{refusal}");
    assert!(refusal.contains("\r\nretry-after: 1\r\n"), "{refusal}");
    assert!(refusal.contains("your other queries took all turns"), "{refusal}");
    assert!(other.starts_with("HTTP/1.1 200 "), "{other}");
    let metrics =
        reply_to(address, &asked_by("192.0.2.3", "/metrics").replace("X-Forwarded-For", "X-None"))
            .await;
    assert!(metrics.contains("crossover_limits_reached_total{limit=\"query_share\"} 1\n"));
    let mut rest = Vec::new();
    untaken.read_to_end(&mut rest).await.unwrap();
    assert!(rest.len() > 12_000_000, "{}", rest.len());
    let told = ask(address, "192.0.2.1", QUESTION.to_owned()).await;
    assert!(told.starts_with("HTTP/1.1 200 "), "{told}");
}

/// A client with endless queries holds half of the permits, however many it sends.
#[tokio::test(flavor = "multi_thread")]
async fn slow_queries_of_one_client_leave_permits_to_others() {
    let database = postgres(&Rows::nasty()).await;
    let questions = store::Options { connections: 2, ..store::Options::default() };
    let options = http::Options {
        behind_proxy: true,
        answer_cache_bytes: 1_000_000,
        ..http::Options::default()
    };
    let address = listening_with(&database, &questions, options).await;
    let DatabaseUrl::Postgres(url) = &database.url else { panic!("no URL") };
    let mut locking = connect::postgres::connect(url).await.unwrap();
    let lock = locking.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE teams IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let slow = (1..5).map(|limit| ask(address, "192.0.2.1", format!("{QUESTION}&limit={limit}")));
    let slow = join_all(slow);
    let beside = async {
        let waiting = "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database
                       WHERE NOT granted AND datname = current_database()";
        while lock.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            tokio::task::yield_now().await;
        }
        let other = ask(address, "192.0.2.2", QUESTION.replace("teams", "countries"));
        let told = tokio::time::timeout(Duration::from_secs(30), other).await.unwrap();
        assert!(told.starts_with("HTTP/1.1 200 "), "{told}");
        lock.rollback().await.unwrap();
    };
    let (slow, ()) = tokio::join!(slow, beside);
    for told in slow {
        assert!(told.starts_with("HTTP/1.1 200 "), "{told}");
    }
}

/// Begins so, then sends a byte now and then until the server closes the connection.
async fn dribble(address: SocketAddr, begun: &str) {
    let (mut reading, mut writing) = TcpStream::connect(address).await.unwrap().into_split();
    writing.write_all(begun.as_bytes()).await.unwrap();
    let endless = async {
        let mut beat = tokio::time::interval(Duration::from_millis(10));
        while writing.write_all(b"x").await.is_ok() {
            beat.tick().await;
        }
        std::future::pending::<()>().await;
    };
    let mut told = Vec::new();
    tokio::select! {
        // An error is the end of the connection too.
        _ = reading.read_to_end(&mut told) => {}
        () = endless => {}
    }
}

#[tokio::test]
async fn a_byte_now_and_then_keeps_no_connection() {
    let time = Duration::from_millis(100);
    let limits = http::Limits { head_time: time, body_time: time, ..http::Limits::default() };
    let database = sqlite(&Rows::none());
    let address = listening(&database, limits).await;
    let body = "Host: here\r\nContent-Type: application/json\r\nContent-Length: 16000\r\n\r\n";
    for begun in [
        "GE".to_owned(),
        "GET / HTTP/1.1\r\nHost: here\r\nX-Slow: ".to_owned(),
        format!("POST /api/session HTTP/1.1\r\n{body}"),
        format!("GET /healthz HTTP/1.1\r\n{body}"),
    ] {
        // Ends only when the server does not wait any longer.
        dribble(address, &begun).await;
    }
}

#[tokio::test]
async fn a_body_that_never_ends_is_refused_and_the_connection_closed() {
    let limits = http::Limits { body_time: Duration::from_millis(50), ..http::Limits::default() };
    let database = sqlite(&Rows::none());
    let address = listening(&database, limits).await;
    for path in ["/api/session", "/api/account"] {
        let begun = format!(
            "POST {path} HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n\
             Content-Length: 100\r\n\r\n{{\"name\""
        );
        let told = reply_to(address, &begun).await;
        assert!(told.starts_with("HTTP/1.1 408 "), "{told}");
        assert!(told.contains("application/problem+json") && told.contains("not there within"));
    }
}

/// As many values as are taken are more than fit into an address.
#[tokio::test]
async fn an_address_of_ten_thousand_values_is_refused_as_too_long() {
    let database = sqlite(&Rows::nasty());
    let address = listening(&database, http::Limits::default()).await;
    let mut question = QUESTION.to_owned();
    for number in 0..10_000 {
        write!(question, "&not_team={number}").unwrap();
    }
    for (question, status) in [(question.as_str(), "414"), (QUESTION, "200")] {
        let request = format!("GET {question} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
        let told = reply_to(address, &request).await;
        assert!(told.starts_with(&format!("HTTP/1.1 {status} ")), "{told}");
    }
}
