//! SQLite's pool: what its connections may do, and how many there are. What both stores promise
//! is tested in `tests/suite/store.rs`.

use std::sync::mpsc;

use engine::Settings;
use tempfile::TempDir;

use super::Error;
use super::sqlite_pool::Pool;

fn pool(size: usize) -> (TempDir, Pool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let create = "CREATE TABLE t (a); INSERT INTO t VALUES (7)";
    engine::sqlite::create(&path).unwrap().execute_batch(create).unwrap();
    let pool = Pool::open(&path, &Settings::default(), size).unwrap();
    (folder, pool)
}

async fn read(pool: &Pool) -> Result<i32, Error> {
    pool.run(|connection| Ok(connection.query_row("SELECT a FROM t", [], |row| row.get(0))?)).await
}

#[tokio::test]
async fn its_connections_only_read() {
    let (_folder, pool) = pool(1);
    for change in ["DELETE FROM t", "DROP TABLE t", "CREATE TABLE u (b)"] {
        let error = pool.run(|connection| Ok(connection.execute(change, [])?)).await.unwrap_err();
        assert!(error.to_string().contains("readonly"), "{error}");
    }
    assert_eq!(read(&pool).await.unwrap(), 7);
}

#[tokio::test]
async fn a_connection_comes_back_however_the_work_ends() {
    let (_folder, pool) = pool(1);
    let failed = pool.run::<()>(|_| Err(Error::BrokenOff("by the work".to_owned()))).await;
    assert!(failed.is_err());
    let panicked = pool.run::<()>(|_| panic!("on purpose")).await;
    assert!(panicked.unwrap_err().to_string().contains("on purpose"));
    assert_eq!(read(&pool).await.unwrap(), 7);
}

#[tokio::test]
async fn work_beyond_the_number_of_connections_waits_its_turn() {
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
