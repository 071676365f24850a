//! Connections lost during the copy: replaced, with finished steps kept, and never reported as a
//! bad row.

use migrate::{Error, MigrateOptions, MigrationReport, TextOptions};

use crate::reject::{load, reject_file, rejecting};
use crate::support::{File, Target, data_only};

fn rows() -> File {
    File::new(
        "CREATE TABLE item(id INTEGER PRIMARY KEY, body TEXT); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
         INSERT INTO item SELECT i, hex(i) FROM n",
    )
}

/// A table in which row 15000 waits while another session holds the lock 4712.
const TABLE: &str = "
    CREATE TABLE item(id int PRIMARY KEY, body text);
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.id = 15000 THEN PERFORM pg_advisory_xact_lock_shared(4712); END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER wait BEFORE INSERT ON item FOR EACH ROW EXECUTE PROCEDURE wait()";

fn options(reconnects: u32) -> MigrateOptions {
    MigrateOptions { part_bytes: 20_000, reconnects, ..data_only() }
}

/// Migrates; in the middle of a COPY `strike` is run with the server process that copies.
async fn struck<F: Future<Output = ()>>(
    target: &Target,
    table: &str,
    file: &File,
    options: MigrateOptions,
    strike: impl FnOnce(i32) -> F,
) -> Result<MigrationReport, Error> {
    target.run(table).await;
    struck_while(target, target.migrate(file, &options), strike).await
}

/// Runs `strike` with the server process that copies, in the middle of `moving`.
async fn struck_while<F: Future<Output = ()>>(
    target: &Target,
    moving: impl Future<Output = Result<MigrationReport, Error>>,
    strike: impl FnOnce(i32) -> F,
) -> Result<MigrationReport, Error> {
    target.run("SELECT pg_advisory_lock(4712)").await;
    let striking = async {
        // Another test may hold the same lock in its database on the same server.
        let waits = "SELECT pid::text FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
                     AND objid = 4712 AND database = (SELECT oid FROM pg_database \
                     WHERE datname = current_database())";
        loop {
            if let [process] = &target.texts(waits).await[..] {
                break strike(process.parse().unwrap()).await;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(moving, striking).0
}

/// Ends the session of the server process that copies.
fn end(process: i32) -> String {
    format!("SELECT pg_terminate_backend({process}), pg_advisory_unlock(4712)")
}

#[tokio::test]
async fn a_session_ended_during_a_copy_is_replaced() {
    let (file, target) = (rows(), Target::new().await);
    let report = struck(&target, TABLE, &file, options(3), async |process| {
        target.run(&end(process)).await;
    });
    let report = report.await.unwrap();
    assert_eq!(report.reconnects, 1);
    let text = report.to_text(&TextOptions::default());
    assert!(text.contains("the connection was lost once"), "{text}");
    assert!(report.verification.unwrap().is_equal());
    assert_eq!(target.texts("SELECT count(*)::text FROM item").await, ["20000"]);
}

#[tokio::test]
async fn rows_that_are_replaced_in_one_transaction_begin_again() {
    let (file, target) = (rows(), Target::new().await);
    let replacing = MigrateOptions { replace: true, ..options(3) };
    let before = format!("{TABLE}; INSERT INTO item VALUES (7, 'before')");
    let report = struck(&target, &before, &file, replacing, async |process| {
        target.run(&end(process)).await;
    });
    let report = report.await.unwrap();
    assert_eq!(report.reconnects, 1);
    assert!(report.verification.unwrap().is_equal());
    assert_eq!(target.texts("SELECT count(*)::text FROM item").await, ["20000"]);
}

#[tokio::test]
async fn a_trial_on_existing_tables_begins_again() {
    let (file, target) = (rows(), Target::new().await);
    let trial = MigrateOptions { dry_run: true, replace: true, ..options(3) };
    let before = format!("{TABLE}; INSERT INTO item VALUES (7, 'before')");
    let report = struck(&target, &before, &file, trial, async |process| {
        target.run(&end(process)).await;
    });
    let report = report.await.unwrap();
    assert_eq!((report.dry_run, report.reconnects), (true, 1));
    assert!(report.verification.unwrap().is_equal());
    assert_eq!(target.texts("SELECT body FROM item").await, ["before"]);
}

#[tokio::test]
async fn without_an_attempt_left_replaced_rows_are_as_before() {
    let (file, target) = (rows(), Target::new().await);
    let replacing = MigrateOptions { replace: true, ..options(0) };
    let before = format!("{TABLE}; INSERT INTO item VALUES (7, 'before')");
    let error = struck(&target, &before, &file, replacing, async |process| {
        target.run(&end(process)).await;
    });
    let text = error.await.unwrap_err().to_string();
    assert!(text.contains("terminating connection"), "{text}");
    assert_eq!(target.texts("SELECT body FROM item").await, ["before"]);
}

#[tokio::test]
async fn repaired_rows_are_loaded_once_after_a_lost_connection() {
    let (file, target) = (rows(), Target::new().await);
    file.run("ALTER TABLE item ADD n; UPDATE item SET n = 'many' WHERE id = 15000");
    target.run(&format!("{TABLE}; ALTER TABLE item ADD n int")).await;
    target.migrate(&file, &rejecting(&file)).await.unwrap();
    let text = std::fs::read_to_string(reject_file(&file)).unwrap();
    std::fs::write(reject_file(&file), text.replace("\"many\"", "7")).unwrap();
    let report = struck_while(&target, load(&target, &file), async |process| {
        assert_eq!(target.texts("SELECT count(*)::text FROM item").await, ["19999"]);
        target.run(&end(process)).await;
    });
    let report = report.await.unwrap();
    assert_eq!(report.reconnects, 1);
    assert_eq!(target.texts("SELECT count(*)::text FROM item").await, ["20000"]);
    assert_eq!(target.texts("SELECT n::text FROM item WHERE id = 15000").await, ["7"]);
}

#[tokio::test]
async fn a_server_that_crashes_during_a_copy_is_waited_for() {
    let (file, target) = (rows(), Target::release("18").await);
    let report = struck(&target, TABLE, &file, options(10), async |process| {
        let mut kill = std::process::Command::new("kill");
        assert!(kill.args(["-9", &process.to_string()]).status().unwrap().success());
    });
    let report = report.await.unwrap();
    assert!(report.reconnects >= 1);
    assert!(report.verification.unwrap().is_equal());
    assert!(target.verify(&file).await.is_equal());
}

#[tokio::test]
async fn after_the_last_attempt_the_steps_are_kept_for_resume() {
    let (file, target) = (rows(), Target::new().await);
    let name = target.url.database().unwrap().to_owned();
    let beside = connect::postgres::connect(&target.url.with_database("postgres")).await.unwrap();
    let error = struck(&target, TABLE, &file, options(1), async |process| {
        // The server accepts no connection.
        beside
            .batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"))
            .await
            .unwrap();
        target.run(&end(process)).await;
    });
    let error = error.await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("one attempt to connect again failed"), "{text}");
    assert!(text.contains("--resume continues"), "{text}");
    assert!(matches!(error, Error::CutOff { .. }), "{text}");
    beside.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).await.unwrap();
    let resuming = MigrateOptions { resume: true, ..options(0) };
    let report = target.migrate(&file, &resuming).await.unwrap();
    assert!(report.steps_done_before > 0);
    assert!(report.verification.unwrap().is_equal());
}
