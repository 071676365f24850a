//! Keys that mean one thing in SQLite and another in PostgreSQL, and tables that only look like
//! shadow tables.

use migrate::{AuditReport, MigrateOptions};

use crate::support::{File, Target, rules};

fn rejecting(file: &File) -> MigrateOptions {
    let reject_file = Some(file.path.with_file_name("rejects.jsonl"));
    MigrateOptions { reject_file, ..MigrateOptions::default() }
}

fn of_kind(report: &AuditReport, kind: &str) -> Vec<String> {
    let findings = report.findings.iter().filter(|finding| finding.kind == kind);
    findings.map(ToString::to_string).collect()
}

#[tokio::test]
async fn tables_named_like_shadow_tables_are_moved() {
    let file = File::new(
        "CREATE VIRTUAL TABLE map USING rtree(id, a, b); CREATE TABLE map_data(x INTEGER); \
         INSERT INTO map_data VALUES (7); \
         CREATE TABLE notes_content(id INTEGER PRIMARY KEY, body TEXT); \
         INSERT INTO notes_content VALUES (1, 'kept'); \
         CREATE VIRTUAL TABLE notes USING fts5(body, content='notes_content', content_rowid='id')",
    );
    let target = Target::new().await;
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    assert_eq!(target.texts("SELECT x::text FROM map_data").await, ["7"]);
    assert_eq!(target.texts("SELECT body FROM notes_content").await, ["kept"]);
    assert_eq!(
        of_kind(&file.audit(&[]).unwrap(), "shadow_tables"),
        [
            "map: its own tables are passed over: map_node, map_parent, map_rowid",
            "notes: its own tables are passed over: notes_config, notes_data, notes_docsize, \
             notes_idx",
        ]
    );
}

#[tokio::test]
async fn a_parent_equal_only_by_collation_is_missing() {
    let file = File::new(
        "CREATE TABLE country(code TEXT PRIMARY KEY COLLATE NOCASE, zone TEXT UNIQUE COLLATE RTRIM); \
         INSERT INTO country VALUES ('PT', 'WET'), ('hu', 'CET'); \
         CREATE TABLE city(name TEXT, country TEXT COLLATE NOCASE REFERENCES country(code), \
             zone TEXT REFERENCES country(zone)); \
         INSERT INTO city VALUES ('Lisboa', 'pt', NULL), ('Porto', 'Pt', NULL), \
             ('Faro', 'PT', 'WET'), ('Eger', 'hu', 'CET'), ('Sopron', 'hu', 'CET ')",
    );
    let found = of_kind(&file.audit(&[]).unwrap(), "foreign_key_violation");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("2 rows refer by (country) to rows of country that do not exist"));
    assert!(found[1].contains("1 row refers by (zone)") && found[1].contains("rowid 5"));

    let target = Target::new().await;
    let report = target.migrate(&file, &rejecting(&file)).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    assert_eq!(report.rejected_rows, 3);
    assert_eq!(target.texts("SELECT name FROM city ORDER BY name").await, ["Eger", "Faro"]);
}

#[test]
fn a_number_refers_to_the_text_that_it_becomes() {
    let file = File::new(
        "CREATE TABLE zip(code TEXT PRIMARY KEY); INSERT INTO zip VALUES ('01'), ('2'); \
         CREATE TABLE street(zip INTEGER REFERENCES zip); INSERT INTO street VALUES (1), (2)",
    );
    let found = of_kind(&file.audit(&[]).unwrap(), "foreign_key_violation");
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("1 row refers by (zip)"), "{found:?}");
}

const LARGE: &str = "AAAAAAAA-0000-4000-8000-000000000001";
const SMALL: &str = "aaaaaaaa-0000-4000-8000-000000000001";

#[tokio::test]
async fn a_parent_in_another_form_of_its_type_is_found() {
    let file = File::new(&format!(
        "CREATE TABLE parent(id UUID PRIMARY KEY); INSERT INTO parent VALUES ('{LARGE}'); \
         CREATE TABLE child(parent UUID REFERENCES parent); \
         INSERT INTO child VALUES ('{SMALL}'), ('{LARGE}')"
    ));
    let target = Target::new().await;
    let report = target.migrate(&file, &rejecting(&file)).await.unwrap();
    assert_eq!(report.rejected_rows, 0);
    assert_eq!(target.texts("SELECT count(*)::text FROM child").await, ["2"]);
}

#[test]
fn unique_keys_that_their_types_make_equal_are_blockers() {
    let file = File::new(&format!(
        "CREATE TABLE t(id UUID PRIMARY KEY, n UNIQUE); \
         INSERT INTO t VALUES ('{LARGE}', 1), ('{SMALL}', '1'), ('bbbbbbbb-0000-4000-8000-000000000001', 'x'); \
         CREATE TABLE event(sensor INT, at DATETIME, PRIMARY KEY(sensor, at)) WITHOUT ROWID; \
         INSERT INTO event VALUES (1, '2021-03-04 05:06:07'), (1, '2021-03-04 05:06:08'), \
             (1, '2021-03-04T05:06:07'), (2, '2021-03-04T05:06:08');"
    ));
    let found = of_kind(&file.audit(&[]).unwrap(), "unique_violation");
    assert_eq!(
        found,
        [
            "event: 1 row has the key of another, which SQLite keeps apart: PostgreSQL's unique key is \
             (sensor as bigint, at as timestamp), e.g. row 1 in the order of the key and row 3 in \
             the order of the key 1, \"2021-03-04 05:06:07\"; repair them, or keep the texts: \
             --map 'event.at=text'"
                .to_owned(),
            format!(
                "t: 1 row has the key of another, which SQLite keeps apart: PostgreSQL's unique key \
                 is (id as uuid), e.g. rowid 1 and rowid 2 \"{LARGE}\"; repair them, or keep the \
                 texts: --map 't.id=text'"
            ),
            "t: 1 row has the key of another, which SQLite keeps apart: PostgreSQL's unique key is \
             (n as text), e.g. rowid 1 and rowid 2 1; repair them"
                .to_owned(),
        ]
    );
    let mapped = file.audit(&["t.id=text"]).unwrap();
    assert_eq!(of_kind(&mapped, "unique_violation").len(), 2);
}

#[test]
fn a_narrower_type_that_makes_keys_equal_is_not_proposed() {
    let file = File::new(&format!(
        "CREATE TABLE t(id TEXT PRIMARY KEY, at TEXT, n TEXT UNIQUE, v TEXT, UNIQUE (v, at)); \
         INSERT INTO t VALUES ('{LARGE}', '2021-03-04 05:06', '1.5', '{LARGE}'), \
             ('{SMALL}', '2021-03-04 05:06:00', '1.50', '{LARGE}')"
    ));
    assert_eq!(
        of_kind(&file.audit(&[]).unwrap(), "narrower_type"),
        ["t.v: every text has the form of uuid; --map 't.v=uuid' if so meant"]
    );
    // Declared as an integer, the texts of a key block; their remedy keeps them apart.
    let file = File::new(&format!(
        "CREATE TABLE t(id INTEGER UNIQUE); INSERT INTO t VALUES ('{LARGE}'), ('{SMALL}')"
    ));
    let found = of_kind(&file.audit(&[]).unwrap(), "storage_class");
    assert!(found[0].ends_with("--map 't.id=text'"), "{found:?}");
}

#[test]
fn unique_keys_that_stay_different_are_not_named() {
    let file = File::new(&format!(
        "CREATE TABLE t(name TEXT UNIQUE, n UNIQUE, id UUID, at DATETIME UNIQUE, gone INT); \
         CREATE UNIQUE INDEX living ON t(id) WHERE gone IS NULL; \
         INSERT INTO t VALUES ('a', 1, '{LARGE}', '2021-03-04T05:06:07', NULL), \
             ('A', 2, '{SMALL}', '2021-03-04T05:06:08', 1), (NULL, NULL, '{SMALL}', NULL, 2)"
    ));
    assert_eq!(of_kind(&file.audit(&[]).unwrap(), "unique_violation").len(), 0);
    file.run("UPDATE t SET gone = NULL WHERE n = 2");
    let found = of_kind(&file.audit(&[]).unwrap(), "unique_violation");
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("(id as uuid), e.g. rowid 1 and rowid 2"), "{found:?}");
}

#[tokio::test]
async fn a_citext_parent_is_found_in_any_case() {
    let file = File::new(
        "CREATE TABLE country(code TEXT PRIMARY KEY COLLATE NOCASE); \
         INSERT INTO country VALUES ('PT'); \
         CREATE TABLE city(name TEXT, country TEXT REFERENCES country(code)); \
         INSERT INTO city VALUES ('Porto', 'pt'), ('Nowhere', 'xx')",
    );
    let target = Target::new().await;
    target
        .run(
            "CREATE EXTENSION citext; CREATE TABLE country(code citext PRIMARY KEY); \
             CREATE TABLE city(name text, country citext REFERENCES country)",
        )
        .await;
    let options = MigrateOptions { data_only: true, ..rejecting(&file) };
    let report = target.migrate(&file, &options).await.unwrap();
    assert_eq!(report.rejected_rows, 1);
    assert_eq!(target.texts("SELECT name FROM city").await, ["Porto"]);
}

#[tokio::test]
async fn altered_values_are_named_with_a_type_that_keeps_them() {
    let file = File::new(
        "CREATE TABLE log(at TIMESTAMPTZ, body JSON); \
         INSERT INTO log VALUES ('2021-03-04 05:06:07', '{\"b\":1,\"a\":2,\"b\":3}'), \
             ('2021-03-05', '{\"a\":{\"a\":1}}'); \
         CREATE TABLE call(at TIMESTAMPTZ); \
         INSERT INTO call VALUES ('2021-03-04 05:06:07+02:00'), ('2021-03-04 05:06:07Z')",
    );
    let altered = |rules: &[&str]| -> Vec<String> {
        let findings = file.audit(rules).unwrap().findings.into_iter();
        let altered = ["zone_assumed", "offset_not_kept", "repeated_keys"];
        let of_kind = findings.filter(|finding| altered.contains(&finding.kind));
        of_kind.map(|finding| finding.to_string()).collect()
    };
    assert_eq!(
        altered(&[]),
        [
            "call.at: 1 offset from UTC is not kept: timestamptz holds the moment alone; to keep the \
             texts: --map 'call.at=text'",
            "log.at: 2 texts without a zone: read as UTC; right for moments in UTC, which Django, Rails and TypeORM write by default; to keep them as written: --map \
             'log.at=timestamp'",
            "log.body: 1 document has a key more than once: jsonb keeps the last, e.g. rowid 1 \
             \"{\\\"b\\\":1,\\\"a\\\":2,\\\"b\\\":3}\"; to keep them: --map \
             'log.body=json'",
        ]
    );
    let kept = ["call.at=text", "log.at=timestamp", "log.body=json"];
    assert_eq!(altered(&kept).len(), 0);

    let target = Target::new().await;
    let options = MigrateOptions { rules: rules(&kept), ..MigrateOptions::default() };
    let report = target.migrate(&file, &options).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    let texts = target.texts("SELECT at::text || ' ' || body FROM log ORDER BY at").await;
    assert_eq!(texts[0], "2021-03-04 05:06:07 {\"b\":1,\"a\":2,\"b\":3}");
}
