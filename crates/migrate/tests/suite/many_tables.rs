//! Thousands of tables: PostgreSQL keeps a lock on each until the transaction ends.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::{Error, MigrateOptions, VerificationReport, VerifyOptions};

use crate::support::{File, Target, data_only};

/// Enough for a server with few locks to have no room, and for an audit to warn.
const TABLES: u32 = 600;

/// Tables with a key, a text and an index.
fn many() -> File {
    let tables = (0..TABLES).map(|number| {
        format!(
            "CREATE TABLE t{number}(id INTEGER PRIMARY KEY, name TEXT); \
             CREATE INDEX i{number} ON t{number}(name); INSERT INTO t{number} VALUES (1, 'a');"
        )
    });
    File::new(&format!("BEGIN; {} COMMIT", tables.collect::<String>()))
}

async fn verify(file: &File, target: &Target) -> Result<VerificationReport, Error> {
    let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
    let options = VerifyOptions::default();
    migrate::verify(&file.path, &target.url, &options, &progress, &stop).await
}

/// The number that a message asks the server to be given.
fn asked(error: &Error) -> u32 {
    let text = error.to_string();
    let (_, after) = text.split_once("ALTER SYSTEM SET max_locks_per_transaction = ").unwrap();
    after.split(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn too_few_locks_fail_early_and_the_named_number_suffices() {
    let file = many();
    let report = file.audit(&[]).unwrap();
    let warned = report.findings.iter().find(|each| each.kind == "many_tables").unwrap();
    assert!(warned.message.starts_with("600 tables take about 9,100 locks"), "{warned}");
    assert!(!report.blocks());
    let few = ("max_locks_per_transaction".to_owned(), "12".to_owned());
    let target = Target::with_settings(vec![few]).await;
    let before = target.structure().await;
    let error = target.migrate(&file, &MigrateOptions::default()).await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("600 tables take about 9,100 locks in one transaction"), "{text}");
    assert_eq!(target.structure().await, before);

    let locks = ("max_locks_per_transaction".to_owned(), asked(&error).to_string());
    let roomy = Target::with_settings(vec![locks]).await;
    roomy.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert!(verify(&file, &roomy).await.unwrap().is_equal());

    // Tables that exist need room too.
    for chunk in 0..TABLES / 100 {
        let numbers = chunk * 100..(chunk + 1) * 100;
        let tables = numbers
            .map(|number| format!("CREATE TABLE t{number}(id bigint PRIMARY KEY, name text);"));
        target.run(&tables.collect::<String>()).await;
    }
    let error = target.migrate(&file, &data_only()).await.unwrap_err();
    assert!(error.to_string().starts_with("600 tables take about 2,500 locks"), "{error}");
    // Reading takes fewer.
    assert!(!verify(&file, &target).await.unwrap().is_equal());
}
