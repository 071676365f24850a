//! Types of the tables that migration makes: the declared type gives them, whatever rows there are.

use migrate::{AuditOptions, Finding, IntegerRule, MigrateOptions, Severity, TypeChoice, TypeRule};

use crate::support::{File, Target, by_values, rules};

const DECLARED: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, zoned DATETIME, plain DATETIME(6), \
                        note DATETIME, day DATE, hour TIME, doc JSON, uid UUID)";

/// 1,001 rows, of which few do not fit.
const ROWS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001) \
     INSERT INTO t SELECT i, '2021-03-04T05:06:07Z', '2021-03-04 05:06:07', \
         iif(i = 501, 'n/a', '2021-03-04 05:06:07'), \
         iif(i = 502, '2021-03-04 05:06', '2021-03-04'), iif(i = 503, 'noon', '12:00:00'), \
         iif(i = 504, '{', '{}'), iif(i = 505, 'none', '00000000-0000-4000-8000-000000000001') \
     FROM n";

const TYPES: &str = "SELECT column_name || ' ' || data_type FROM information_schema.columns \
                     WHERE table_schema = 'public' ORDER BY table_name, ordinal_position";

fn blockers(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|each| each.severity == Severity::Blocker).collect()
}

#[tokio::test]
async fn rows_never_change_the_type_of_a_declaration() {
    let types = |file: &File| -> Vec<String> {
        let report = file.audit(&[]).unwrap();
        let columns = report.tables.into_iter().flat_map(|table| table.columns);
        columns.map(|column| column.postgres_type).collect()
    };
    let (empty, full) = (File::new(DECLARED), File::new(DECLARED));
    full.run(ROWS);
    assert_eq!(types(&empty), types(&full));
    assert_eq!(
        types(&full),
        ["bigint", "timestamp", "timestamp", "timestamp", "date", "time", "jsonb", "uuid"]
    );

    let report = full.audit(&[]).unwrap();
    let found = blockers(&report.findings);
    let remedies: Vec<&str> = found.iter().filter_map(|each| each.mapping.as_deref()).collect();
    let expected = [
        "type:datetime=timestamptz",
        "t.note=text",
        "t.day=timestamp",
        "t.hour=text",
        "t.doc=text",
        "t.uid=text",
    ];
    assert_eq!(remedies, expected);
    assert!(found[1].problem().ends_with("e.g. rowid 501 \"n/a\""), "{}", found[1]);
    let target = Target::new().await;
    let error = target.migrate(&full, &MigrateOptions::default()).await.unwrap_err().to_string();
    assert!(error.contains("6 blockers") && error.contains("--map 't.note=text'"), "{error}");
    assert!(target.texts(TYPES).await.is_empty());

    let options = MigrateOptions { rules: rules(&expected), ..MigrateOptions::default() };
    let report = target.migrate(&full, &options).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    let made = target.texts(TYPES).await;
    assert_eq!(
        made[1..5],
        [
            "zoned timestamp with time zone",
            "plain timestamp with time zone",
            "note text",
            "day timestamp without time zone"
        ]
    );

    // A laboratory has no person to ask.
    let copy = Target::new().await;
    let options = MigrateOptions { types: by_values(), ..MigrateOptions::default() };
    copy.migrate(&full, &options).await.unwrap();
    let made = copy.texts(TYPES).await;
    assert_eq!(made[1..3], ["zoned timestamp with time zone", "plain timestamp without time zone"]);
}

#[test]
fn a_column_without_a_known_type_is_said_to_go_by_values() {
    let file = File::new(
        "CREATE TABLE t(a, b ANY, c GEOMETRY, d TEXT); INSERT INTO t VALUES (1, 2.5, 'x', 'y')",
    );
    let report = file.audit(&[]).unwrap();
    let by_values: Vec<String> = report
        .findings
        .iter()
        .filter(|each| each.kind == "type_by_values")
        .map(|each| format!("{}: {}", each.place(), each.message))
        .collect();
    assert_eq!(
        by_values,
        [
            "t.a: a column without a type has the type of its values: bigint",
            "t.b: a column declared any has the type of its values: double precision",
            "t.c: a column declared geometry has the type of its values: text",
        ]
    );
}

#[tokio::test]
async fn whole_numbers_are_as_wide_as_asked_for() {
    let file = File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, i INT, m MEDIUMINT, b BIGINT, s SMALLINT, u TINYINT(1)); \
         INSERT INTO t VALUES (1, 2, 3, 4, 5, 1)",
    );
    let note = "2 columns declared int or integer are bigint: Node's pg returns bigint as text, i32 of \
                Rust refuses it";
    let report = file.audit(&[]).unwrap();
    assert_eq!(report.findings.iter().filter(|each| each.message == note).count(), 1);
    for (integers, expected) in [
        (IntegerRule::Int8, ["bigint", "bigint", "integer", "bigint", "smallint", "smallint"]),
        (
            IntegerRule::Declared,
            ["integer", "integer", "integer", "bigint", "smallint", "smallint"],
        ),
        (IntegerRule::Int4, ["integer", "integer", "integer", "integer", "smallint", "smallint"]),
    ] {
        let target = Target::new().await;
        let types = TypeChoice { rule: TypeRule::Declared, integers };
        let options = MigrateOptions { types, ..MigrateOptions::default() };
        target.migrate(&file, &options).await.unwrap();
        let made = target.texts(TYPES).await;
        let types: Vec<&str> =
            made.iter().filter_map(|each| Some(each.split_once(' ')?.1)).collect();
        assert_eq!(types, expected);
        let next = "INSERT INTO t(i) VALUES (7) RETURNING id::text";
        assert_eq!(target.texts(next).await, ["2"]);
    }
    file.run("UPDATE t SET i = 3000000000, b = 3000000000");
    let types = TypeChoice { rule: TypeRule::Declared, integers: IntegerRule::Declared };
    let options = AuditOptions { types, ..AuditOptions::default() };
    let report = file.audit_with(&options).unwrap();
    let fixes: Vec<&str> =
        blockers(&report.findings).iter().map(|each| each.fix.as_str()).collect();
    assert_eq!(fixes, ["--map 't.i=bigint'"]);
    let text = report.to_text(&migrate::TextOptions::default());
    assert!(text.contains("URL --map 't.i=bigint' --integers declared\n"), "{text}");
}

#[tokio::test]
async fn rules_for_many_columns_yield_to_those_for_one() {
    let file = File::new(
        "CREATE TABLE a(made_at TEXT, seen_at TEXT, at DATETIME, ok TINYINT(1), n TINYINT(4)); \
         INSERT INTO a VALUES ('2021-03-04 05:06:07', '2021-03-04', '2021-03-04', 1, 7)",
    );
    let target = Target::new().await;
    let maps = [
        "a.seen_at=date",
        "type:text=varchar(99)",
        "*.*_at=timestamptz",
        "TYPE:DateTime=timestamptz",
        "type:tinyint( 1 )=boolean",
    ];
    let options = MigrateOptions { rules: rules(&maps), ..MigrateOptions::default() };
    target.migrate(&file, &options).await.unwrap();
    assert_eq!(
        target.texts(TYPES).await,
        [
            "made_at timestamp with time zone",
            "seen_at date",
            "at timestamp with time zone",
            "ok boolean",
            "n smallint"
        ]
    );
    let refused = |maps: &[&str]| file.audit(maps).unwrap_err().to_string();
    assert_eq!(
        refused(&["a.ok=boolean", "A.OK=smallint"]),
        "--map 'A.OK=smallint': contradicts --map 'a.ok=boolean': keep one of them"
    );
    file.audit(&["a.ok=boolean", "A.OK=bool"]).unwrap();
    let unknown = refused(&["type:datetim=timestamptz"]);
    assert!(unknown.contains("the declared types are datetime, text, tinyint"), "{unknown}");
}

#[tokio::test]
async fn uuids_of_32_digits_are_named_and_digests_are_not() {
    let file = File::new(
        "CREATE TABLE t(id CHAR(32) PRIMARY KEY, other VARCHAR(36), both TEXT UNIQUE, md5 TEXT)",
    );
    file.run(
        "INSERT INTO t VALUES \
         ('11111111111141118111111111111111', 'aaaaaaaaaaaa4aaa8aaaaaaaaaaaaaaa', \
          '22222222222242228222222222222222', 'd41d8cd98f00b204e9800998ecf8427e'), \
         ('33333333333343338333333333333333', 'bbbbbbbbbbbb4bbb8bbbbbbbbbbbbbbb', \
          '22222222-2222-4222-8222-222222222222', '0cc175b9c0f1b6a831c399e269772661')",
    );
    let report = file.audit(&[]).unwrap();
    let named = report.findings.iter().filter(|each| each.kind == "narrower_type");
    let named: Vec<&str> = named.map(|each| each.fix.as_str()).collect();
    // As uuid both texts of the unique column would be equal.
    assert_eq!(named, ["--map 't.id=uuid' if so meant", "--map 't.other=uuid' if so meant"]);
    let target = Target::new().await;
    let maps = rules(&["t.id=uuid", "t.other=uuid"]);
    let options = MigrateOptions { rules: maps, ..MigrateOptions::default() };
    target.migrate(&file, &options).await.unwrap();
    let found = "SELECT other::text FROM t WHERE id = '11111111-1111-4111-8111-111111111111'";
    assert_eq!(target.texts(found).await, ["aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"]);
}
