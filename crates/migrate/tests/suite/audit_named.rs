//! Rare features that the audit must name.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::{AuditOptions, MigrateOptions, Severity};

use crate::support::{File, Target};

#[test]
fn a_unique_index_on_an_expression_is_always_named() {
    let file = File::new(
        "CREATE TABLE users(email TEXT, deleted_at TEXT); \
         CREATE UNIQUE INDEX u ON users(hex(email)) WHERE deleted_at IS NULL",
    );
    let report = file.audit(&[]).unwrap();
    let lost = report.findings.iter().find(|each| each.kind == "index_not_carried_over").unwrap();
    assert!(lost.message.ends_with("is not carried over, and with it a uniqueness"), "{lost}");
    let statement = lost.statement.as_deref().unwrap();
    assert!(statement.ends_with(
        "-- CREATE UNIQUE INDEX \"u\" ON \"users\"(hex(\"email\")) WHERE \"deleted_at\" IS NULL;"
    ));
}

#[tokio::test]
async fn an_index_collation_is_named_with_an_equal_index() {
    let file = File::new(
        "CREATE TABLE users(email TEXT, name TEXT, deleted INT); \
         CREATE UNIQUE INDEX one ON users(email COLLATE nocase) WHERE deleted IS NULL; \
         CREATE INDEX two ON users(name COLLATE RTRIM, email); \
         CREATE INDEX three ON users(name); INSERT INTO users VALUES ('a', 'b', NULL)",
    );
    let target = Target::new().await;
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    let statements: Vec<&str> =
        report.findings.iter().filter_map(|finding| finding.statement.as_deref()).collect();
    let expected = [
        "CREATE UNIQUE INDEX ON \"users\" (lower(\"email\" COLLATE \"C\")) \
         WHERE \"deleted\" IS NULL;",
        "CREATE INDEX ON \"users\" (rtrim(\"name\", ' '), \"email\");",
    ];
    assert_eq!(statements, expected);
    for statement in statements {
        target.run(statement).await;
    }
    let taken = target.client.batch_execute("INSERT INTO users(email) VALUES ('A')").await;
    assert!(taken.unwrap_err().as_db_error().unwrap().message().contains("duplicate key"));
}

#[tokio::test]
async fn names_of_system_columns_block_until_renamed() {
    let file = File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, xmin INT, ctid TEXT, \"Xmax\" INT, \
             \"É\" INT, \"é\" INT); \
         INSERT INTO t VALUES (1, 2, 'three', 4, 5, 6)",
    );
    let report = file.audit(&[]).unwrap();
    let named = report.findings.iter().filter(|finding| finding.kind == "system_column");
    let named: Vec<_> = named.collect();
    let columns: Vec<_> =
        named.iter().map(|finding| (finding.severity, finding.column.as_deref())).collect();
    let expected = [(Severity::Blocker, Some("xmin")), (Severity::Blocker, Some("ctid"))];
    assert_eq!(columns, expected);
    for finding in &named {
        file.run(finding.fix.split_once("in the source: ").unwrap().1);
    }
    let target = Target::new().await;
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    let row = "SELECT format('%s %s %s %s %s', xmin_, ctid_, \"Xmax\", \"É\", \"é\") FROM t";
    assert_eq!(target.texts(row).await, ["2 three 4 5 6"]);
    let file = File::new("CREATE TABLE t(oid INT)");
    let report = file.audit(&[]).unwrap();
    assert!(!report.blocks() && report.findings[0].message.starts_with("before release 12"));
}

#[test]
fn names_differing_by_case_pass_and_an_empty_name_blocks() {
    let file = File::new("CREATE TABLE t(\"\" INT)");
    let report = file.audit(&[]).unwrap();
    assert_eq!(report.findings[0].kind, "empty_name");
    for script in ["CREATE TABLE T(a)", "CREATE TABLE u(a, A)", "CREATE INDEX T ON t(\"\")"] {
        assert!(file.connection().execute_batch(script).is_err(), "{script}");
    }
}

#[test]
fn a_check_that_cannot_be_tested_is_named_and_hides_no_other() {
    let file = File::new(
        "CREATE TABLE t(n INT CHECK (n BETWEEN 1 AND 9), m INT CHECK (m % 2 = 0), \
             j TEXT CHECK (json_extract(j, '$.a') > 0)); \
         PRAGMA ignore_check_constraints = on; \
         INSERT INTO t VALUES (10, 1, '{\"a\": 0}'), (1, 1, '{')",
    );
    let report = file.audit(&[]).unwrap();
    assert_eq!(report.tables[0].rows, 2);
    let about_checks = report.findings.iter().filter(|each| each.kind.starts_with("check_"));
    let lines: Vec<&str> = about_checks
        .filter(|each| each.kind != "check_not_carried_over")
        .map(|each| each.message.as_str())
        .collect();
    assert_eq!(
        lines,
        [
            "1 row violates CHECK (n BETWEEN 1 AND 9)",
            "2 rows violate CHECK (m % 2 = 0)",
            "CHECK (json_extract(j, '$.a') > 0) could not be tested: malformed JSON",
        ]
    );
}

#[test]
fn numbers_in_the_header_and_conflict_clauses_are_named() {
    let file = File::new(
        "PRAGMA user_version = 7; PRAGMA application_id = 1196444487; \
         CREATE TABLE t(a INT UNIQUE ON CONFLICT REPLACE, b INT NOT NULL ON CONFLICT IGNORE, \
             c INT UNIQUE ON CONFLICT ABORT)",
    );
    let report = file.audit(&[]).unwrap();
    let findings = report.findings.iter().filter(|each| each.kind != "no_primary_key");
    let lines: Vec<String> = findings.map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
    let first = "BEGIN;\n-- warning: PRAGMA user_version: 7 is not carried over";
    assert!(report.proposed_schema.starts_with(first), "{}", report.proposed_schema);
}

#[tokio::test]
async fn the_proposed_schema_uses_the_named_schema() {
    let file = File::new("CREATE TABLE t(id INTEGER PRIMARY KEY, n INT UNIQUE)");
    let options = AuditOptions { schema: Some("a shop".to_owned()), ..AuditOptions::default() };
    let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
    let report = migrate::audit(&file.path, &options, &progress, &stop).unwrap();
    // Identity columns are proposed.
    let Some(target) = Target::since(10).await else { return };
    target.run(&report.proposed_schema).await;
    let made = "SELECT schemaname || '.' || tablename FROM pg_tables WHERE tablename = 't'";
    assert_eq!(target.texts(made).await, ["a shop.t"]);
}

#[test]
fn decimal_texts_moments_and_infinity_are_named() {
    let file = File::new(
        "CREATE TABLE log(price TEXT, code TEXT, seen_at REAL, taken_at REAL, epoch TEXT, x REAL); \
         INSERT INTO log VALUES \
             ('12.50', '007', 2459277.75, 1614834367.5, '1614834367', 9e999), \
             ('-3', '1.5', 2459278.0, 1614834368.0, '1714834367', 1.0)",
    );
    let report = file.audit(&[]).unwrap();
    let looks = |column: usize| &report.tables[0].columns[column].profile.looks;
    assert_eq!((looks(0).decimals, looks(0).integers), (1, 1));
    assert_eq!((looks(1).decimals, looks(1).integers), (1, 0), "007 is a code");
    assert_eq!((looks(2).julian_days, looks(3).epoch_seconds), (2, 2));
    assert_eq!((looks(4).integers, looks(4).epoch_seconds), (2, 2));
    let hints: Vec<&str> = report
        .findings
        .iter()
        .filter_map(|finding| finding.fix.strip_prefix("--map '")?.strip_suffix("' if so meant"))
        .collect();
    let expected = [
        "log.price=numeric",
        "log.seen_at=timestamptz using julian_day",
        "log.taken_at=timestamptz using epoch_seconds",
        "log.epoch=bigint",
    ];
    assert_eq!(hints, expected);
    assert!(!file.audit(&hints).unwrap().blocks());
    let infinity = report.findings.iter().find(|finding| finding.kind == "infinity").unwrap();
    assert_eq!(infinity.severity, Severity::Note);
    assert_eq!(infinity.examples[0].row, "rowid 1");
    // No number of PostgreSQL holds both an integer beyond 2^53 and infinity.
    let file = File::new("CREATE TABLE t(x); INSERT INTO t VALUES (9007199254740993), (9e999)");
    assert!(file.audit(&[]).unwrap().blocks());
}

#[test]
fn the_cure_of_texts_that_are_decimals_is_numeric() {
    let file = File::new("CREATE TABLE t(n BLOB); INSERT INTO t VALUES ('1.5'), ('2')");
    let report = file.audit(&["t.n=bigint"]).unwrap();
    assert_eq!(report.findings[0].mapping.as_deref(), Some("t.n=numeric"));
    assert!(!file.audit(&["t.n=numeric"]).unwrap().blocks());
}
