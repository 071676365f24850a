//! The article's load on two kinds of stranger: one that tells its blogs, and one that does not.

use std::io::Write;
use std::num::NonZeroU16;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::civil::date;
use lab::article::{ArticleError, ArticleLoad, GROUPINGS, measure};
use record::Outcome;

use testing::loopback::{After, Loopback, with_length};

static GOING_ON: AtomicBool = AtomicBool::new(false);

fn load(server: &Loopback) -> ArticleLoad {
    ArticleLoad {
        url: server.url(),
        key: Some("baseline-key".to_owned()),
        clients: NonZeroU16::new(2).unwrap(),
        start: date(2021, 1, 1),
        end: date(2021, 12, 31),
        blog: None,
        seed: 7,
        timeout: Duration::from_secs(600),
    }
}

/// A server that answers `/api/query/blogs` as told and everything else with the path's own text.
fn stranger(blogs_status: u16, blogs: &'static str) -> (Loopback, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heads = Arc::clone(&seen);
    let server = Loopback::serve(move |request, stream| {
        heads.lock().unwrap().push(request.head.clone());
        let reply = match request.path() {
            path if path.starts_with("/api/query/blogs?") => with_length(blogs_status, blogs),
            path => with_length(200, path),
        };
        stream.write_all(&reply).unwrap();
        After::Keep
    });
    (server, seen)
}

#[test]
fn each_client_sends_the_nine_requests_once_with_the_key() {
    let (server, seen) = stranger(404, "");
    let result = measure(&load(&server), &GOING_ON).unwrap();
    assert_eq!((result.blog.as_str(), result.clients, result.failures), ("twilio", 2, 0));
    assert_eq!(result.requests.len(), 9);
    for (grouping, request) in GROUPINGS.iter().zip(&result.requests) {
        let path = format!("/api/query/{grouping}?blog=twilio&start=2021-01-01&end=2021-12-31");
        assert_eq!((request.path.as_str(), request.requests), (path.as_str(), 2));
    }
    let means: Vec<f64> =
        result.requests.iter().map(|one| one.response_time_ms_mean.unwrap()).collect();
    let total = result.response_time_ms_mean.unwrap();
    assert!((means.iter().sum::<f64>() / 9.0 - total).abs() < 1e-6 * total);
    let seen = seen.lock().unwrap();
    assert_eq!((seen.len(), server.connections()), (19, 19));
    assert!(seen.iter().all(|head| head.contains("\r\nAuthorization: Bearer baseline-key\r\n")));
}

#[test]
fn the_blog_with_most_articles_is_requested_of_a_server() {
    let blogs = r#"{"rows": [{"key": "send & grid", "articles": 7}, {"key": "x", "articles": 3}]}"#;
    let (server, _) = stranger(200, blogs);
    let result = measure(&load(&server), &GOING_ON).unwrap();
    assert_eq!(result.blog, "send & grid");
    assert!(result.requests[0].path.contains("blog=send+%26+grid&"));
    let (server, _) = stranger(200, "not JSON");
    assert_eq!(measure(&load(&server), &GOING_ON).unwrap().blog, "twilio");
}

#[test]
fn clients_that_see_different_bytes_are_reported() {
    let server = Loopback::serve(|request, stream| {
        let body = match request.path() {
            path if path.contains("/teams") => request.number.to_string(),
            path if path.contains("/days") => return After::Close,
            _ => "the same".to_owned(),
        };
        stream.write_all(&with_length(200, &body)).unwrap();
        After::Keep
    });
    let told = ArticleLoad { blog: Some("twilio".to_owned()), ..load(&server) };
    let result = measure(&told, &GOING_ON).unwrap();
    assert_eq!(result.failures, 3);
    for (grouping, request) in GROUPINGS.iter().zip(&result.requests) {
        let expected = match *grouping {
            "teams" => vec![Outcome::WrongAnswer],
            "days" => vec![Outcome::ConnectionLost; 2],
            _ => vec![],
        };
        assert_eq!(request.failures, expected, "{grouping}");
        assert_eq!(request.response_time_ms_mean.is_none(), *grouping == "days");
    }
}

#[test]
fn bad_keys_and_empty_periods_are_reported_before_measuring() {
    let (server, seen) = stranger(401, "");
    let error = measure(&load(&server), &GOING_ON).unwrap_err();
    assert!(matches!(error, ArticleError::KeyRefused { status: 401, .. }));
    assert!(
        !error.to_string().contains("baseline-key") && error.to_string().contains("--key-file")
    );
    assert_eq!(seen.lock().unwrap().len(), 1);
    let backwards = ArticleLoad { end: date(2020, 1, 1), ..load(&server) };
    let error = measure(&backwards, &GOING_ON).unwrap_err();
    assert!(matches!(error, ArticleError::EmptyPeriod { .. }));
}
