//! Broken files and hostile surroundings: one clear line each.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::atomic::AtomicBool;

use migrate::MigrateOptions;

use crate::support::{File, SmallDisk, Target, data_only};

fn some_rows() -> File {
    File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) \
         INSERT INTO t SELECT i, hex(zeroblob(20)) FROM n",
    )
}

#[test]
fn damaged_files_are_named_with_the_way_out() {
    let truncated = some_rows();
    let length = truncated.path.metadata().unwrap().len();
    std::fs::OpenOptions::new()
        .write(true)
        .open(&truncated.path)
        .unwrap()
        .set_len(length / 2)
        .unwrap();

    let damaged = some_rows();
    let mut file = std::fs::OpenOptions::new().write(true).open(&damaged.path).unwrap();
    file.seek(SeekFrom::Start(4096)).unwrap();
    file.write_all(&[0xee; 40_960]).unwrap();

    let encrypted = some_rows();
    std::fs::write(&encrypted.path, [0x5a; 8192]).unwrap();

    let empty = some_rows();
    std::fs::write(&empty.path, []).unwrap();

    let missing = some_rows();
    std::fs::remove_file(&missing.path).unwrap();

    let texts: Vec<String> = [truncated, damaged, encrypted, empty, missing]
        .iter()
        .map(|file| file.plain(&file.audit(&[]).unwrap_err().to_string()))
        .collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn rows_that_are_still_in_the_wal_are_read() {
    let file = File::new("PRAGMA journal_mode = wal; CREATE TABLE t(a INT)");
    // The writer stays open, so nothing is checkpointed.
    let writer = file.connection();
    writer.execute_batch("INSERT INTO t VALUES (1), (2)").unwrap();
    let report = file.audit(&[]).unwrap();
    assert_eq!(report.tables[0].rows, 2);
    drop(writer);
}

/// A copy of a file and its journal, taken in the middle of a transaction, as a crash leaves them.
fn with_hot_journal() -> File {
    let (file, crashed) = (some_rows(), File::new("SELECT 1"));
    let writer = file.connection();
    writer
        .execute_batch("PRAGMA cache_size = 2; BEGIN; UPDATE t SET body = 'never committed'")
        .unwrap();
    let journal = |path: &std::path::Path| format!("{}-journal", path.display());
    std::fs::copy(&file.path, &crashed.path).unwrap();
    std::fs::copy(journal(&file.path), journal(&crashed.path)).unwrap();
    crashed
}

#[test]
fn a_hot_journal_is_named_with_the_way_out() {
    let crashed = with_hot_journal();
    let error = crashed.audit(&[]).unwrap_err().to_string();
    assert!(error.contains("in the middle of a transaction"), "{error}");
    // Opened once for writing it is unchanged since before that transaction.
    crashed.run("SELECT count(*) FROM t");
    let report = crashed.audit(&[]).unwrap();
    assert_eq!((report.tables[0].rows, report.tables[0].columns[1].profile.texts), (5000, 5000));
}

#[test]
fn a_read_only_medium_is_read_unless_the_wal_forbids_it() {
    let Some(disk) = SmallDisk::new() else { return };
    let on_disk = |script: &str, name: &str| {
        let mut file = File::new(script);
        let path = disk.path().join(name);
        std::fs::copy(&file.path, &path).unwrap();
        file.path = path;
        file
    };
    let plain = on_disk("CREATE TABLE t(a INT); INSERT INTO t VALUES (1)", "plain.db");
    let wal = on_disk("PRAGMA journal_mode = wal; CREATE TABLE t(a INT)", "wal.db");
    assert!(disk.mount("remount,ro"));
    assert_eq!(plain.audit(&[]).unwrap().tables[0].rows, 1);
    let error = wal.audit(&[]).unwrap_err().to_string();
    assert!(error.contains("its folder cannot be written; copy the file"), "{error}");
}

#[test]
fn a_file_without_tables_has_nothing_to_refuse() {
    let file = File::new("CREATE VIEW v AS SELECT 1");
    let report = file.audit(&[]).unwrap();
    assert!(!report.blocks() && report.tables.is_empty());
}

#[tokio::test]
async fn a_server_without_an_answer_is_one_clear_line() {
    let file = some_rows();
    let url = "postgresql://nobody@127.0.0.1:9/x?connect_timeout=2".parse().unwrap();
    let (progress, stop) = (indicatif::ProgressBar::hidden(), AtomicBool::new(false));
    let error = migrate::migrate(&file.path, &url, &data_only(), &progress, &stop).await;
    let text = error.unwrap_err().to_string();
    assert!(text.contains("connection refused") && !text.contains('\n'), "{text}");
}

#[tokio::test]
async fn a_target_that_is_not_utf_8_is_refused() {
    let (file, target) = (some_rows(), Target::new().await);
    let name = format!("{}_latin1", target.url.database().unwrap());
    target
        .run(&format!(
            "CREATE DATABASE {name} ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' \
             LC_CTYPE 'C'"
        ))
        .await;
    let url = target.url.with_database(&name);
    let (progress, stop) = (indicatif::ProgressBar::hidden(), AtomicBool::new(false));
    let options = MigrateOptions::default();
    let error = migrate::migrate(&file.path, &url, &options, &progress, &stop).await.unwrap_err();
    assert!(error.to_string().contains("has the encoding LATIN1: make one with UTF8"), "{error}");
}

#[tokio::test]
async fn a_database_is_created_in_utf_8_without_template1() {
    let target = Target::new().await;
    let name = format!("{}_made", target.url.database().unwrap());
    let url = target.url.with_database(&name);
    // A database with open sessions cannot be copied.
    let _somebody = connect::postgres::connect(&target.url.with_database("template1")).await;
    let not = AtomicBool::new(false);
    assert!(migrate::create_database(&url, &not).await.unwrap());
    let encoding = format!(
        "SELECT pg_encoding_to_char(encoding)::text FROM pg_database WHERE datname = '{name}'"
    );
    assert_eq!(target.texts(&encoding).await, ["UTF8"]);
    migrate::drop_database(&url, &AtomicBool::new(false)).await.unwrap();
    assert!(migrate::create_database(&url, &not).await.unwrap(), "it was dropped");
}

#[tokio::test]
async fn a_target_without_rights_is_left_alone() {
    let (file, target) = (some_rows(), Target::new().await);
    target
        .run(
            "DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN; \
             REVOKE CREATE ON SCHEMA public FROM public",
        )
        .await;
    let before = target.structure().await;
    let url = target.url.expose().replacen("postgres@", "stranger@", 1);
    let url = url.parse().unwrap();
    let (progress, stop) = (indicatif::ProgressBar::hidden(), AtomicBool::new(false));
    let options = MigrateOptions::default();
    let error = migrate::migrate(&file.path, &url, &options, &progress, &stop).await.unwrap_err();
    assert!(error.to_string().contains("permission denied"), "{error}");
    assert_eq!(target.structure().await, before);
}

#[tokio::test]
async fn a_full_disk_under_the_reject_file_changes_no_target() {
    let Some(disk) = SmallDisk::new() else { return };
    let target = Target::new().await;
    target.run("CREATE TABLE t(id int PRIMARY KEY, body varchar(5))").await;
    let before = target.structure().await;
    // More than fits, which is noticed on the way; a few bytes where none are left, at the end.
    for (rows, bytes) in [(5000, 10_000), (3, 10)] {
        let file = File::new(&format!(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT); \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) \
             INSERT INTO t SELECT i, hex(zeroblob({bytes} / 2)) FROM n"
        ));
        let rejects = disk.path().join("rejects.jsonl");
        let options = MigrateOptions { reject_file: Some(rejects.clone()), ..data_only() };
        let error = target.migrate(&file, &options).await.unwrap_err().to_string();
        assert!(error.contains("rejects.jsonl: No space left on device"), "{error}");
        assert_eq!(target.structure().await, before);
        assert_eq!(target.texts("SELECT count(*)::text FROM t").await, ["0"]);
        assert_eq!(migrate::unfinished(&target.url).await.unwrap(), None);
        let left = std::fs::read_dir(disk.path()).unwrap();
        assert!(left.flatten().all(|entry| entry.file_name() == "filler"), "only what fills it");
        // The rest of the disk is filled for the second turn.
        let mut filler = std::fs::File::create(disk.path().join("filler")).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
    }
}

/// A page that lacks some of its rows is read without an error.
#[tokio::test]
async fn rows_that_a_damaged_page_hides_are_not_lost_in_silence() {
    let file = File::new(
        "PRAGMA page_size = 1024; CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) \
         INSERT INTO t SELECT i, 'row ' || i FROM n",
    );
    let mut bytes = std::fs::read(&file.path).unwrap();
    let is_leaf = |page: &usize| bytes[page * 1024] == 13;
    let leaf = (1..bytes.len() / 1024).find(is_leaf).unwrap() * 1024;
    // The number of its cells.
    bytes[leaf + 4] -= 3;
    std::fs::write(&file.path, &bytes).unwrap();
    let rows: i64 =
        file.connection().query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
    assert!(rows < 500);
    let target = Target::new().await;
    for options in [MigrateOptions::default(), data_only()] {
        target.run("DROP TABLE IF EXISTS t; CREATE TABLE t(id bigint PRIMARY KEY, a text)").await;
        let error = target.migrate(&file, &options).await.unwrap_err().to_string();
        assert!(error.contains("damaged") && error.contains(".recover"), "{error}");
    }
}
