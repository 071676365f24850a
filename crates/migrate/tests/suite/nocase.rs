//! COLLATE NOCASE by choice: indexes over lower(), columns of citext, or a warning.

use crate::support::{File, Target};
use migrate::MigrateOptions;

fn people() -> File {
    File::new(
        "CREATE TABLE person(name TEXT COLLATE NOCASE PRIMARY KEY, mail TEXT COLLATE NOCASE UNIQUE, \
         nick TEXT); \
         CREATE TABLE pet(id INTEGER PRIMARY KEY, \
         owner TEXT COLLATE NOCASE REFERENCES person(name)); \
         CREATE INDEX by_nick ON person(nick COLLATE NOCASE); \
         CREATE UNIQUE INDEX one ON pet(owner) WHERE owner > 'B'; \
         INSERT INTO person VALUES ('Ada', 'a@x', 'É'), ('Bo', 'É', 'é'); \
         INSERT INTO pet VALUES (1, 'Bo')",
    )
}

async fn is_taken(target: &Target, insert: &str) -> bool {
    match target.client.batch_execute(insert).await {
        Ok(()) => true,
        Err(error) => {
            let violation = tokio_postgres::error::SqlState::UNIQUE_VIOLATION;
            assert_eq!(error.code(), Some(&violation), "{error}");
            false
        }
    }
}

#[tokio::test]
async fn keys_under_nocase_become_indexes_over_lower() {
    let (file, target) = (people(), Target::new().await);
    let nocase = migrate::NocaseRule::Index;
    let options = MigrateOptions { nocase, ..MigrateOptions::default() };
    let report = target.migrate(&file, &options).await.unwrap();
    let lost: Vec<&str> = report.findings.iter().map(|each| each.kind).collect();
    assert!(!lost.contains(&"weaker_uniqueness") && !lost.contains(&"index_collation"), "{lost:?}");
    assert!(!is_taken(&target, "INSERT INTO person VALUES ('ADA', 'b', NULL)").await);
    assert!(!is_taken(&target, "INSERT INTO person VALUES ('c', 'A@X', NULL)").await);
    assert!(!is_taken(&target, "INSERT INTO pet SELECT 2, 'Bo'").await);
    // SQLite knows the case of ASCII alone.
    assert!(is_taken(&target, "INSERT INTO person VALUES ('c', 'é', NULL)").await);
    let index = target.texts("SELECT pg_get_indexdef('by_nick'::regclass)").await;
    assert!(index[0].ends_with("(lower((nick COLLATE \"C\")))"), "{index:?}");
}

#[tokio::test]
async fn columns_under_nocase_become_citext_if_the_target_has_it() {
    let (file, target) = (people(), Target::new().await);
    let nocase = migrate::NocaseRule::Citext;
    let options = MigrateOptions { nocase, ..MigrateOptions::default() };
    let error = target.migrate(&file, &options).await.unwrap_err().to_string();
    let remedy = "CREATE EXTENSION citext";
    assert!(error.contains(&format!("run there: {remedy}")), "{error}");
    target.run(remedy).await;
    let report = target.migrate(&file, &options).await.unwrap();
    let lost: Vec<&str> = report.findings.iter().map(|each| each.kind).collect();
    assert!(!lost.contains(&"weaker_uniqueness"), "{lost:?}");
    assert!(!is_taken(&target, "INSERT INTO person VALUES ('ADA', 'b', NULL)").await);
    assert!(is_taken(&target, "INSERT INTO pet VALUES (2, 'ada')").await, "foreign keys too");
    // citext may know the case of these.
    file.run("INSERT INTO person VALUES ('é', NULL, NULL), ('É', NULL, NULL)");
    let replace = MigrateOptions { replace: true, ..options };
    let error = target.migrate(&file, &replace).await.unwrap_err().to_string();
    assert!(error.contains("only in the case of letters beyond ASCII"), "{error}");
}

#[tokio::test]
async fn older_releases_are_told_what_they_lack() {
    let file = File::new(
        "CREATE TABLE t(a TEXT CHECK (json_valid(a)), size INT AS (length(a))); \
         INSERT INTO t(a) VALUES ('{}')",
    );
    for (release, lost) in [
        ("14", &["check_not_carried_over"][..]),
        ("9.6", &["check_not_carried_over", "generated_column"]),
    ] {
        let target = Target::release(release).await;
        let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
        let kinds: Vec<&str> = report.findings.iter().map(|each| each.kind).collect();
        assert_eq!(
            kinds.iter().filter(|kind| lost.contains(kind)).count(),
            lost.len(),
            "{kinds:?}"
        );
        assert!(!kinds.contains(&"generated_column") || release == "9.6");
    }
}
