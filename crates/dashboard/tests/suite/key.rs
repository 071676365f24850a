//! API keys in both engines: only a hash is stored, names are used once, revoked is revoked.

use std::time::Duration;

use dashboard::account::AccessControl;
use dashboard::key::{self, ApiKey, Error};
use engine::DatabaseUrl;

use crate::database::{TestDatabase, both};
use crate::rows::Rows;

#[tokio::test(flavor = "multi_thread")]
async fn only_the_hash_is_stored() {
    for database in both(&Rows::none()).await {
        let key = key::add(&database.url, "laptop", None).await.unwrap();
        assert_eq!(holder(&database, &key).await.unwrap(), "laptop");
        let everything = everything(&database).await;
        assert!(everything.contains(key.hash().as_str()), "the search itself finds nothing");
        let secret = key.expose().strip_prefix("crossover_").unwrap();
        assert!(!everything.contains(secret), "the key is in the database");
    }
}

/// The name of the key, if it is let in.
async fn holder(database: &TestDatabase, key: &ApiKey) -> Option<String> {
    let access = AccessControl::open(&database.url).await.unwrap();
    access.key_holder(&key.hash()).await.unwrap().map(|holder| holder.name)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_with_an_end_is_valid_until_then() {
    for database in both(&Rows::none()).await {
        let url = &database.url;
        let before = key::add(url, "before", None).await.unwrap();
        let over = key::add(url, "over", Some(Duration::ZERO)).await.unwrap();
        let valid = key::add(url, "valid", Some(Duration::from_secs(3_600))).await.unwrap();
        assert_eq!(holder(&database, &before).await.unwrap(), "before");
        assert_eq!(holder(&database, &over).await, None);
        assert_eq!(holder(&database, &valid).await.unwrap(), "valid");
        let ends: Vec<_> = key::list(url).await.unwrap().iter().map(|key| key.expires_at).collect();
        assert!(matches!(ends[..], [None, Some(first), Some(second)] if second - first >= 3_600));
        key::revoke(url, "valid").await.unwrap();
        assert_eq!(holder(&database, &valid).await, None);
    }
}

/// Every byte of the SQLite file and its log, every column of the PostgreSQL table.
async fn everything(database: &TestDatabase) -> String {
    match &database.url {
        DatabaseUrl::Sqlite(path) => {
            let mut bytes = std::fs::read(path).unwrap();
            bytes.extend(std::fs::read(path.with_extension("db-wal")).unwrap_or_default());
            String::from_utf8_lossy(&bytes).into_owned()
        }
        DatabaseUrl::Postgres(url) => {
            let client = connect::postgres::connect(url).await.unwrap();
            let all = "SELECT string_agg(k::text, ' ') FROM api_keys k";
            client.query_one(all, &[]).await.unwrap().get(0)
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_listed_and_revoked_by_name() {
    for database in both(&Rows::none()).await {
        let url = &database.url;
        let first = key::add(url, "laptop", None).await.unwrap();
        let second = key::add(url, "O'Neil's \"script\"", None).await.unwrap();
        assert_ne!(first, second);
        key::revoke(url, "laptop").await.unwrap();
        let listed = key::list(url).await.unwrap();
        let names: Vec<_> = listed.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names, ["laptop", "O'Neil's \"script\""]);
        assert!(listed[0].revoked_at.is_some() && listed[1].revoked_at.is_none());
        assert_eq!(holder(&database, &first).await, None);
        assert_eq!(holder(&database, &second).await.unwrap(), "O'Neil's \"script\"");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_named() {
    let mut messages = Vec::new();
    for database in both(&Rows::none()).await {
        let url = &database.url;
        key::add(url, "laptop", None).await.unwrap();
        key::add(url, "old", None).await.unwrap();
        key::revoke(url, "old").await.unwrap();
        let long = "x".repeat(65);
        let mut seen = Vec::new();
        for name in ["laptop", "old", "", " laptop", "two\nlines", &long] {
            seen.push(key::add(url, name, None).await.unwrap_err().to_string());
        }
        for name in ["laptpo", "nobody", "old"] {
            seen.push(key::revoke(url, name).await.unwrap_err().to_string());
        }
        messages.push(seen);
    }
    assert_eq!(messages[0], messages[1]);
    insta::assert_snapshot!(messages[0].join("\n"));
}

#[tokio::test]
async fn a_file_that_is_no_dashboard_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    connect::sqlite::create(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let error = key::add(&DatabaseUrl::Sqlite(path), "laptop", None).await.unwrap_err();
    assert!(matches!(error, Error::Schema(_)), "{error}");
}
