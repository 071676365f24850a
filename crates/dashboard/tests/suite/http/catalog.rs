//! `/api/dataset`, `/api/values/{dimension}`, `/api/articles/{uuid}`: the same bytes from both
//! engines.

use axum::http::StatusCode;

use super::{application, get, get_with};
use crate::database::{both, sqlite};
use crate::rows::{Rows, UUIDS};

#[tokio::test(flavor = "multi_thread")]
async fn everything_but_the_version_is_the_same_from_both_engines() {
    let mut paths = vec![
        "/api/dataset".to_owned(),
        "/api/values/country".to_owned(),
        "/api/values/blog?limit=2&offset=1".to_owned(),
        "/api/values/author?search=%C3%81BEL".to_owned(),
        "/api/values/author?search=drop%20table".to_owned(),
        "/api/values/author?search=%25".to_owned(),
        "/api/values/author?key=zebra&key=nobody&key=_x".to_owned(),
        "/api/values/article?search=EXAMPLE.com%2F17".to_owned(),
        "/api/values/article?limit=0".to_owned(),
        "/api/articles".to_owned(),
    ];
    paths.extend(UUIDS.map(|uuid| format!("/api/articles/{uuid}")));
    let mut seen = Vec::new();
    for database in both(&Rows::nasty()).await {
        let application = application(&database).await;
        let mut replies = String::new();
        for path in &paths {
            let reply = get(&application, path).await;
            assert_eq!(reply.status, StatusCode::OK, "{path}: {}", reply.body);
            let mut body = reply.json();
            if let Some(version) = body.get_mut("data_version") {
                assert!(version.as_str().is_some_and(|version| !version.is_empty()));
                *version = "v".into();
            }
            replies += &format!("{path}\n  {body}\n");
        }
        seen.push(replies);
    }
    assert_eq!(seen[0], seen[1]);
    insta::assert_snapshot!(seen[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_extent_follows_the_data() {
    for database in both(&Rows::nasty()).await {
        let application = application(&database).await;
        let before = get(&application, "/api/dataset").await.json();
        assert_eq!(get(&application, "/api/dataset").await.json(), before);
        // With totals it is read from them.
        drop(database.rollup_store().await);
        let again = get(&application, "/api/dataset").await.json();
        assert!(again["traffic_rows"].as_i64().unwrap() > 0);
        for field in ["first_day", "last_day", "traffic_rows", "articles", "blogs"] {
            assert_eq!(again[field], before[field]);
        }
        database.execute("DELETE FROM traffic").await;
        let after = get(&application, "/api/dataset").await.json();
        assert_ne!(before["data_version"], after["data_version"]);
        assert_eq!((&after["traffic_rows"], &after["articles"]), (&0.into(), &40.into()));
        assert_eq!((&after["first_day"], &after["last_day"]), (&().into(), &().into()));
    }
}

#[tokio::test]
async fn an_unknown_value_is_named() {
    let application = application(&sqlite(&Rows::nasty())).await;
    let mut messages = String::new();
    for path in [
        "/api/values/authors",
        "/api/values/author?limit=1001",
        "/api/values/author?limit=-1",
        "/api/values/author?limit=%2B1",
        "/api/values/author?search=a&search=b",
        "/api/values/author?serach=a",
        "/api/articles/nothing",
        "/api/articles/%00",
        "/api/articles/%27%20OR%201=1",
    ] {
        let reply = get(&application, path).await;
        assert!(reply.status.is_client_error(), "{path}: {}", reply.status);
        messages += &format!("{path}\n  {}\n", reply.body);
        let reply = get_with(&application, path, None).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    insta::assert_snapshot!(messages);
}
