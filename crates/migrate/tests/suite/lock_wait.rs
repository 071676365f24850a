//! Waits for another session's lock: named with the session that holds it, and ended on the server when
//! the user asks to stop.

use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use migrate::{AuditOptions, Error, MigrateOptions, VerifyOptions};

use crate::support::{File, Target, data_only};

/// Runs `waiting`, which must wait for a lock until it is interrupted: at the first look, or after the
/// wait was named. Returns the message.
async fn interrupted<T>(
    target: &Target,
    is_named: bool,
    progress: &ProgressBar,
    stop: &AtomicBool,
    waiting: impl Future<Output = Result<T, Error>>,
) -> String {
    let waits = "SELECT pid::text FROM pg_locks WHERE NOT granted AND database = \
                 (SELECT oid FROM pg_database WHERE datname = current_database())";
    let stopping = async {
        loop {
            let waits = !target.texts(waits).await.is_empty();
            if waits && (!is_named || progress.message().contains("waiting for a lock")) {
                stop.store(true, Ordering::Relaxed);
                return progress.message();
            }
            tokio::task::yield_now().await;
        }
    };
    let (done, message) = tokio::join!(waiting, stopping);
    assert!(matches!(done, Err(Error::Interrupted)));
    assert!(target.texts(waits).await.is_empty(), "the server still waits");
    message
}

#[tokio::test]
async fn an_interruption_ends_the_wait_on_the_server() {
    let file = File::new("CREATE TABLE item(id INTEGER PRIMARY KEY); INSERT INTO item VALUES (1)");
    let target = Target::new().await;
    target.run("CREATE TABLE item(id serial PRIMARY KEY); INSERT INTO item VALUES (1)").await;
    let process = &target.texts("SELECT pg_backend_pid()::text").await[0];
    let held =
        format!("waiting for a lock on item held by server process {process} (user postgres,");
    let replace = MigrateOptions { replace: true, ..data_only() };
    for is_named in [false, true] {
        target.run("BEGIN; LOCK TABLE item").await;
        let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
        let moving = migrate::migrate(&file.path, &target.url, &replace, &progress, &stop);
        let message = interrupted(&target, is_named, &progress, &stop, moving).await;
        assert!(!is_named || message.starts_with(&held), "{message}");

        let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
        let options = VerifyOptions::default();
        let verifying = migrate::verify(&file.path, &target.url, &options, &progress, &stop);
        let message = interrupted(&target, is_named, &progress, &stop, verifying).await;
        assert!(!is_named || message.starts_with(&held), "{message}");

        let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
        let (options, url) = (AuditOptions::default(), &target.url);
        let asking =
            migrate::audit_target_constraints(&file.path, url, &options, None, &progress, &stop);
        let message = interrupted(&target, is_named, &progress, &stop, asking).await;
        assert!(!is_named || message.starts_with(&held), "{message}");
        target.run("ROLLBACK").await;
    }
    assert!(target.verify(&file).await.is_equal());
}

/// Workers are kept out until the table that the last transaction drops is held.
#[tokio::test]
async fn the_last_transaction_names_its_wait_and_can_be_resumed() {
    let file = File::new("CREATE TABLE item(id INTEGER PRIMARY KEY); INSERT INTO item VALUES (1)");
    let target = Target::new().await;
    target.run("CREATE TABLE item(id int PRIMARY KEY)").await;
    let replace = MigrateOptions { replace: true, ..MigrateOptions::default() };
    let workers = format!("({}, 2)", i32::from_be_bytes(*b"Cros"));
    let waits = "SELECT pid::text FROM pg_locks WHERE NOT granted AND database = \
                 (SELECT oid FROM pg_database WHERE datname = current_database())";
    let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
    target.run(&format!("SELECT pg_advisory_lock{workers}")).await;
    let moving = migrate::migrate(&file.path, &target.url, &replace, &progress, &stop);
    let holding = async {
        while target.texts(waits).await.is_empty() {
            tokio::task::yield_now().await;
        }
        target.run("BEGIN; LOCK TABLE item IN ACCESS SHARE MODE").await;
        target.run(&format!("SELECT pg_advisory_unlock{workers}")).await;
        while !progress.message().starts_with("waiting for a lock on item held by") {
            tokio::task::yield_now().await;
        }
        stop.store(true, Ordering::Relaxed);
    };
    let (moved, ()) = tokio::join!(moving, holding);
    let error = moved.unwrap_err().to_string();
    assert!(error.contains("--resume continues"), "{error}");
    assert!(target.texts(waits).await.is_empty(), "the server still waits");
    target.run("ROLLBACK").await;
    target.migrate(&file, &MigrateOptions { resume: true, ..replace }).await.unwrap();
    assert!(target.verify(&file).await.is_equal());
}

/// The expression of a generated column is read under a lock on its table.
#[tokio::test]
async fn the_catalog_is_not_waited_for_without_limit() {
    let Some(target) = Target::since(12).await else { return };
    target.run("CREATE TABLE item(id int, twice int GENERATED ALWAYS AS (id * 2) STORED)").await;
    target.run("BEGIN; LOCK TABLE item").await;
    let error = migrate::read_catalog(&target.url, None).await.unwrap_err().to_string();
    assert!(error.contains("another session holds a table for more than 10s"), "{error}");
    target.run("ROLLBACK").await;
    assert_eq!(migrate::read_catalog(&target.url, None).await.unwrap().relations.len(), 1);
}
