//! Audits against existing tables: a blocker really blocks, and a remedy harms no row.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::{AuditOptions, AuditReport, MigrateOptions, Severity, TextOptions};

use crate::reject::rejecting;
use crate::support::{File, Target, data_only};

/// As `crossover audit --target` has it: types, then constraints.
pub async fn audit(file: &File, target: &Target) -> AuditReport {
    let catalog = migrate::read_catalog(&target.url, None).await.unwrap();
    let options = AuditOptions { target: Some(catalog), ..AuditOptions::default() };
    let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
    let mut report = migrate::audit(&file.path, &options, &progress, &stop).unwrap();
    let asking = migrate::audit_target_constraints(
        &file.path,
        &target.url,
        &options,
        None,
        &progress,
        &stop,
    );
    report.add(asking.await.unwrap());
    report
}

#[tokio::test]
async fn a_cure_on_a_table_with_rows_converts_them_or_is_refused() {
    let file = File::new(
        "CREATE TABLE t(u INTEGER, b TEXT, at TEXT, n INTEGER); \
         INSERT INTO t VALUES ('00000000-0000-4000-8000-000000000001', x'00ff', \
             '2021-03-04T05:06:07Z', 0.5)",
    );
    let target = Target::new().await;
    target
        .run(
            "CREATE TABLE t(u int, b text, at timestamp, \"N\" int); \
             INSERT INTO t VALUES (7, 'a\\b', '2020-01-01', 8)",
        )
        .await;
    let report = audit(&file, &target).await;
    let mut refused = Vec::new();
    let about_values = report.findings.iter().filter(|each| each.kind != "rows_in_target");
    for finding in about_values {
        let (_, remedy) = finding.fix.split_once("in the target: ").unwrap();
        if target.client.batch_execute(remedy).await.is_err() {
            refused.push(finding.column.as_deref().unwrap());
        }
    }
    assert_eq!((report.findings.len(), refused), (5, vec!["u"]), "7 is not a UUID");
    let shown = "SELECT format('%s %s %s %s', u, convert_from(b, 'UTF8'), \
                 at AT TIME ZONE 'UTC', \"N\") FROM t";
    assert_eq!(target.texts(shown).await, ["7 a\\b 2020-01-01 00:00:00 8"]);
    target.run("TRUNCATE t; ALTER TABLE t ALTER COLUMN u TYPE uuid USING u::text::uuid").await;
    assert!(!audit(&file, &target).await.blocks());
}

#[tokio::test]
async fn a_foreign_key_blocks_only_where_the_target_has_it() {
    let file = File::new(
        "CREATE TABLE parent(a INT, b INT, PRIMARY KEY (a, b)); \
         CREATE TABLE child(a INT, b INT, FOREIGN KEY (a, b) REFERENCES parent(a, b)); \
         INSERT INTO parent VALUES (1, 2); INSERT INTO child VALUES (1, 2), (2, 1)",
    );
    let target = Target::new().await;
    target
        .run(
            "CREATE TABLE parent(a int, b int, PRIMARY KEY (a, b)); \
             CREATE TABLE child(a int, b int)",
        )
        .await;
    let keys = async || {
        let findings = audit(&file, &target).await.findings.into_iter();
        let keys = findings.filter(|finding| finding.kind == "foreign_key_violation");
        keys.map(|finding| (finding.severity, finding.count)).collect::<Vec<_>>()
    };
    assert_eq!(keys().await, [(Severity::Warning, 1)]);
    target.migrate(&file, &data_only()).await.unwrap();
    target
        .run(
            "TRUNCATE parent, child; \
             ALTER TABLE child ADD FOREIGN KEY (b, a) REFERENCES parent(b, a)",
        )
        .await;
    assert_eq!(keys().await, [(Severity::Blocker, 1)]);
    target.migrate(&file, &data_only()).await.unwrap_err();
}

#[tokio::test]
async fn rows_of_the_target_are_named_with_the_command_that_works() {
    let file = File::new("CREATE TABLE a(n INT); INSERT INTO a VALUES (1); CREATE TABLE b(n INT)");
    let target = Target::new().await;
    target.run("CREATE TABLE a(n int); CREATE TABLE b(n int); INSERT INTO a VALUES (2)").await;
    let text = async || {
        let report = audit(&file, &target).await;
        assert!(!report.blocks());
        file.plain(&report.to_text(&TextOptions::default()))
    };
    let held = text().await;
    assert!(held.starts_with(
        "PostgreSQL takes all rows of source.db: 2 tables, 1 row; the target holds other rows in 1 \
         table already.\n"
    ), "{held}");
    assert!(held.contains("  a: its table in the target holds 1 row, other than"), "{held}");
    assert!(held.ends_with(
        "\nNext: crossover migrate source.db URL --data-only --replace (--replace deletes the rows of \
         1 table of the target)\n"
    ), "{held}");
    target.migrate(&file, &data_only()).await.unwrap_err();
    let replace = MigrateOptions { replace: true, ..data_only() };
    target.migrate(&file, &replace).await.unwrap();
    target.run("TRUNCATE a").await;
    let empty = text().await;
    assert!(empty.contains("nothing blocks.") && empty.ends_with("URL --data-only\n"), "{empty}");
}

#[tokio::test]
async fn a_trigger_that_numbers_rows_is_named_before_the_move() {
    let file = File::new("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (7)");
    let target = Target::new().await;
    target
        .run(
            "CREATE SEQUENCE s; CREATE TABLE t(id bigint PRIMARY KEY); \
             CREATE FUNCTION number() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN NEW.id := nextval('s'); RETURN NEW; END $$; \
             CREATE TRIGGER numbers BEFORE INSERT ON t FOR EACH ROW EXECUTE PROCEDURE number()",
        )
        .await;
    let report = audit(&file, &target).await;
    let finding = report.findings.iter().find(|each| each.kind == "insert_trigger").unwrap();
    assert_eq!((finding.table.as_str(), finding.severity), ("t", Severity::Warning));
    target.migrate(&file, &data_only()).await.unwrap_err();
    let remedy = finding.fix.split_once("before the move: ").unwrap().1;
    let (before, after) = remedy.split_once("; after it: ").unwrap();
    target.run(before).await;
    target.migrate(&file, &data_only()).await.unwrap();
    target.run(after.split_once(", and set").unwrap().0).await;
    assert_eq!(target.texts("SELECT id::text FROM t").await, ["7"]);
}

/// Rows that are not sent have no line in the server's report.
#[tokio::test]
async fn a_refused_line_is_counted_among_the_rows_sent() {
    let file = File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, q INT); \
         INSERT INTO t VALUES (1, 'x', 1), (2, 5, 2), (3, 0, 3), (4, 2, 5)",
    );
    let Some(target) = Target::since(12).await else { return };
    target
        .run(
            "CREATE TABLE t(id int PRIMARY KEY, n int CHECK (n > 0), \
                 q int GENERATED ALWAYS AS (10 / n) STORED)",
        )
        .await;
    let report = audit(&file, &target).await;
    let finding = report.findings.iter().find(|each| each.kind == "target_not_computed").unwrap();
    assert_eq!(finding.examples[0].row, "rowid 3", "{finding}");
    // The same where rows are rejected before the move.
    file.run("UPDATE t SET n = 7, q = 1 WHERE id = 3");
    target
        .run(
            "ALTER TABLE t DROP COLUMN q; ALTER TABLE t ADD COLUMN q int; \
             CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION 'seven'; END $$; \
             CREATE TRIGGER refuse BEFORE INSERT ON t FOR EACH ROW WHEN (NEW.n = 7) \
                 EXECUTE FUNCTION refuse()",
        )
        .await;
    let error = target.migrate(&file, &rejecting(&file)).await.unwrap_err().to_string();
    assert!(error.contains("t, rowid 3, column"), "{error}");
    assert!(error.contains("PostgreSQL refuses it: seven"), "{error}");
}

/// A parent that a type holds up is moved all the same once its remedy is carried out.
#[tokio::test]
async fn rows_of_a_blocked_parent_are_there_for_their_children() {
    let file = File::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY, ip TEXT); INSERT INTO p VALUES (1, '10.0.0.1'); \
         CREATE TABLE c(id INTEGER PRIMARY KEY, p_id INT REFERENCES p); INSERT INTO c VALUES (1, 1), (2, 2)",
    );
    let target = Target::new().await;
    target
        .run(
            "CREATE TABLE p(id bigint PRIMARY KEY, ip tsvector); \
             CREATE TABLE c(id bigint PRIMARY KEY, p_id bigint REFERENCES p)",
        )
        .await;
    let report = audit(&file, &target).await;
    let blockers = report.findings.iter().filter(|each| each.severity == Severity::Blocker);
    let blockers: Vec<(&str, u64)> =
        blockers.map(|each| (each.table.as_str(), each.count)).collect();
    assert_eq!(blockers, [("p", 1), ("c", 1)], "{:?}", report.findings);
}
