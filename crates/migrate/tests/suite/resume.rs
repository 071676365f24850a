//! Interrupted migrations: the target is unchanged, or the next run continues to the same result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use migrate::{Error, MigrateOptions, MigrationReport};

use crate::support::{File, SmallDisk, Target, data_only};

/// 200,000 rows in many parts, with a key, indexes and a foreign key to come after them.
fn many_rows() -> File {
    File::new(
        "CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT UNIQUE); \
         CREATE TABLE item(id INTEGER PRIMARY KEY, kind_id INT NOT NULL REFERENCES kind, \
             body TEXT); \
         CREATE INDEX item_kind ON item(kind_id); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) \
         INSERT INTO kind SELECT i, 'kind ' || i FROM n; \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) \
         INSERT INTO item SELECT i, 1 + i % 50, hex(i) FROM n",
    )
}

/// The same tables as an ORM makes them.
const TABLES: &str = "\
    CREATE TABLE kind(id serial PRIMARY KEY, name text CONSTRAINT names UNIQUE DEFERRABLE); \
    CREATE TABLE item(id bigserial PRIMARY KEY, kind_id int NOT NULL REFERENCES kind, \
        body text); \
    CREATE INDEX item_kind ON item(kind_id)";

fn in_parts(options: MigrateOptions) -> MigrateOptions {
    MigrateOptions { part_bytes: 100_000, reconnects: 0, ..options }
}

fn resuming(options: MigrateOptions) -> MigrateOptions {
    MigrateOptions { resume: true, ..in_parts(options) }
}

/// Migrates and asks to stop as soon as `rows` have gone by, in whatever pass.
async fn stopped_after(
    target: &Target,
    file: &File,
    options: &MigrateOptions,
    rows: u64,
) -> Result<MigrationReport, Error> {
    let progress = ProgressBar::hidden();
    let interrupted = Arc::new(AtomicBool::new(false));
    let stopper = std::thread::spawn({
        let (progress, interrupted) = (progress.clone(), interrupted.clone());
        move || {
            while progress.position() < rows && !progress.is_finished() {
                std::thread::yield_now();
            }
            interrupted.store(true, Ordering::Relaxed);
        }
    });
    let result = migrate::migrate(&file.path, &target.url, options, &progress, &interrupted).await;
    progress.finish();
    stopper.join().unwrap();
    result
}

/// Migrates while the server ends all connections of the migration in the middle of its steps: none
/// can be marked as done while the list of steps is locked.
async fn cut_off(
    target: &Target,
    file: &File,
    options: &MigrateOptions,
) -> Result<MigrationReport, Error> {
    let cutting = async {
        let lock = "BEGIN; LOCK TABLE crossover_migration.crossover_step IN SHARE MODE";
        while target.client.batch_execute(lock).await.is_err() {
            target.run("ROLLBACK").await;
        }
        target
            .run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE datname = current_database() AND pid <> pg_backend_pid(); COMMIT",
            )
            .await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        result = target.migrate(file, options) => result,
        () = cutting => unreachable!(),
    }
}

async fn abandon(target: &Target) -> Result<migrate::Unfinished, Error> {
    migrate::abandon(&target.url, &ProgressBar::hidden(), &AtomicBool::new(false)).await
}

/// The structure without the staging schema.
async fn outside(target: &Target) -> Vec<String> {
    let all = target.structure().await.into_iter();
    all.filter(|line| !line.starts_with("crossover_migration")).collect()
}

#[tokio::test]
async fn a_migration_stopped_anywhere_resumes() {
    let (file, target) = (many_rows(), Target::new().await);
    let before = target.structure().await;
    let options = in_parts(MigrateOptions::default());
    // While the types are chosen nothing is there yet.
    let stopped = stopped_after(&target, &file, &options, 1).await;
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert_eq!(target.structure().await, before);

    // While rows are loaded, and again while both sides are compared.
    let error = stopped_after(&target, &file, &options, 220_000).await.unwrap_err();
    let Error::CutOff { unfinished, .. } = &error else { panic!("{error}") };
    assert!(unfinished.steps_done > 0 && unfinished.steps_done < unfinished.steps);
    assert_eq!(outside(&target).await, before);

    // Every command reports it.
    let error = target.migrate(&file, &options).await.unwrap_err();
    assert!(matches!(&error, Error::Unfinished(found) if found == unfinished), "{error}");
    assert_eq!(migrate::unfinished(&target.url).await.unwrap().as_ref(), Some(unfinished));

    let other = MigrateOptions { verify: false, ..resuming(MigrateOptions::default()) };
    let error = target.migrate(&file, &other).await.unwrap_err().to_string();
    assert!(error.contains("began with other options (verify)"), "{error}");

    let report = target.migrate(&file, &resuming(MigrateOptions::default())).await.unwrap();
    assert_eq!(report.steps_done_before, unfinished.steps_done);
    assert!(report.verification.unwrap().is_equal());
    assert_eq!(migrate::unfinished(&target.url).await.unwrap(), None);
    let straight = Target::new().await;
    straight.migrate(&file, &options).await.unwrap();
    assert_eq!(target.structure().await, straight.structure().await);
    assert_eq!(target.texts("SELECT count(*)::text FROM item").await, ["200000"]);
}

#[tokio::test]
async fn an_abandoned_migration_leaves_nothing() {
    let (file, target) = (many_rows(), Target::new().await);
    let before = target.structure().await;
    let error = abandon(&target).await.unwrap_err().to_string();
    assert!(error.contains("no unfinished migration"), "{error}");
    let options = in_parts(MigrateOptions::default());
    stopped_after(&target, &file, &options, 220_000).await.unwrap_err();
    let put_back = abandon(&target).await.unwrap();
    assert_eq!(put_back.source, file.path);
    assert_eq!(target.structure().await, before);
}

#[tokio::test]
async fn existing_tables_get_their_keys_back_after_a_clean_stop() {
    let (file, target) = (many_rows(), Target::new().await);
    target.run(TABLES).await;
    let before = target.structure().await;
    let options = in_parts(data_only());
    let stopped = stopped_after(&target, &file, &options, 100_000).await;
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert_eq!(target.structure().await, before);
    assert_eq!(target.texts("SELECT count(*)::text FROM item").await, ["0"]);
    // Nothing is left to resume: it starts again.
    let report = target.migrate(&file, &resuming(data_only())).await.unwrap();
    assert_eq!(report.steps_done_before, 0);
    assert_eq!(target.structure().await, before);
}

#[tokio::test]
async fn a_lost_connection_can_be_resumed_or_abandoned() {
    let (file, target) = (many_rows(), Target::new().await);
    for options in [MigrateOptions::default(), data_only()] {
        if options.data_only {
            target.run(&format!("DROP TABLE IF EXISTS item, kind; {TABLES}")).await;
        }
        let before = target.structure().await;
        for resumed in [false, true] {
            let cut = cut_off(&target, &file, &in_parts(options.clone())).await;
            let error = cut.unwrap_err();
            assert!(matches!(error, Error::CutOff { .. }), "{error}");
            assert!(error.to_string().contains("--resume"), "{error}");
            if resumed {
                let report = target.migrate(&file, &resuming(options.clone())).await.unwrap();
                assert!(report.verification.unwrap().is_equal());
                assert!(target.verify(&file).await.is_equal());
            } else {
                abandon(&target).await.unwrap();
                assert_eq!(target.structure().await, before);
            }
        }
        if options.data_only {
            assert_eq!(target.structure().await, before);
        }
    }
}

#[tokio::test]
async fn a_source_that_changed_since_is_noticed() {
    let (file, target) = (many_rows(), Target::new().await);
    let options = in_parts(MigrateOptions::default());
    cut_off(&target, &file, &options).await.unwrap_err();
    file.run("UPDATE item SET body = 'other' WHERE id = 1");
    let error = target.migrate(&file, &resuming(MigrateOptions::default())).await.unwrap_err();
    assert!(matches!(error, Error::SourceChanged { .. }), "{error}");
    abandon(&target).await.unwrap();

    // A program that writes in WAL mode goes on, and the report says so.
    file.run("PRAGMA journal_mode = wal");
    let progress = ProgressBar::hidden();
    let interrupted = AtomicBool::new(false);
    let moving = migrate::migrate(&file.path, &target.url, &options, &progress, &interrupted);
    let writing = async {
        while progress.position() < 250_000 {
            tokio::task::yield_now().await;
        }
        file.run("INSERT INTO item VALUES (900000, 1, 'late')");
    };
    let (report, ()) = tokio::join!(moving, writing);
    let report = report.unwrap();
    assert!(report.verification.unwrap().is_equal());
    assert!(report.after_commit[0].contains("was changed while it was read"));
    assert_eq!(target.texts("SELECT count(*)::text FROM item").await, ["200000"]);
}

#[tokio::test]
async fn one_program_at_a_time_migrates() {
    let (file, target) = (many_rows(), Target::new().await);
    // As another crossover holds it.
    target.run("SELECT pg_advisory_lock(1131573107, 1)").await;
    let error = target.migrate(&file, &MigrateOptions::default()).await.unwrap_err().to_string();
    assert!(error.contains("another crossover migrates into this database"), "{error}");
}

#[tokio::test]
async fn a_full_disk_can_be_emptied_and_the_migration_resumed() {
    let Some(disk) = SmallDisk::new() else { return };
    let file = File::new(
        "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) \
         INSERT INTO kv SELECT i, randomblob(10000) FROM n",
    );
    let target = Target::release("18").await;
    let name = target.url.database().unwrap().to_owned();
    let place = disk.path().join("tablespace");
    std::fs::create_dir(&place).unwrap();
    // The server's account has to own it.
    let owner = target.texts("SHOW data_directory").await;
    let mut chown = std::process::Command::new("chown");
    chown.arg(format!("--reference={}", owner[0])).arg(&place);
    assert!(chown.status().unwrap().success());
    target.run(&format!("CREATE TABLESPACE small LOCATION '{}'", place.display())).await;
    target.run(&format!("CREATE DATABASE {name}_small TABLESPACE small")).await;
    let url = target.url.with_database(&format!("{name}_small"));
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let options = MigrateOptions { part_bytes: 2_000_000, ..MigrateOptions::default() };
    let error = migrate::migrate(&file.path, &url, &options, &progress, &interrupted).await;
    let error = error.unwrap_err();
    let Error::CutOff { unfinished, .. } = &error else { panic!("{error}") };
    assert!(error.to_string().contains("No space left on device"), "{error}");
    assert!(unfinished.steps_done > 0);

    assert!(disk.mount("remount,size=200m"));
    let options = MigrateOptions { resume: true, ..options };
    let report = migrate::migrate(&file.path, &url, &options, &progress, &interrupted).await;
    let report = report.unwrap();
    assert_eq!(report.steps_done_before, unfinished.steps_done);
    assert!(report.verification.unwrap().is_equal());
}

#[tokio::test]
async fn rejects_are_the_same_after_an_interruption() {
    let (file, target) = (many_rows(), Target::new().await);
    target.run(TABLES).await;
    target
        .run(
            "ALTER TABLE item ADD CONSTRAINT odd CHECK (id <> 77); \
             CREATE UNIQUE INDEX once ON item (upper(body)) WHERE id > 199998; \
             ALTER TABLE kind ADD CONSTRAINT kinds CHECK (id <> 50)",
        )
        .await;
    file.run(
        "UPDATE item SET body = 'Same' WHERE id = 199999; \
              UPDATE item SET body = 'same' WHERE id = 200000",
    );
    let before = target.structure().await;
    let reject_file = file.path.with_file_name("rejects.jsonl");
    let options = MigrateOptions { reject_file: Some(reject_file.clone()), ..data_only() };
    cut_off(&target, &file, &in_parts(options.clone())).await.unwrap_err();
    assert!(!reject_file.exists());
    let report = target.migrate(&file, &resuming(options)).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    assert_eq!(target.structure().await, before);
    // Kind 50, the 4,000 items of that kind (one of the two last among them, which leaves its key
    // to the other), item 77.
    assert_eq!(report.rejected_rows, 1 + 4_000 + 1);
    let text = std::fs::read_to_string(reject_file).unwrap();
    assert_eq!(text.lines().count(), 4_002);
    assert_eq!(target.texts("SELECT count(*)::text FROM item").await, ["195999"]);
}

#[tokio::test]
async fn conversions_are_counted_alike_after_an_interruption() {
    let (file, target) = (many_rows(), Target::new().await);
    file.run("ALTER TABLE item ADD at TEXT; UPDATE item SET at = '2021-03-04 05:06:07.1234567'");
    target.run(&format!("{TABLES}; ALTER TABLE item ADD at timestamp(3)")).await;
    cut_off(&target, &file, &in_parts(data_only())).await.unwrap_err();
    let report = target.migrate(&file, &resuming(data_only())).await.unwrap();
    let found: Vec<u64> = report
        .findings
        .iter()
        .filter(|finding| finding.kind == "second_rounded")
        .map(|finding| finding.count)
        .collect();
    assert_eq!(found, [200_000]);
    let verified = target.verify(&file).await;
    assert!(verified.is_equal() && verified.tables[0].conversions[0].count == 200_000);
    let values = "SELECT DISTINCT at::text FROM item";
    assert_eq!(target.texts(values).await, ["2021-03-04 05:06:07.123"]);
}
