//! Refused rows are kept whole, with everything that refers to them, and can be loaded after repair.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::{Error, MigrateOptions};

use crate::audit::as_found;
use crate::support::{File, Target, data_only};

/// The tables that the article's ORM would have made.
const TABLES: &str = "\
    CREATE TABLE articles(id int PRIMARY KEY, uuid uuid NOT NULL UNIQUE, \
        slug varchar(256) NOT NULL, original_id int REFERENCES articles); \
    CREATE TABLE traffic(day int, article_id int REFERENCES articles, pageviews int, \
        PRIMARY KEY(day, article_id))";

fn reject_file(file: &File) -> std::path::PathBuf {
    file.path.with_file_name("rejects.jsonl")
}

fn rejecting(file: &File) -> MigrateOptions {
    MigrateOptions { reject_file: Some(reject_file(file)), ..data_only() }
}

async fn load(target: &Target, file: &File) -> Result<migrate::MigrationReport, Error> {
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let (path, options) = (reject_file(file), MigrateOptions::default());
    migrate::load_rejects(&path, &target.url, &options, &progress, &interrupted).await
}

#[tokio::test]
async fn the_articles_slugs_cost_four_rows_and_those_that_need_them() {
    let (file, target) = (as_found(), Target::new().await);
    // A translation of a refused article, and a translation of that.
    file.run(
        "UPDATE articles SET original_id = 4711 WHERE id = 16; \
         UPDATE articles SET original_id = 16 WHERE id = 24",
    );
    target.run(TABLES).await;
    let before = target.structure().await;
    let report = target.migrate(&file, &rejecting(&file)).await.unwrap();
    assert_eq!(target.structure().await, before);
    assert!(report.verification.unwrap().is_equal());

    let text = std::fs::read_to_string(reject_file(&file)).unwrap();
    let rejects: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids = |table: &str, column: &str| {
        let of_table = rejects.iter().filter(|each| each["table"] == table);
        let mut ids: Vec<i64> =
            of_table.map(|each| each["values"][column].as_i64().unwrap()).collect();
        ids.sort_unstable();
        ids
    };
    let articles = ids("articles", "id");
    for id in [11, 4711, 7044, 7999, 16, 24] {
        assert!(articles.contains(&id), "{articles:?}");
    }
    assert_eq!(ids("traffic", "article_id"), articles, "their traffic stays behind with them");
    assert_eq!(report.rejected_rows, 2 * articles.len() as u64);
    let moved = target.texts("SELECT count(*)::text FROM articles").await;
    assert_eq!(moved, [(8000 - articles.len()).to_string()]);
    insta::assert_snapshot!(text.lines().next().unwrap());

    // A second run does not overwrite the file.
    let replace = MigrateOptions { replace: true, ..rejecting(&file) };
    let error = target.migrate(&file, &replace).await.unwrap_err();
    assert!(error.to_string().contains("exists already"), "{error}");

    // Not repaired, nothing is loaded, and the line is named.
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("articles, rowid 1, column slug"), "{error}");
    assert_eq!(target.texts("SELECT count(*)::text FROM articles").await, moved);

    let zeros = "0".repeat(200);
    std::fs::write(reject_file(&file), text.replace(&zeros, "")).unwrap();
    file.run(&format!("UPDATE articles SET slug = replace(slug, '{zeros}', '')"));
    load(&target, &file).await.unwrap();
    assert!(target.verify(&file).await.is_equal());
}

#[tokio::test]
async fn every_storage_class_survives_the_reject_file() {
    let file = File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c, d, e); \
         INSERT INTO t VALUES (1, x'00ff', 1.0, 9e999, 'ä\"\n', NULL), (2, 1, 2, 3, 'x', 4)",
    );
    let target = Target::new().await;
    target
        .run(
            "CREATE TABLE t(id int, a bytea, b float8, c float8, d varchar(2), e int); \
             INSERT INTO t VALUES (7, NULL, NULL, NULL, NULL, NULL)",
        )
        .await;
    let options = MigrateOptions { replace: true, ..rejecting(&file) };
    target.migrate(&file, &options).await.unwrap();
    assert_eq!(target.texts("SELECT id::text FROM t").await, Vec::<String>::new());
    target
        .run("ALTER TABLE t ALTER COLUMN d TYPE text; ALTER TABLE t ALTER COLUMN a TYPE bytea")
        .await;
    let text = std::fs::read_to_string(reject_file(&file)).unwrap();
    // The second row's blob was an integer.
    let repaired = text.replace("\"a\":1,", "\"a\":{\"blob\":\"31\"},");
    assert_ne!(text, repaired);
    std::fs::write(reject_file(&file), repaired).unwrap();
    load(&target, &file).await.unwrap();
    file.run("UPDATE t SET a = x'31' WHERE id = 2");
    assert!(target.verify(&file).await.is_equal(), "{}", target.verify(&file).await.to_text());
}

#[tokio::test]
async fn a_created_schema_takes_what_fits() {
    let file = as_found();
    file.run("INSERT INTO traffic VALUES (18001, 99999, 1)");
    let target = Target::new().await;
    let options = MigrateOptions {
        rules: crate::support::rules(&["articles.uuid=uuid"]),
        data_only: false,
        ..rejecting(&file)
    };
    let report = target.migrate(&file, &options).await.unwrap();
    let verification = report.verification.unwrap();
    assert!(verification.is_equal());
    let orphan = std::fs::read_to_string(reject_file(&file)).unwrap();
    assert!(orphan.contains("it refers to a row of articles that is missing or refused"));
    assert!(orphan.contains("\"article_id\":99999"));
}

#[tokio::test]
async fn without_rejects_there_is_no_file_and_after_a_failure_none_either() {
    let file = File::new("CREATE TABLE t(a INT, b INT); INSERT INTO t VALUES (1, 1), (1, 1)");
    let target = Target::new().await;
    target.run("CREATE TABLE t(a int, b int)").await;
    target.migrate(&file, &rejecting(&file)).await.unwrap();
    assert!(!reject_file(&file).exists());
    // Duplicates are not found value by value: they stop, and nothing is left.
    target.run("TRUNCATE t; ALTER TABLE t ADD UNIQUE (a)").await;
    file.run("INSERT INTO t VALUES (9, 'no number')");
    let error = target.migrate(&file, &rejecting(&file)).await.unwrap_err();
    assert!(error.to_string().contains("t_a_key"), "{error}");
    let left = std::fs::read_dir(file.path.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "only the source");
}
