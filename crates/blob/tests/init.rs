//! What `init` makes, and that it makes it whole or not at all.
#![expect(clippy::unwrap_used, reason = "tests")]

mod place;

use std::sync::atomic::AtomicBool;

use blob::{BlobTarget, Error, InitOptions, Recipe};
use place::{NEVER, Place, quiet, recipe};

#[test]
fn the_table_is_kvtest_s_and_the_sizes_are_as_asked_for() {
    let place = Place::new();
    let path = place.init(&Recipe { page_bytes: Some(8192), ..recipe(500, 1000, 200) });
    let stat = blob::stat(&path).unwrap();
    assert_eq!((stat.count, stat.largest_id, stat.page_bytes), (500, 500, 8192));
    assert_eq!(stat.file_bytes, path.metadata().unwrap().len());
    assert!(stat.blob_bytes_min >= 800 && stat.blob_bytes_max <= 1200, "{stat:?}");
    assert!((stat.blob_bytes_mean - 1000.0).abs() < 30.0, "{stat:?}");
    assert_eq!(stat.integrity, ["ok"]);
    assert_eq!(stat.journal_mode, "delete");
    // As kvtest's own statements need it.
    let connection = rusqlite::Connection::open(&path).unwrap();
    let length =
        connection.query_row("SELECT length(v) FROM kv WHERE k=7", [], |row| row.get::<_, i64>(0));
    assert!((800..=1200).contains(&length.unwrap()));
}

#[test]
fn overflow_pages_are_counted() {
    let place = Place::new();
    let stat = blob::stat(&place.init(&recipe(50, 10_000, 0))).unwrap();
    let of = |kind: &str| stat.pages.iter().find(|pages| pages.kind == kind).unwrap();
    // 10,000 bytes are two overflow pages of 4,092 bytes and the rest on a leaf.
    assert_eq!(of("overflow").pages, 100);
    assert_eq!(of("overflow").unused_bytes, 0);
    // Two rests share a leaf. So 100,000 of them are the article's 1,024,512,000 bytes, but for our
    // recipe: 2.5 pages for each and 125 pages above them.
    assert_eq!(of("leaf").pages, 25);
    let payload: u64 = stat.pages.iter().map(|pages| pages.payload_bytes).sum();
    assert!(payload >= 500_000, "{stat:?}");
}

#[test]
fn the_same_seed_makes_the_same_blobs_and_another_one_others() {
    let place = Place::new();
    let bytes = |name: &str, seed: u64| {
        let path = place.path(name);
        let recipe = Recipe { seed, ..recipe(20, 500, 100) };
        blob::init(&path, &recipe, &InitOptions::default(), &quiet(), &NEVER).unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        let mut statement = connection.prepare("SELECT v FROM kv ORDER BY k").unwrap();
        let rows = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        rows.collect::<Result<Vec<_>, _>>().unwrap()
    };
    assert_eq!(bytes("one.db", 1), bytes("same.db", 1));
    assert_ne!(bytes("one-more.db", 1), bytes("other.db", 2));
}

#[test]
fn an_interrupted_or_impossible_init_leaves_nothing() {
    let place = Place::new();
    let (path, stopped) = (place.path("blobs.db"), AtomicBool::new(true));
    let (options, small) = (InitOptions::default(), recipe(100, 1000, 0));
    let interrupted = blob::init(&path, &small, &options, &quiet(), &stopped);
    assert!(matches!(interrupted, Err(Error::Interrupted)));
    let too_large = Recipe { blob_bytes: 2_000_000_000, ..small };
    let refused = blob::init(&path, &too_large, &options, &quiet(), &NEVER).unwrap_err();
    assert!(refused.is_usage() && refused.to_string().contains("1,000,000,000"), "{refused}");
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn more_than_the_disk_holds_is_refused_with_both_numbers() {
    let place = Place::new();
    let vast = recipe(1_000_000_000, 100_000_000, 0);
    let path = place.path("blobs.db");
    let error = blob::init(&path, &vast, &InitOptions::default(), &quiet(), &NEVER).unwrap_err();
    assert!(matches!(error, Error::NoSpace { needed_bytes: 100_000_000_000_000_000, .. }));
    assert!(error.to_string().contains("needed") && error.to_string().contains("free"));
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn nothing_is_replaced_unasked_and_only_blobs_are_replaced() {
    let place = Place::new();
    let (path, small) = (place.init(&recipe(10, 100, 0)), recipe(20, 100, 0));
    let init = |path: &std::path::Path, replace: bool| {
        blob::init(path, &small, &InitOptions { replace }, &quiet(), &NEVER)
    };
    let told = init(&path, false).unwrap_err().to_string();
    assert!(told.contains("exists already") && told.contains("--force"), "{told}");
    assert_eq!(BlobTarget::open(&path).unwrap().largest_id(), 10);
    init(&path, true).unwrap();
    assert_eq!(BlobTarget::open(&path).unwrap().largest_id(), 20);

    let shop = place.path("shop.db");
    let connection = rusqlite::Connection::open(&shop).unwrap();
    connection
        .execute_batch("CREATE TABLE orders(a); CREATE TABLE kv(k INTEGER PRIMARY KEY, v)")
        .unwrap();
    drop(connection);
    let told = init(&shop, true).unwrap_err().to_string();
    assert!(told.contains("other things than blobs"), "{told}");
    let text = place.path("letter.txt");
    std::fs::write(&text, "Dear all").unwrap();
    assert!(init(&text, true).is_err());
    assert_eq!(std::fs::read(&text).unwrap(), b"Dear all");
}

#[test]
fn a_foreign_table_kv_is_neither_replaced_nor_overwritten() {
    let place = Place::new();
    let make = |name: &str, sql: &str| {
        let path = place.path(name);
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    };
    let init = |path: &std::path::Path| {
        let options = InitOptions { replace: true };
        blob::init(path, &recipe(3, 10, 0), &options, &quiet(), &NEVER)
    };
    for (name, sql, problem) in [
        (
            "owner.db",
            "CREATE TABLE kv(k INTEGER PRIMARY KEY, v TEXT, owner TEXT);
             INSERT INTO kv VALUES(1, 'mine', 'me');",
            "its table kv has a column owner",
        ),
        (
            "text.db",
            "CREATE TABLE kv(k INTEGER PRIMARY KEY, v);
             INSERT INTO kv VALUES(1, x'00'), (2, 'mine');",
            "the value of key 2 is text",
        ),
    ] {
        let path = make(name, sql);
        assert!(matches!(init(&path), Err(Error::Exists { .. })));
        let told = BlobTarget::open(&path).unwrap().begin_generation().unwrap_err().to_string();
        assert!(told.contains(problem) && told.contains("overwritten"), "{told}");
    }
    let kvtest = make(
        "kvtest.db",
        "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB); INSERT INTO kv VALUES(1, randomblob(9));",
    );
    assert_eq!(BlobTarget::open(&kvtest).unwrap().begin_generation().unwrap(), 1);
    init(&kvtest).unwrap();
    assert_eq!(BlobTarget::open(&kvtest).unwrap().largest_id(), 3);
}

#[test]
fn a_leftover_log_of_another_database_is_refused() {
    let place = Place::new();
    std::fs::write(place.path("blobs.db-wal"), "old").unwrap();
    let (path, options) = (place.path("blobs.db"), InitOptions::default());
    let error = blob::init(&path, &recipe(1, 1, 0), &options, &quiet(), &NEVER).unwrap_err();
    assert!(error.to_string().contains("blobs.db-wal"), "{error}");
}

#[test]
fn vacuum_gives_free_pages_back_and_keeps_the_blobs() {
    let place = Place::new();
    let path = place.init(&recipe(100, 5000, 0));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("DELETE FROM kv WHERE k > 20").unwrap();
    drop(connection);
    let before = blob::stat(&path).unwrap();
    blob::vacuum(&path).unwrap();
    let after = blob::stat(&path).unwrap();
    assert!(before.freelist_count > 90, "{before:?}");
    assert_eq!((after.freelist_count, after.count), (0, 20));
    assert!(after.file_bytes < before.file_bytes / 3);
}
