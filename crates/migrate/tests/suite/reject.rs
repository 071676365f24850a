//! Rejected rows: kept whole, with all rows that refer to them, and loadable after repair.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::{Error, MigrateOptions, TextOptions};

use crate::audit::as_found;
use crate::support::{File, Target, data_only};

/// The tables that the article's ORM would have made.
const TABLES: &str = "\
    CREATE TABLE articles(id int PRIMARY KEY, uuid uuid NOT NULL UNIQUE, \
        slug varchar(256) NOT NULL, original_id int REFERENCES articles); \
    CREATE TABLE traffic(day int, article_id int REFERENCES articles, pageviews int, \
        PRIMARY KEY(day, article_id))";

pub fn reject_file(file: &File) -> std::path::PathBuf {
    file.path.with_file_name("rejects.jsonl")
}

pub fn rejecting(file: &File) -> MigrateOptions {
    MigrateOptions { reject_file: Some(reject_file(file)), ..data_only() }
}

pub async fn load(target: &Target, file: &File) -> Result<migrate::MigrationReport, Error> {
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let (path, options) = (reject_file(file), MigrateOptions::default());
    migrate::load_rejects(&path, &target.url, &options, &progress, &interrupted).await
}

#[tokio::test]
async fn long_slugs_cost_four_rows_and_their_dependents() {
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

    // Not repaired, nothing is loaded, and the source's row is named.
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("articles, rowid 11, column slug"), "{error}");
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
    let verified = target.verify(&file).await;
    assert!(verified.is_equal(), "{}", verified.to_text(&TextOptions::default()));
}

#[tokio::test]
async fn a_created_schema_takes_rows_that_fit() {
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
async fn no_reject_file_without_rejects_or_after_a_failure() {
    let file = File::new("CREATE TABLE t(a INT, b INT); INSERT INTO t VALUES (1, 1), (1, 1)");
    let target = Target::new().await;
    target.run("CREATE TABLE t(a int, b int)").await;
    target.migrate(&file, &rejecting(&file)).await.unwrap();
    assert!(!reject_file(&file).exists());
    // An exclusion constraint is not asked beforehand: it stops, and nothing is left.
    target.run("TRUNCATE t; ALTER TABLE t ADD EXCLUDE (a WITH =)").await;
    file.run("INSERT INTO t VALUES (9, 'no number')");
    let error = target.migrate(&file, &rejecting(&file)).await.unwrap_err();
    assert!(error.to_string().contains("t_a_excl"), "{error}");
    let left = std::fs::read_dir(file.path.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "only the source");
}

#[tokio::test]
async fn a_reject_file_of_another_program_is_left_alone() {
    let file = File::new("CREATE TABLE t(a INT); INSERT INTO t VALUES (1), ('x')");
    let target = Target::new().await;
    target.run("CREATE TABLE t(a int)").await;
    let unfinished = file.path.with_file_name("rejects.jsonl.unfinished");
    std::fs::write(&unfinished, "of the other\nlonger\n").unwrap();
    let other = std::fs::File::open(&unfinished).unwrap();
    other.lock().unwrap();
    let error = target.migrate(&file, &rejecting(&file)).await.unwrap_err().to_string();
    assert!(error.contains("another crossover is writing it"), "{error}");
    assert_eq!(std::fs::read_to_string(&unfinished).unwrap(), "of the other\nlonger\n");
    assert_eq!(target.texts("SELECT count(*)::text FROM t").await, ["0"]);
    // Killed, it leaves the file without its lock.
    drop(other);
    target.migrate(&file, &rejecting(&file)).await.unwrap();
    let text = std::fs::read_to_string(reject_file(&file)).unwrap();
    assert!(text.lines().count() == 1 && text.contains("rowid 2"), "{text}");
    assert!(!unfinished.exists());
}

/// The lines of the reject file as table, row, column and reason.
fn reasons(file: &File) -> Vec<String> {
    let text = std::fs::read_to_string(reject_file(file)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let field = |line: &serde_json::Value, name: &str| line[name].as_str().unwrap().to_owned();
    lines
        .map(|line| {
            let of = |name| field(&line, name);
            format!("{}, {}, {}: {}", of("table"), of("row"), of("column"), of("reason"))
        })
        .collect()
}

/// Tables that demand more than SQLite's did.
const DEMANDING: &str = "\
    CREATE TABLE country(code char(2) PRIMARY KEY); INSERT INTO country VALUES ('pt'), ('hu'); \
    CREATE DOMAIN percent AS int CHECK (VALUE BETWEEN 0 AND 100); \
    CREATE TABLE author(id int PRIMARY KEY, name text NOT NULL, country char(2) \
        REFERENCES country, share percent, \
        CONSTRAINT \"is named\" CHECK (length(name) > 1)); \
    CREATE UNIQUE INDEX author_name ON author (lower(name)) WHERE share > 0; \
    CREATE TABLE book(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, author_id int NOT NULL \
        REFERENCES author ON DELETE CASCADE, isbn text UNIQUE, title text, \
        size int GENERATED ALWAYS AS (length(title)) STORED CHECK (size < 9))";

fn library() -> File {
    File::new(
        "CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT, country TEXT, share INT); \
         CREATE TABLE book(id INTEGER PRIMARY KEY, author_id INT, isbn TEXT, title TEXT); \
         INSERT INTO author VALUES (1, 'Anna', 'pt', 10), (2, 'ANNA', 'pt', 20), \
             (3, 'anna', 'pt', 0), (4, 'B', 'hu', 1), (5, 'Cili', 'xx', 1), (6, 'Dora', 'hu', 101), \
             (7, NULL, NULL, NULL), (8, 'Edit', NULL, NULL); \
         INSERT INTO book VALUES (1, 1, '1', 'a'), (2, 8, '1', 'b'), (3, 2, '3', 'c'), \
             (4, 5, '4', 'd'), (5, 4, '4', 'e'), (6, 8, '4', 'f'), (7, 8, NULL, 'much too long'), \
             (8, 8, NULL, NULL), (9, 99, '9', 'i')",
    )
}

#[tokio::test]
async fn rows_refused_by_constraints_load_after_repair() {
    let Some(target) = Target::since(12).await else { return };
    let file = library();
    target.run(DEMANDING).await;
    let before = target.structure().await;
    let report = target.migrate(&file, &rejecting(&file)).await.unwrap();
    assert_eq!(target.structure().await, before);
    assert!(report.verification.unwrap().is_equal());
    insta::assert_snapshot!(reasons(&file).join("\n"));
    assert_eq!(
        target.texts("SELECT id::text FROM author ORDER BY author.id").await,
        ["1", "3", "8"]
    );
    // The isbn 4 of the sixth book is free, since those before it stay behind with their authors.
    assert_eq!(target.texts("SELECT id::text FROM book ORDER BY book.id").await, ["1", "6", "8"]);

    let text = std::fs::read_to_string(reject_file(&file)).unwrap();
    let repaired = text
        .replace("\"ANNA\"", "\"Anna II\"")
        .replace("\"name\":\"B\"", "\"name\":\"Bea\"")
        .replace("\"xx\"", "\"hu\"")
        .replace(":101", ":100")
        .replace("\"name\":null", "\"name\":\"none\"")
        .replace("much too long", "short")
        .replace(":99,", ":1,")
        .replace("\"isbn\":\"1\"", "\"isbn\":\"2\"");
    // The fourth and the fifth book still have the isbn of the sixth.
    std::fs::write(reject_file(&file), &repaired).unwrap();
    let error = load(&target, &file).await.unwrap_err().to_string();
    assert!(error.contains("book_isbn_key"), "{error}");
    assert_eq!(target.texts("SELECT count(*)::text FROM author").await, ["3"]);
    let mut isbn = 40;
    let lines = repaired.lines().map(|line| {
        isbn += 1;
        line.replace("\"isbn\":\"4\"", &format!("\"isbn\":\"{isbn}\"")) + "\n"
    });
    std::fs::write(reject_file(&file), lines.collect::<String>()).unwrap();
    load(&target, &file).await.unwrap();
    let counts = "SELECT (SELECT count(*) FROM author) || ' ' || (SELECT count(*) FROM book)";
    assert_eq!(target.texts(counts).await, ["8 9"]);
    assert_eq!(target.structure().await, before);
}

#[tokio::test]
async fn an_audit_against_the_target_names_constraint_violations() {
    let Some(target) = Target::since(12).await else { return };
    let file = library();
    target.run(DEMANDING).await;
    let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
    let options = migrate::AuditOptions::default();
    let asking = migrate::audit_target_constraints(
        &file.path,
        &target.url,
        &options,
        None,
        &progress,
        &stop,
    );
    let lines: Vec<String> =
        asking.await.unwrap().iter().map(|finding| finding.to_string()).collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(target.texts("SELECT count(*)::text FROM author").await, ["0"]);
}

/// Values that SQLite keeps apart and the chosen types make equal, and rows older than their CHECK.
fn made_equal() -> File {
    File::new(
        "CREATE TABLE t(id UUID PRIMARY KEY, n INT CHECK (n IN (1, 2)), note TEXT) WITHOUT ROWID; \
         CREATE TABLE child(t UUID REFERENCES t(id)); \
         PRAGMA ignore_check_constraints = on; \
         INSERT INTO t VALUES ('AAAAAAAA-0000-4000-8000-000000000001', 1, 'first'), \
             ('aaaaaaaa-0000-4000-8000-000000000001', 2, 'second'), \
             ('aaaaaaaa-0000-4000-8000-000000000002', 3, 'checked'), \
             ('aaaaaaaa-0000-4000-8000-000000000003', NULL, 'whole'); \
         INSERT INTO child VALUES ('aaaaaaaa-0000-4000-8000-000000000001'), \
             ('aaaaaaaa-0000-4000-8000-000000000002'), ('aaaaaaaa-0000-4000-8000-000000000003')",
    )
}

#[tokio::test]
async fn a_created_schema_rejects_equal_keys_and_failed_checks() {
    let (file, target) = (made_equal(), Target::new().await);
    let options = MigrateOptions { data_only: false, ..rejecting(&file) };
    let report = target.migrate(&file, &options).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    insta::assert_snapshot!(reasons(&file).join("\n"));
    assert_eq!(target.texts("SELECT note FROM t ORDER BY note").await, ["first", "whole"]);
    // The child of the second row finds the first, which is the same in PostgreSQL.
    assert_eq!(target.texts("SELECT count(*)::text FROM child").await, ["2"]);
}

#[tokio::test]
async fn nullable_and_deferred_keys_are_tested_by_the_server() {
    let file = File::new(
        "CREATE TABLE t(a INT, b INT, c TEXT); \
         INSERT INTO t VALUES (1, NULL, 'x'), (1, NULL, 'y'), (1, 2, 'z'), (1, 2, 'X'), (NULL, 2, 'y')",
    );
    let Some(target) = Target::since(12).await else { return };
    target
        .run(
            "CREATE TABLE t(a int, b int, c text, UNIQUE (a, b) DEFERRABLE INITIALLY DEFERRED); \
             CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = \
             false); ALTER TABLE t ALTER COLUMN c TYPE text COLLATE loose; ALTER TABLE t ADD UNIQUE (c)",
        )
        .await;
    target.migrate(&file, &rejecting(&file)).await.unwrap();
    let stayed = target.texts("SELECT format('%s %s %s', a, b, c) FROM t ORDER BY ctid").await;
    assert_eq!(stayed, ["1  x", "1  y", "1 2 z"]);
}

/// The next INSERT takes no number of a row that comes later.
#[tokio::test]
async fn numbers_of_rejected_rows_stay_theirs() {
    let file = File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 1), (2, -1), (3, -2)",
    );
    let Some(target) = Target::since(10).await else { return };
    let table = "CREATE TABLE t(id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, n int CHECK (n > 0))";
    target.run(table).await;
    let report = target.migrate(&file, &rejecting(&file)).await.unwrap();
    assert_eq!(report.rejected_rows, 2);
    target.run("INSERT INTO t(n) VALUES (9)").await;
    assert_eq!(target.texts("SELECT id::text FROM t WHERE n = 9").await, ["4"]);
    let text = std::fs::read_to_string(reject_file(&file)).unwrap();
    std::fs::write(reject_file(&file), text.replace(":-", ":")).unwrap();
    load(&target, &file).await.unwrap();
    assert_eq!(target.texts("SELECT concat(id, ' ', n) FROM t ORDER BY id").await.len(), 4);
}
