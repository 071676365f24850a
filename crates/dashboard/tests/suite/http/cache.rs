//! The answer cache, ETag and 304, compression.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use dashboard::{http, store};
use tower::ServiceExt as _;

use super::{KEY, Reply, get, send, served};
use crate::database::{TestDatabase, both, sqlite};
use crate::rows::Rows;

const QUESTION: &str = "/api/query/authors?start=2019-01-01&end=2022-12-31&sort=key";

async fn cached(database: &TestDatabase) -> Router {
    let options = http::Options { answer_cache_bytes: 1_000_000, ..http::Options::default() };
    served(&database.url, &store::Options::default(), options).await
}

async fn get_knowing(application: &Router, path: &str, etag: &str) -> Reply {
    let request = Request::get(path)
        .header("authorization", format!("Bearer {KEY}"))
        .header("if-none-match", etag);
    send(application, request.body(Body::empty()).unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_answer_ends_with_any_change_of_the_data() {
    for database in both(&Rows::nasty()).await {
        let application = cached(&database).await;
        let first = get(&application, QUESTION).await;
        assert_eq!(first.header("crossover-answer-cache"), "miss");
        let other_order = "/api/query/authors?sort=key&end=2022-12-31&start=2019-01-01";
        let second = get(&application, other_order).await;
        assert_eq!(second.header("crossover-answer-cache"), "hit");
        assert_eq!((&first.body, first.header("etag")), (&second.body, second.header("etag")));
        assert_eq!(first.header("crossover-rows-read"), second.header("crossover-rows-read"));
        for change in [
            "UPDATE traffic SET pageviews = pageviews + 1 WHERE article_id = 1",
            "UPDATE authors SET name = 'another' WHERE name = 'zebra'",
            "DELETE FROM traffic WHERE article_id = 2",
        ] {
            database.execute(change).await;
            let after = get(&application, QUESTION).await;
            assert_eq!(after.header("crossover-answer-cache"), "miss", "{change}");
            let fresh = get(&super::application(&database).await, QUESTION).await;
            assert_eq!(fresh.header("crossover-answer-cache"), "off");
            assert_eq!(after.body, fresh.body, "{change}");
            assert_ne!(after.body, first.body, "{change}");
        }
    }
}

#[tokio::test]
async fn a_matching_etag_gets_304_until_the_answer_changes() {
    let database = sqlite(&Rows::nasty());
    for application in [cached(&database).await, super::application(&database).await] {
        for path in [QUESTION, "/api/dataset", "/api/values/team", "/api/openapi.json"] {
            let first = get(&application, path).await;
            let etag = first.header("etag").to_owned();
            assert!(etag.starts_with("W/\""), "{path}: {etag}");
            let again = get_knowing(&application, path, &etag).await;
            assert_eq!((again.status, again.body.as_str()), (StatusCode::NOT_MODIFIED, ""));
            assert_eq!(again.header("etag"), etag);
            let other = get_knowing(&application, path, "\"other\"").await;
            assert_eq!((other.status, &other.body), (StatusCode::OK, &first.body), "{path}");
        }
    }
    let application = cached(&database).await;
    let etag = get(&application, QUESTION).await.header("etag").to_owned();
    database.execute("UPDATE traffic SET sessions = sessions + 1").await;
    assert_eq!(get_knowing(&application, QUESTION, &etag).await.status, StatusCode::OK);
}

#[tokio::test]
async fn large_answers_are_compressed_and_small_ones_are_not() {
    let application = cached(&sqlite(&Rows::nasty())).await;
    let large = "/api/query/articles?start=1960-01-01&end=2030-12-31";
    let plain = get(&application, large).await;
    assert!(plain.body.len() > 1_024 && plain.header("content-encoding").is_empty());
    let encoded = async |path: &str, accepted: &str| {
        let request = Request::get(path)
            .header("authorization", format!("Bearer {KEY}"))
            .header("accept-encoding", accepted);
        let request = request.body(Body::empty()).unwrap();
        let (parts, body) = application.clone().oneshot(request).await.unwrap().into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        let encoding = parts.headers.get("content-encoding").cloned();
        (encoding.map_or(String::new(), |value| value.to_str().unwrap().to_owned()), body)
    };
    let (encoding, body) = encoded(large, "gzip, zstd").await;
    assert_eq!(encoding, "zstd");
    assert_eq!(zstd::decode_all(&body[..]).unwrap(), plain.body.as_bytes());
    assert_eq!(encoded(large, "gzip").await.0, "gzip");
    let (encoding, body) = encoded(large, "identity").await;
    assert_eq!((encoding.as_str(), &body[..]), ("", plain.body.as_bytes()));
    let small = "/api/query/blogs?start=2021-01-01&end=2021-01-01";
    assert_eq!(encoded(small, "gzip").await.0, "");
}
