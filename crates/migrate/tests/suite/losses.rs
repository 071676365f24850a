//! Losses in reports: rows of virtual tables, and rules, are counted and named.

use std::collections::BTreeMap;

use migrate::{Finding, Lost, MigrateOptions, Selection, TextOptions};

use crate::support::{File, Target, data_only};

/// Full-text search of every kind, an R-Tree, and rules that have no equal.
fn library() -> File {
    File::new(
        "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT COLLATE NOCASE UNIQUE, \
             n INT CHECK (n % 2 = 0)); \
         INSERT INTO book VALUES (1, 'One', 2), (2, 'Two', 4); \
         CREATE VIEW even AS SELECT * FROM book; \
         CREATE TRIGGER keep AFTER DELETE ON book BEGIN SELECT 1; END; \
         CREATE TRIGGER hide INSTEAD OF DELETE ON even BEGIN SELECT 1; END; \
         CREATE VIRTUAL TABLE search USING fts5(body); \
         INSERT INTO search VALUES ('a'), ('b'), ('c'); \
         CREATE VIRTUAL TABLE titles USING fts5(title, content='book', content_rowid='id'); \
         CREATE VIRTUAL TABLE words USING fts5(body, content=''); \
         INSERT INTO words(rowid, body) VALUES (1, 'a'); \
         CREATE VIRTUAL TABLE old USING fts4(body); INSERT INTO old VALUES ('x'); \
         CREATE VIRTUAL TABLE terms USING fts4aux(old); \
         CREATE VIRTUAL TABLE place USING rtree(id, a, b); INSERT INTO place VALUES (7, 1, 2); \
         CREATE VIRTUAL TABLE empty USING fts5(body)",
    )
}

fn rows(of: &[(&str, u64)]) -> BTreeMap<String, u64> {
    of.iter().map(|(table, rows)| ((*table).to_owned(), *rows)).collect()
}

#[test]
fn the_audit_counts_rows_and_rules_that_do_not_arrive() {
    let report = library().audit(&[]).unwrap();
    assert!(!report.blocks());
    let losses = &report.not_carried_over;
    assert_eq!(losses.rows, rows(&[("old", 1), ("place", 1), ("search", 3)]));
    let rules = [
        (Lost::Trigger, 2),
        (Lost::View, 1),
        (Lost::VirtualTable, 7),
        (Lost::UniqueKey, 1),
        (Lost::Check, 1),
        (Lost::Collation, 1),
    ];
    assert_eq!(losses.rules, BTreeMap::from(rules));
    assert!(losses.are_findings(true), "rows are accepted by --exclude alone");
    insta::assert_snapshot!(losses.line().unwrap());
    let named = report.findings.iter().filter(|each| each.lost == Some(Lost::VirtualTable));
    let named: Vec<String> = named.map(ToString::to_string).collect();
    insta::assert_snapshot!(named.join("\n"));
}

#[test]
fn an_unreadable_virtual_table_is_counted_by_its_shadow() {
    let file = library();
    file.run(
        "PRAGMA writable_schema = on; UPDATE sqlite_schema \
         SET sql = replace(sql, 'fts4(body)', 'fts4(body, tokenize=icu)') WHERE name = 'old'; \
         INSERT INTO sqlite_schema VALUES \
             ('table', 'unknown', 'unknown', 0, 'CREATE VIRTUAL TABLE unknown USING spellfix1')",
    );
    let report = file.audit(&[]).unwrap();
    assert_eq!(report.not_carried_over.rows["old"], 1);
    assert!(!report.not_carried_over.rows.contains_key("unknown"));
    assert_eq!(report.not_carried_over.rules[&Lost::VirtualTable], 8);
}

#[tokio::test]
async fn migrate_and_verify_say_the_same() {
    let (file, target) = (library(), Target::new().await);
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert_eq!(report.not_carried_over, file.audit(&[]).unwrap().not_carried_over);
    let text = report.to_text(&TextOptions::default());
    assert!(text.lines().nth(1).unwrap().starts_with("not carried over: 1 row of old, "), "{text}");
    let verified = target.verify(&file).await;
    assert!(verified.is_equal());
    let losses = verified.not_carried_over.clone().unwrap();
    assert_eq!(losses.rows, report.not_carried_over.rows);
    let rules = [(Lost::Trigger, 2), (Lost::View, 1), (Lost::VirtualTable, 7)];
    assert_eq!(losses.rules, BTreeMap::from(rules));
    let text = verified.to_text(&TextOptions::default());
    assert!(text.contains("every column, but other rows were left behind\n"), "{text}");
    let json = serde_json::to_value(&verified).unwrap();
    assert_eq!(json["not_carried_over"]["rows"]["search"], 3);
    assert_eq!(json["not_carried_over"]["rules"]["virtual_table"], 7);
}

#[tokio::test]
async fn a_migration_prints_statements_on_request() {
    let (file, target) = (library(), Target::new().await);
    file.run(
        "CREATE TABLE tag(name TEXT COLLATE NOCASE UNIQUE, code TEXT, \
             at TEXT DEFAULT (datetime('now', 'localtime'))); \
         CREATE INDEX i ON tag(code COLLATE NOCASE)",
    );
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    let proposed: Vec<&Finding> = report
        .findings
        .iter()
        .filter(|each| each.table == "tag" && each.statement.is_some())
        .collect();
    assert_eq!(proposed.len(), 3);
    assert!(!proposed.iter().any(|each| each.to_string().contains("below")), "{proposed:?}");
    let (short, options) = (TextOptions::default(), TextOptions::default());
    let whole = report.to_text(&TextOptions { verbose: true, ..options });
    for statement in proposed.iter().filter_map(|each| each.statement.as_deref()) {
        let first = statement.lines().next().unwrap();
        assert!(whole.contains(first) && !report.to_text(&short).contains(first), "{whole}");
    }
    assert!(report.to_text(&short).contains("(-v prints a draft in SQL of each)"));
}

#[tokio::test]
async fn tables_that_exist_have_rules_of_their_own() {
    let (file, target) = (library(), Target::new().await);
    target
        .run(
            "CREATE TABLE book(id bigint PRIMARY KEY, title text, n bigint); \
             CREATE VIEW even AS SELECT id FROM book; \
             CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS \
                 'BEGIN RETURN NEW; END'; \
             CREATE TRIGGER own AFTER DELETE ON book FOR EACH ROW EXECUTE PROCEDURE own()",
        )
        .await;
    let report = target.migrate(&file, &data_only()).await.unwrap();
    let losses = report.not_carried_over;
    assert_eq!(losses.rules, BTreeMap::from([(Lost::Trigger, 1), (Lost::VirtualTable, 7)]));
    assert_eq!(losses.rows, rows(&[("old", 1), ("place", 1), ("search", 3)]));
    assert_eq!(report.findings.iter().filter(|each| each.lost.is_some()).count(), 11);
}

#[tokio::test]
async fn the_remedy_of_rows_that_are_left_behind_moves_them() {
    let (file, target) = (library(), Target::new().await);
    let report = file.audit(&[]).unwrap();
    let left = report.findings.iter().filter(|each| each.lost == Some(Lost::Rows));
    for finding in left {
        let statement = finding.fix.split_once("of the source: ").unwrap().1;
        file.run(statement.split_once("; then").unwrap().0);
    }
    let excluded = ["old", "place", "search"].map(str::to_owned).to_vec();
    let selection = Selection { excluded, ..Selection::default() };
    let options = MigrateOptions { selection, ..MigrateOptions::default() };
    let report = target.migrate(&file, &options).await.unwrap();
    assert!(report.not_carried_over.rows.is_empty());
    assert!(report.not_carried_over.are_findings(false));
    assert!(!report.not_carried_over.are_findings(true));
    let moved = "SELECT format('%s %s', rowid, body) FROM search_rows ORDER BY rowid";
    assert_eq!(target.texts(moved).await, ["1 a", "2 b", "3 c"]);
}
