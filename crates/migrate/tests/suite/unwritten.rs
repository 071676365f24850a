//! Columns of existing tables whose types are not written: a blocker among others, whose statements
//! give the values that the framework means.

use migrate::{MigrateOptions, TextOptions};

use crate::audit_target::audit;
use crate::support::{File, Target, data_only};

/// A type in the target, what SQLite holds, a default, and the values that must arrive.
const COLUMNS: [(&str, &str, &str, &str); 5] = [
    (
        "interval day to second(6)",
        "BIGINT: 5400000000, -1, 86400000000",
        "'1 hour'",
        "01:30:00,-00:00:00.000001,24:00:00",
    ),
    ("interval day to second(3)", "BIGINT: 5400000000, NULL, 7", "", "01:30:00,,00:00:00"),
    (
        "interval day to second(6)",
        "DATETIME: '1970-01-01 01:30:00.000000', '1969-12-31 23:00:00.5', '1970-01-03 00:00:00'",
        "",
        "01:30:00,-00:59:59.5,2 days",
    ),
    (
        "interval day to second(6)",
        "TEXT: '1 day 02:00', 'P2D', '-5 min'",
        "",
        "1 day 02:00:00,2 days,-00:05:00",
    ),
    ("bit varying", "CHAR(39): '101', '1', NULL", "'1'", "101,1,"),
];

#[tokio::test]
async fn the_statements_around_a_move_give_the_values() {
    for (postgres_type, stored, default, expected) in COLUMNS {
        let (declared, values) = stored.split_once(": ").unwrap();
        let values: Vec<String> =
            values.split(", ").enumerate().map(|(id, value)| format!("({id}, {value})")).collect();
        let file = File::new(&format!(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, \"to\" {declared}); INSERT INTO t VALUES {}",
            values.join(", ")
        ));
        let target = Target::new().await;
        let default = if default.is_empty() { String::new() } else { format!("DEFAULT {default}") };
        let table =
            format!("CREATE TABLE t(id serial PRIMARY KEY, \"to\" {postgres_type} {default})");
        target.run(&table).await;
        let error = target.migrate(&file, &data_only()).await.unwrap_err().to_string();
        let report = audit(&file, &target).await;
        let finding = &report.findings[0];
        assert_eq!((finding.kind, report.findings.len()), ("type_not_written", 1));
        let remedy = finding.fix.strip_prefix("in the target, before the move: ").unwrap();
        assert!(error.contains(remedy), "{error}");
        let (before, after) = remedy.split_once("; after it: ").unwrap();
        target.run(before).await;
        assert!(!audit(&file, &target).await.blocks());
        let report = target.migrate(&file, &data_only()).await.unwrap();
        // The end of the move has the second half once more.
        let [notice] = &report.notices[..] else { panic!("{:?}", report.notices) };
        assert!(notice.starts_with("t.to is still ") && notice.ends_with(after), "{notice}");
        assert!(report.to_text(&TextOptions::default()).contains(notice));
        target.run(after).await;
        let values = "SELECT string_agg(coalesce(\"to\"::text, ''), ',' ORDER BY id) FROM t";
        assert_eq!(target.texts(values).await, [expected]);
        let columns = "SELECT concat_ws(' ', format_type(atttypid, atttypmod), atthasdef) \
                       FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'to'";
        assert_eq!(
            target.texts(columns).await,
            [format!("{postgres_type} {}", if default.is_empty() { "f" } else { "t" })]
        );
    }
}

/// CHECK constraints over such columns, one of them over two.
#[tokio::test]
async fn checks_and_comments_come_back() {
    let file = File::new(
        "CREATE TABLE t(d BIGINT, e TEXT, n INT); INSERT INTO t VALUES (1000000, '00:00:02', 1)",
    );
    let target = Target::new().await;
    target
        .run(
            "CREATE TABLE t(d interval day to second(6) DEFAULT '1 s' CHECK (d > interval '0'), e interval day to second(6), n int, \
                 CONSTRAINT \"it's\" CHECK (e > d AND n > 0)); COMMENT ON COLUMN t.d IS 'it''s'; \
             INSERT INTO t VALUES ('1 s', '2 s', 1)",
        )
        .await;
    let before = target.structure().await;
    let report = audit(&file, &target).await;
    let fixes = report.findings.iter().filter(|each| each.kind == "type_not_written");
    let statements = fixes.map(|each| each.fix.split_once("before the move: ").unwrap().1);
    let halves = statements.map(|each| each.split_once("; after it: ").unwrap());
    let (first, then): (Vec<&str>, Vec<&str>) = halves.unzip();
    assert_eq!(first.len(), 2);
    for sql in first {
        target.run(sql).await;
    }
    let replace = MigrateOptions { replace: true, ..data_only() };
    let report = target.migrate(&file, &replace).await.unwrap();
    assert_eq!(report.notices.len(), 2, "{:?}", report.notices);
    for sql in then {
        target.run(sql).await;
    }
    assert_eq!(target.structure().await, before);
    let comments =
        "SELECT coalesce(col_description('t'::regclass, n), '') FROM generate_series(1, 2) AS n";
    assert_eq!(target.texts(comments).await, ["it's", ""]);
    assert_eq!(target.texts("SELECT concat(d, ' ', e) FROM t").await, ["00:00:01 00:00:02"]);
}

#[tokio::test]
async fn rows_of_the_target_survive_the_statements() {
    for stored in ["5400000000", "'1970-01-01 01:30:00'", "'01:30'"] {
        let file = File::new(&format!("CREATE TABLE t(d); INSERT INTO t VALUES ({stored})"));
        let target = Target::new().await;
        target
            .run("CREATE TABLE t(d interval day to second(6)); INSERT INTO t VALUES ('26:00:00.5')")
            .await;
        let report = audit(&file, &target).await;
        let fix = &report.findings.iter().find(|each| each.kind == "type_not_written").unwrap().fix;
        let (before, after) =
            fix.split_once("before the move: ").unwrap().1.split_once("; after it: ").unwrap();
        target.run(before).await;
        target.run(after).await;
        let same = "SELECT (d = '26:00:00.5')::text FROM t";
        assert_eq!(target.texts(same).await, ["true"]);
    }
}

#[tokio::test]
async fn other_columns_and_tables_are_audited_all_the_same() {
    let file = File::new(
        "CREATE TABLE a(d BIGINT, n TEXT); INSERT INTO a VALUES (1, 'long'); \
         CREATE TABLE b(n TEXT); INSERT INTO b VALUES ('x')",
    );
    let target = Target::new().await;
    target
        .run(
            "CREATE TABLE a(d interval day to second(6) NOT NULL, n varchar(2)); \
             CREATE TABLE b(n text CHECK (n <> 'x'))",
        )
        .await;
    let report = audit(&file, &target).await;
    let mut kinds: Vec<&str> = report.findings.iter().map(|each| each.kind).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["target_check", "too_long", "type_not_written"]);
    assert_eq!(report.tables[0].columns[0].postgres_type, "interval day to second(6)");
}
