//! Reports as text: the answer first, few lines, nothing raw, nothing wider than the terminal.

use migrate::{AuditOptions, MigrateOptions, Selection, TextOptions};

use super::support::{File, Target, data_only};

const SHORT: TextOptions = TextOptions { width: None, columns: false, verbose: false };
const WHOLE: TextOptions = TextOptions { verbose: true, ..SHORT };

fn with_rules(triggers: usize) -> File {
    let file = File::new(
        "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO item VALUES (1, 'a'); \
         CREATE TABLE plain(id INTEGER PRIMARY KEY); \
         CREATE VIEW names AS SELECT name FROM item",
    );
    for number in 0..triggers {
        file.run(&format!(
            "CREATE TRIGGER t{number} AFTER INSERT ON item BEGIN SELECT {number} + 700; END"
        ));
    }
    file
}

#[test]
fn the_audit_answers_in_its_first_line() {
    let clean = File::new("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)");
    let text = clean.audit_text(&[]);
    let answer = "PostgreSQL takes all rows of source.db: 1 table, 1 row; nothing blocks.\n\n";
    assert!(text.starts_with(answer), "{text}");
    assert!(text.ends_with("\nNext: crossover migrate source.db URL\n"), "{text}");

    let faulty = File::new(
        "CREATE TABLE t(a INTEGER, b VARCHAR(2)); CREATE TABLE u(c INTEGER); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1204) \
         INSERT INTO t SELECT 'x' || i, 'y' FROM n; \
         UPDATE t SET b = 'long' WHERE rowid < 5; INSERT INTO u VALUES (1), ('z'), ('z'), (4)",
    );
    let text = faulty.audit_text(&[]);
    let answer = "PostgreSQL would refuse source.db: 3 blockers in 2 tables (1,206 of 1,208 rows).";
    assert_eq!(text.lines().next().unwrap(), answer);
    faulty.run("INSERT INTO t VALUES (1, 'long')");
    let answer = "PostgreSQL would refuse source.db: 3 blockers in 2 tables (at most 1,207 of 1,209 \
                  rows).";
    assert_eq!(faulty.audit_text(&[]).lines().next().unwrap(), answer);
    // Rows that refer to refused ones are refused too, and not counted.
    faulty.run(
        "DELETE FROM u WHERE rowid = 2; CREATE UNIQUE INDEX k ON u(c); \
         CREATE TABLE child(t INT REFERENCES u(c))",
    );
    assert!(!faulty.audit_text(&[]).lines().next().unwrap().contains("besides"));
    faulty.run("INSERT INTO child VALUES (1)");
    let answer = "PostgreSQL would refuse source.db: 3 blockers in 2 tables (at most 1,206 of 1,209 \
                  rows, besides any rows that refer to them).";
    assert_eq!(faulty.audit_text(&[]).lines().next().unwrap(), answer);
}

#[test]
fn a_blocker_has_two_lines_and_a_remedy_to_paste() {
    let file =
        File::new("CREATE TABLE \"it's\"(\"a'b\" INTEGER); INSERT INTO \"it's\" VALUES ('x')");
    let text = file.audit_text(&[]);
    let blocker = "Blockers\n  it's.a'b: 1 text value in a column declared integer, e.g. rowid 1 \
                   \"x\"\n    remedy: --map 'it'\\''s.a'\\''b=text'\n\n";
    assert!(text.contains(blocker), "{text}");
    let next = "Next: crossover migrate source.db URL --map 'it'\\''s.a'\\''b=text'\n";
    assert!(text.ends_with(next), "{text}");
    assert!(!file.audit(&["it's.a'b=text"]).unwrap().blocks());
}

#[test]
fn the_next_step_repeats_the_flags_of_the_audit() {
    let file = File::new(
        "CREATE TABLE t(a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'a' || char(0)); \
         CREATE TABLE \"left out\"(a)",
    );
    let selection = Selection { excluded: vec!["left *".to_owned()], ..Selection::default() };
    let rules = super::support::rules(&["t.a=text"]);
    let schema = Some("shop".to_owned());
    let options = AuditOptions { rules, selection, schema, ..AuditOptions::default() };
    let (progress, never) = (indicatif::ProgressBar::hidden(), false.into());
    let report = migrate::audit(&file.path, &options, &progress, &never).unwrap();
    let text = file.plain(&report.to_text(&SHORT));
    let next = "Next: repair the refused rows of t.b, then crossover migrate source.db URL --map \
                't.a=text' --exclude 'left *' --schema shop (--on-error reject moves the others \
                and keeps these in a file)\n";
    assert!(text.ends_with(next), "{text}");
}

#[test]
fn objects_have_a_line_each_and_their_sql_on_request() {
    let (few, many) = (with_rules(11), with_rules(39));
    let text = few.audit_text(&[]);
    let trigger = "  trigger t7 on item: PostgreSQL's triggers call functions\n";
    assert!(text.contains(trigger) && text.contains("trigger t10 on item"), "{text}");
    assert!(text.contains("  view names of item: its SELECT is in SQLite's dialect\n"), "{text}");
    assert!(!text.contains("700"), "{text}");
    let text = many.audit_text(&[]);
    assert_eq!(text.lines().nth(1).unwrap(), "not carried over: 39 triggers, 1 view");
    assert_eq!(text.matches("trigger t").count(), 10, "{text}");
    assert!(text.contains("  and 29 triggers more (-v names all)\n"), "{text}");
    let whole = many.whole_audit_text(&[]);
    assert_eq!(whole.matches("  trigger t").count(), 39);
    assert_eq!(whole.matches(" + 700").count(), 39);
}

#[test]
fn many_warnings_are_counted_by_kind() {
    let columns: Vec<String> = (0..30).map(|n| format!("d{n} JSON")).collect();
    let values = vec!["'{\"a\": 1, \"a\": 2}'"; 30].join(", ");
    let file = File::new(&format!(
        "CREATE TABLE t({}); INSERT INTO t VALUES ({values})",
        columns.join(", ")
    ));
    let text = file.audit_text(&[]);
    assert!(text.contains("Warnings: 30\n  repeated keys (30), for example\n"), "{text}");
    assert_eq!(text.matches("e.g. rowid 1").count(), 1, "{text}");
    assert!(text.contains("\nNotes by kind: no primary key 1 (-v names them)\n"), "{text}");
    assert!(text.lines().count() < 25, "{text}");
    assert_eq!(file.whole_audit_text(&[]).matches("e.g. rowid 1").count(), 30);
}

#[test]
fn no_table_is_wider_than_the_terminal() {
    let long = "a_rather_long_name_of_a_column_with_nothing_to_say";
    let columns: Vec<String> = (0..200).map(|n| format!("{long}_{n} VARCHAR({})", n + 1)).collect();
    let file = File::new(&format!("CREATE TABLE t({})", columns.join(", ")));
    let report = file.audit(&[]).unwrap();
    let short = report.to_text(&TextOptions { width: Some(80), ..SHORT });
    assert!(short.contains("\n      200   varchar    varchar\n"), "{short}");
    assert!(!short.contains(long) && short.lines().count() < 15, "{short}");
    for width in [60, 80, 132] {
        let options = TextOptions { width: Some(width), columns: true, ..SHORT };
        let text = report.to_text(&options);
        let (table, _) = text.split_once("\nNext: ").unwrap();
        assert!(table.lines().all(|line| line.chars().count() <= width.into()), "{text}");
        assert!(table.lines().count() > 200);
    }
}

#[tokio::test]
async fn control_characters_are_escaped_in_every_report() {
    let target = Target::new().await;
    let file = File::new(
        "CREATE TABLE \"a\u{1b}[31m\nb\"(\"c\u{7}\nd\" INTEGER, e TEXT); \
         CREATE TRIGGER \"t\u{1b}[0m\n\" AFTER INSERT ON \"a\u{1b}[31m\nb\" BEGIN \
             SELECT '\u{1b}'; END; \
         INSERT INTO \"a\u{1b}[31m\nb\" VALUES (1, 'x\u{1b}')",
    );
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    let mut texts = vec![report.to_text(&SHORT), report.to_text(&WHOLE)];
    file.run("INSERT INTO \"a\u{1b}[31m\nb\" VALUES ('\u{1b}', 'y')");
    texts.extend([file.audit_text(&[]), file.whole_audit_text(&[])]);
    texts.push(target.verify(&file).await.to_text(&WHOLE));
    let blocked = target.migrate(&file, &MigrateOptions::default()).await.unwrap_err();
    let selection = Selection { excluded: vec!["none\u{1b}".to_owned()], ..Selection::default() };
    let unknown = MigrateOptions { selection, ..MigrateOptions::default() };
    let unknown = target.migrate(&file, &unknown).await.unwrap_err();
    let elsewhere = MigrateOptions { schema: Some("pg_catalog".to_owned()), ..data_only() };
    let missing = target.migrate(&file, &elsewhere).await.unwrap_err();
    texts.extend([blocked, unknown, missing].map(|error| error.to_string()));
    for text in texts {
        let is_raw = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(is_raw) && text.contains("\\u{1b}"), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("b")), "{text}");
    }
}

#[tokio::test]
async fn a_target_without_tables_is_named_in_one_line() {
    let target = Target::new().await;
    let file = File::new("");
    for number in 10..40 {
        file.run(&format!("CREATE TABLE t{number}(a TEXT)"));
    }
    let error = target.migrate(&file, &data_only()).await.unwrap_err().to_string();
    let line = "the target's schema public has none of the 30 tables: t10, t11, t12 and 27 more; \
                crossover migrate makes them, --exclude leaves them out, --schema names another \
                schema; the target is unchanged";
    assert_eq!(error, line);
    target.run("CREATE TABLE t10(a text)").await;
    let error = target.migrate(&file, &data_only()).await.unwrap_err().to_string();
    assert!(error.starts_with("29 blockers found before anything was changed"), "{error}");
    assert!(error.contains("t11: the target's schema public has no such table; "), "{error}");
}

#[tokio::test]
async fn a_migration_answers_first_and_names_few_tables() {
    let target = Target::new().await;
    let file = with_rules(3);
    for number in 10..30 {
        file.run(&format!("CREATE TABLE t{number}(a TEXT); INSERT INTO t{number} VALUES ('a')"));
    }
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    let text = report.to_text(&SHORT);
    let mut lines = text.lines();
    let answer = lines.next().unwrap();
    assert!(answer.starts_with("moved: 21 rows in 22 tables into postgresql://"), "{text}");
    assert!(answer.ends_with(" s; every row verified"), "{text}");
    assert_eq!(lines.next().unwrap(), "not carried over: 3 triggers, 1 view");
    assert!(text.contains("  trigger t1 on item: ") && !text.contains("700"), "{text}");
    assert!(text.ends_with("  and 12 tables more (-v names all)\n"), "{text}");
    let whole = report.to_text(&WHOLE);
    assert!(whole.contains("+ 700") && whole.contains("\n  plain "), "{whole}");

    let text = target.verify(&file).await.to_text(&SHORT);
    assert!(text.starts_with("equal: 21 rows in 22 tables, every column\n"), "{text}");
    assert!(text.ends_with("  and 12 tables more (-v names all)\n"), "{text}");
}

/// Numbers too have a length as texts.
#[test]
fn the_longest_value_is_named_whatever_its_class() {
    let cases = [
        (
            "12345), (-1",
            "longest 5 characters), e.g. rowid 1 12345\n    remedy: --map 't.x=bigint'",
        ),
        (
            "123), ('four'",
            "longest 4 characters), e.g. rowid 1 123\n    remedy: widen the column: ",
        ),
        (
            "0.125), ('four'",
            "longer than varchar(2), e.g. rowid 1 0.125\n    remedy: widen the column: ",
        ),
    ];
    for (values, message) in cases {
        let file = File::new(&format!("CREATE TABLE t(x); INSERT INTO t VALUES ({values})"));
        let text = file.audit_text(&["t.x=varchar(2)"]);
        assert!(text.contains(message), "{text}");
    }
}
