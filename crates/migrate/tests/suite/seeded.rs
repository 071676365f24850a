//! Rows that the application has put into its tables before the move: kept, replaced, or a reason to stop.

use migrate::{Finding, MigrateOptions, Severity};

use crate::audit_target::audit;
use crate::support::{File, Target, data_only};

const FILE: &str = "\
    CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO kind VALUES (1, 'a'), (2, 'b'); \
    CREATE TABLE version(n INTEGER); INSERT INTO version VALUES (7); \
    CREATE TABLE thing(id INTEGER PRIMARY KEY, kind_id INTEGER REFERENCES kind); \
    INSERT INTO thing VALUES (5, 2), (6, 1)";

const TABLES: &str = "\
    CREATE TABLE kind(id int PRIMARY KEY, name text); \
    INSERT INTO kind VALUES (1, 'one'), (2, 'two'), (3, 'three'); \
    CREATE TABLE version(n int); INSERT INTO version VALUES (7); \
    CREATE TABLE thing(id int PRIMARY KEY, kind_id int REFERENCES kind)";

fn keeping() -> MigrateOptions {
    MigrateOptions { keep_seeded: true, ..data_only() }
}

#[tokio::test]
async fn kept_rows_stay_and_those_of_the_file_are_counted() {
    let (file, target) = (File::new(FILE), Target::new().await);
    target.run(TABLES).await;
    let report = target.migrate(&file, &keeping()).await.unwrap();
    let kinds = "SELECT name FROM kind ORDER BY id";
    assert_eq!(target.texts(kinds).await, ["one", "two", "three"]);
    let things = "SELECT format('%s %s', id, kind_id) FROM thing ORDER BY id";
    assert_eq!(target.texts(things).await, ["5 2", "6 1"]);
    // The file's two rows of a kind; the version is the same on both sides.
    let rows: Vec<(String, u64)> = report.not_carried_over.rows.into_iter().collect();
    assert_eq!(rows, [("kind".to_owned(), 2)]);
    let kept: Vec<&str> =
        report.tables.iter().filter(|each| each.kept).map(|each| each.table.as_str()).collect();
    assert_eq!(kept, ["version"]);
}

#[tokio::test]
async fn a_row_that_refers_to_what_was_not_kept_stops_first() {
    let (file, target) = (File::new(FILE), Target::new().await);
    target.run(TABLES).await;
    target.run("DELETE FROM kind WHERE id = 2").await;
    let error = target.migrate(&file, &keeping()).await.unwrap_err().to_string();
    assert!(error.contains("thing") && error.contains("1 row"), "{error}");
    assert_eq!(target.texts("SELECT count(*)::text FROM thing").await, ["0"]);
}

#[tokio::test]
async fn an_audit_tells_seeded_tables_from_equal_ones() {
    let (file, target) = (File::new(FILE), Target::new().await);
    target.run(TABLES).await;
    let report = audit(&file, &target).await;
    let of = |kind: &str| -> Vec<&Finding> {
        report.findings.iter().filter(|finding| finding.kind == kind).collect()
    };
    let seeded = of("rows_in_target");
    assert_eq!(seeded.len(), 1, "{seeded:?}");
    let seeded = seeded[0];
    assert_eq!((seeded.table.as_str(), seeded.severity), ("kind", Severity::Warning));
    assert!(seeded.message.contains("3 rows") && seeded.message.contains("2 rows of the file"));
    assert!(seeded.fix.contains("--on-seeded keep"), "{}", seeded.fix);
    let same = of("same_rows_in_target");
    assert_eq!(same.len(), 1, "{same:?}");
    let same = same[0];
    assert_eq!((same.table.as_str(), same.severity), ("version", Severity::Note));
}
