//! SQLite's pool: the rights of its connections, and their number. Promises of both stores are
//! tested in `tests/suite/store.rs`.

use std::sync::mpsc;
use std::time::Duration;

use engine::Settings;
use tempfile::TempDir;

use super::{Deadline, Error, SqlitePool as Pool};

fn pool(size: usize) -> (TempDir, Pool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let create = "CREATE TABLE t (a); INSERT INTO t VALUES (7)";
    connect::sqlite::create(&path).unwrap().execute_batch(create).unwrap();
    let pool = Pool::open(&path, &Settings::default(), size).unwrap();
    (folder, pool)
}

async fn read(pool: &Pool) -> Result<i32, Error> {
    pool.run(|connection| Ok(connection.query_row("SELECT a FROM t", [], |row| row.get(0))?)).await
}

#[tokio::test]
async fn connections_only_read() {
    let (_folder, pool) = pool(1);
    for change in ["DELETE FROM t", "DROP TABLE t", "CREATE TABLE u (b)"] {
        let error = pool.run(|connection| Ok(connection.execute(change, [])?)).await.unwrap_err();
        assert!(error.to_string().contains("readonly"), "{error}");
    }
    assert_eq!(read(&pool).await.unwrap(), 7);
}

#[tokio::test]
async fn a_connection_returns_however_the_work_ends() {
    let (_folder, pool) = pool(1);
    let failed = pool.run::<()>(|_| Err(Error::BrokenOff("by the work".to_owned()))).await;
    assert!(failed.is_err());
    let panicked = pool.run::<()>(|_| panic!("on purpose")).await;
    assert!(panicked.unwrap_err().to_string().contains("on purpose"));
    assert_eq!(read(&pool).await.unwrap(), 7);
}

#[tokio::test]
async fn work_waits_when_all_connections_are_busy() {
    let (_folder, pool) = pool(1);
    let (go_on, wait) = mpsc::channel::<()>();
    let slow = pool.run(move |_| Ok(wait.recv().is_ok()));
    let quick = read(&pool);
    tokio::pin!(slow, quick);
    // The slow one comes first and takes the only connection; then nothing can move.
    assert!(futures_util::poll!(&mut slow).is_pending());
    assert!(futures_util::poll!(&mut quick).is_pending());
    go_on.send(()).unwrap();
    assert!(slow.await.unwrap());
    assert_eq!(quick.await.unwrap(), 7);
}

fn endless(connection: &rusqlite::Connection) -> Result<i64, Error> {
    let count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                 SELECT count(*) FROM n";
    Ok(connection.query_row(count, [], |row| row.get(0))?)
}

#[tokio::test]
async fn work_stops_at_its_limit_and_frees_the_connection() {
    let (_folder, pool) = pool(1);
    let (deadline, _cancel) = Deadline::begin(Some(Duration::from_millis(20)));
    let error = pool.run_within(deadline, endless).await.unwrap_err();
    assert!(matches!(error, Error::TooSlow { .. }), "{error}");
    assert_eq!(read(&pool).await.unwrap(), 7);
}

#[tokio::test]
async fn work_stops_when_its_handle_is_dropped() {
    let (_folder, pool) = pool(1);
    let (deadline, cancel) = Deadline::begin(None);
    let abandoned = pool.run_within(deadline, endless);
    tokio::pin!(abandoned);
    assert!(futures_util::poll!(&mut abandoned).is_pending());
    drop(cancel);
    assert_eq!(read(&pool).await.unwrap(), 7, "or this would wait for ever");
    assert!(abandoned.await.is_err());
}

#[tokio::test]
async fn no_free_connection_until_the_limit_is_an_error() {
    let (_folder, pool) = pool(1);
    let (go_on, wait) = mpsc::channel::<()>();
    let slow = pool.run(move |_| Ok(wait.recv().is_ok()));
    tokio::pin!(slow);
    assert!(futures_util::poll!(&mut slow).is_pending());
    let (deadline, _cancel) = Deadline::begin(Some(Duration::from_millis(20)));
    let error = pool.run_within(deadline, endless).await.unwrap_err();
    assert!(matches!(error, Error::NoPermit { .. }), "{error}");
    go_on.send(()).unwrap();
    assert!(slow.await.unwrap());
}
