//! Reject files loaded again: no row is doubled, and messages name the source's rows.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::{Error, MigrateOptions};

use crate::commit::by_a_bad_way;
use crate::reject::{load, reject_file, rejecting};
use crate::support::{File, Target, data_only};

/// Tables without a key; two rows of each are refused.
fn keyless() -> File {
    File::new(
        "CREATE TABLE note(a INT, b TEXT, c TEXT); \
         INSERT INTO note(rowid, a, b, c) VALUES (5, 1, 'x', NULL), (70, 'one', NULL, 'y'), \
             (90, 'two', '', NULL); \
         CREATE TABLE tag(code TEXT, n INT, PRIMARY KEY (code)) WITHOUT ROWID; \
         INSERT INTO tag VALUES ('k', 1), ('l', 'zero'), ('m', 'zero')",
    )
}

const TABLES: &str = "CREATE TABLE note(a int, b text, c json); CREATE TABLE tag(code text, n int)";

/// Moves the rows that fit, and repairs the others.
async fn repaired() -> (File, Target) {
    let (file, target) = (keyless(), Target::new().await);
    target.run(TABLES).await;
    file.run("UPDATE note SET c = '[ 1]' WHERE c IS NOT NULL");
    let report = target.migrate(&file, &rejecting(&file)).await.unwrap();
    assert_eq!(report.rejected_rows, 4);
    let text = std::fs::read_to_string(reject_file(&file)).unwrap();
    let text = text.replace("\"a\":\"one\"", "\"a\":11").replace("\"a\":\"two\"", "\"a\":12");
    let text = text.replace("\"n\":\"zero\"", "\"n\":0");
    std::fs::write(reject_file(&file), text).unwrap();
    (file, target)
}

async fn counts(target: &Target) -> Vec<String> {
    target.texts("SELECT (SELECT count(*) FROM note) || ' ' || (SELECT count(*) FROM tag)").await
}

#[tokio::test]
async fn a_second_load_is_refused_where_no_key_would_refuse_it() {
    let (file, target) = repaired().await;
    load(&target, &file).await.unwrap();
    assert_eq!(counts(&target).await, ["3 3"]);
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("note, rowid 70, rowid 90; tag, code \"l\", code \"m\""), "{error}");
    assert!(error.contains("are in the target already"), "{error}");
    assert_eq!(counts(&target).await, ["3 3"]);

    // Some of its rows among others, in another file.
    let whole = std::fs::read_to_string(reject_file(&file)).unwrap();
    let (first, rest) = whole.split_once('\n').unwrap();
    std::fs::write(reject_file(&file), format!("{}\n{rest}", first.replace("11", "13"))).unwrap();
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("note, rowid 90;"), "{error}");
    assert_eq!(counts(&target).await, ["3 3"]);

    let options = MigrateOptions { add_again: true, ..MigrateOptions::default() };
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let path = reject_file(&file);
    migrate::load_rejects(&path, &target.url, &options, &progress, &interrupted).await.unwrap();
    assert_eq!(counts(&target).await, ["5 5"]);
}

#[tokio::test]
async fn equal_rows_of_one_file_are_all_loaded_once() {
    let (file, target) = (File::new("CREATE TABLE t(a INT)"), Target::new().await);
    target.run("CREATE TABLE t(a int, id serial PRIMARY KEY)").await;
    file.run("INSERT INTO t VALUES ('x'), ('x')");
    target.migrate(&file, &rejecting(&file)).await.unwrap();
    let text = std::fs::read_to_string(reject_file(&file)).unwrap();
    std::fs::write(reject_file(&file), text.replace("\"a\":\"x\"", "\"a\":7")).unwrap();
    load(&target, &file).await.unwrap();
    // The target's own key would not keep a second pair out.
    load(&target, &file).await.unwrap_err();
    assert_eq!(target.texts("SELECT a::text FROM t").await, ["7", "7"]);
}

#[tokio::test]
async fn a_second_load_after_an_unanswered_commit_doubles_nothing() {
    let (file, target) = repaired().await;
    let url = by_a_bad_way(&target).await;
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let (path, options) = (reject_file(&file), MigrateOptions::default());
    let error = migrate::load_rejects(&path, &url, &options, &progress, &interrupted).await;
    assert!(matches!(error, Err(Error::CommitUnknown { .. })), "{error:?}");
    assert_eq!(counts(&target).await, ["3 3"]);
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("are in the target already"), "{error}");
    assert_eq!(counts(&target).await, ["3 3"]);
}

#[tokio::test]
async fn rows_have_the_names_that_they_had_in_the_source() {
    let (file, target) = (keyless(), Target::new().await);
    target
        .run("CREATE TABLE note(a int, b text, c text); CREATE TABLE tag(code text, n int)")
        .await;
    let options = MigrateOptions { reject_file: Some(reject_file(&file)), ..data_only() };
    target.migrate(&file, &options).await.unwrap();
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("note, rowid 70, column a: \"one\""), "{error}");

    let whole = std::fs::read_to_string(reject_file(&file)).unwrap();
    let of_tag: Vec<&str> = whole.lines().filter(|line| line.contains("zero")).collect();
    std::fs::write(reject_file(&file), of_tag[1]).unwrap();
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("tag, code \"m\", column n: \"zero\""), "{error}");

    std::fs::write(reject_file(&file), of_tag[1].replace("\"zero\"", "[1]")).unwrap();
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("tag, code \"m\", column n: [1] is not a value"), "{error}");

    // Refusals of the server, too.
    target.run("ALTER TABLE tag ADD CHECK (n <> 4)").await;
    std::fs::write(reject_file(&file), of_tag[1].replace("\"zero\"", "4")).unwrap();
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("tag, code \"m\""), "{error}");
}

#[tokio::test]
async fn a_column_that_all_rows_of_the_file_lack_is_named() {
    let (file, target) = repaired().await;
    let whole = std::fs::read_to_string(reject_file(&file)).unwrap();
    let lacking = whole.replace(",\"c\":\"[ 1]\"", "").replace(",\"c\":null", "");
    assert!(!lacking.contains("\"c\":"), "{lacking}");
    std::fs::write(reject_file(&file), lacking).unwrap();
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("note, rowid 70: column c is missing"), "{error}");
    assert_eq!(counts(&target).await, ["1 1"]);
    std::fs::write(reject_file(&file), whole).unwrap();
    load(&target, &file).await.unwrap();
}
