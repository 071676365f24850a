//! Existing tables that differ from the file: one audit names every difference, and the move succeeds after
//! its remedies.

use migrate::{Finding, MigrateOptions, Selection, Severity};

use crate::audit_target::audit;
use crate::support::{File, Target, data_only};

const FILE: &str = "\
    CREATE TABLE gone(a INTEGER); \
    CREATE TABLE shown(a INTEGER); INSERT INTO shown VALUES (1); \
    CREATE TABLE t(id INTEGER PRIMARY KEY, price DECIMAL(10, 2), note TEXT, code INTEGER); \
    INSERT INTO t VALUES (1, 2.5, 'a', 'x')";

const EXISTING: &str = "\
    CREATE VIEW shown AS SELECT 1 AS a; \
    CREATE TABLE t(id bigint PRIMARY KEY, code int, tenant int NOT NULL, made timestamptz DEFAULT now())";

fn of_kind<'a>(blockers: &[&'a Finding], kind: &str) -> Vec<&'a Finding> {
    blockers.iter().copied().filter(|finding| finding.kind == kind).collect()
}

/// The statement of a remedy, up to a second way out.
fn statement(finding: &Finding) -> &str {
    let statement = finding.fix.split_once("in the target: ").unwrap().1;
    statement.split_once(", or").map_or(statement, |(first, _)| first)
}

#[tokio::test]
async fn one_audit_names_every_difference() {
    let file = File::new(FILE);
    let target = Target::new().await;
    target.run(EXISTING).await;
    let report = audit(&file, &target).await;
    let blockers: Vec<&Finding> =
        report.findings.iter().filter(|each| each.severity == Severity::Blocker).collect();
    let tables = |kind| -> Vec<&str> {
        of_kind(&blockers, kind).iter().map(|finding| finding.table.as_str()).collect()
    };
    let columns = |kind| -> Vec<&str> {
        of_kind(&blockers, kind).iter().map(|each| each.column.as_deref().unwrap()).collect()
    };
    assert_eq!(tables("missing_table"), ["gone"]);
    assert_eq!(tables("not_a_table"), ["shown"]);
    assert_eq!(columns("missing_column"), ["price", "note"]);
    assert_eq!(columns("required_column"), ["tenant"]);
    // Values of a table that differs are judged all the same.
    let values = blockers.iter().find(|each| each.column.as_deref() == Some("code")).unwrap();
    assert_eq!(blockers.len(), 6, "{blockers:?}");

    let error = target.migrate(&file, &data_only()).await.unwrap_err().to_string();
    for part in ["gone", "shown", "t.price", "t.note", "t.tenant"] {
        assert!(error.contains(part), "{error}");
    }
    for kind in ["missing_column", "required_column"] {
        for finding in of_kind(&blockers, kind) {
            target.run(statement(finding)).await;
        }
    }
    target.run(statement(values)).await;
    let excluded = ["gone", "shown"].map(str::to_owned).to_vec();
    let options =
        MigrateOptions { selection: Selection { excluded, ..Selection::default() }, ..data_only() };
    target.migrate(&file, &options).await.unwrap();
    let moved = "SELECT format('%s %s %s %s %s', id, price, note, code, made <= now()) FROM t";
    assert_eq!(target.texts(moved).await, ["1 2.50 a x t"]);
}

#[tokio::test]
async fn a_sequence_of_no_column_is_named_with_what_its_name_says() {
    let file =
        File::new("CREATE TABLE t(id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 7)");
    let target = Target::new().await;
    target
        .run(
            "CREATE TABLE t(id serial PRIMARY KEY, n int); CREATE SEQUENCE t_n_seq; \
             CREATE SEQUENCE \"stream ids\"",
        )
        .await;
    let report = target.migrate(&file, &data_only()).await.unwrap();
    let of_kind = |each: &&Finding| each.kind == "sequence_of_no_column";
    let named: Vec<(&str, &str)> = report
        .findings
        .iter()
        .filter(of_kind)
        .map(|each| (each.table.as_str(), each.fix.split_once("SELECT ").unwrap().1))
        .collect();
    assert_eq!(
        named,
        [
            ("stream ids", "setval('public.\"stream ids\"', (SELECT max(COLUMN) FROM TABLE))"),
            ("t_n_seq", "setval('public.t_n_seq', (SELECT max(n) FROM public.t))"),
        ]
    );
    target.run("SELECT setval('public.t_n_seq', (SELECT max(n) FROM public.t))").await;
}
