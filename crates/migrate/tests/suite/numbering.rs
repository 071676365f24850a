//! Keys that SQLite numbers: PostgreSQL goes on with the numbers, or the remedy is known before the
//! move.

use migrate::{AuditReport, MigrateOptions, MigrationReport, Severity};

use crate::audit_target::audit;
use crate::support::{File, Target, data_only, rules};

/// The statements of a report's blockers.
fn remedies(report: &AuditReport) -> Vec<&str> {
    let blockers = report.findings.iter().filter(|each| each.severity == Severity::Blocker);
    blockers.map(|each| each.fix.split_once("in the target: ").unwrap().1).collect()
}

/// The move is refused with the remedies of its audit, which are then pasted; after it the
/// statement `insert` gives `expected`.
async fn repaired(file: &File, target: &Target, insert: &str, expected: &str) -> MigrationReport {
    let error = target.migrate(file, &data_only()).await.unwrap_err().to_string();
    let report = audit(file, target).await;
    assert!(report.blocks(), "{error}");
    for remedy in remedies(&report) {
        assert!(error.contains(remedy), "{error}");
        target.run(remedy).await;
    }
    let report = target.migrate(file, &data_only()).await.unwrap();
    assert_eq!(target.texts(insert).await, [expected]);
    report
}

#[tokio::test]
async fn a_rule_that_takes_the_numbers_away_is_refused() {
    let file = File::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY, x TEXT); INSERT INTO p VALUES (7, 'a'); \
         CREATE TABLE c(p_id NUMERIC REFERENCES p, q_id TEXT REFERENCES p, at INTEGER PRIMARY KEY); \
         INSERT INTO c VALUES (7, '7', 1614834367)",
    );
    let target = Target::new().await;
    for rule in ["p.id=numeric", "*.id=text", "p.id=double precision"] {
        let error = target
            .migrate(&file, &MigrateOptions { rules: rules(&[rule]), ..MigrateOptions::default() })
            .await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("p.id: SQLite numbers its rows, PostgreSQL numbers no "), "{error}");
        assert!(error.contains("leave the rule of --map out, or give it smallint,"), "{error}");
    }
    let report = file.audit(&[]).unwrap();
    let fixes: Vec<&str> = report.findings.iter().map(|each| each.fix.as_str()).collect();
    assert!(!fixes.iter().any(|fix| fix.contains("p.id=") || fix.contains("c.at=")), "{fixes:?}");
    let small = MigrateOptions { rules: rules(&["p.id=smallint"]), ..MigrateOptions::default() };
    file.run("UPDATE c SET q_id = NULL, p_id = NULL; DROP TABLE c");
    target.migrate(&file, &small).await.unwrap();
    let next = "INSERT INTO p DEFAULT VALUES RETURNING format('%s %s', id, pg_typeof(id))";
    assert_eq!(target.texts(next).await, ["8 smallint"]);
}

#[tokio::test]
async fn a_column_that_refers_to_a_numbered_key_takes_its_type() {
    let file = File::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p_id TEXT REFERENCES p); \
         INSERT INTO p VALUES (7); INSERT INTO c VALUES ('7')",
    );
    let report = file.audit(&[]).unwrap();
    let types: Vec<&str> =
        report.tables.iter().map(|t| t.columns[0].postgres_type.as_str()).collect();
    assert_eq!(types[1], "bigint");
    let target = Target::new().await;
    let (mut options, mut blockers) = (MigrateOptions::default(), 0);
    for finding in report.findings.iter().filter(|each| each.severity == Severity::Blocker) {
        let rule = finding.fix.split('\'').nth(1).unwrap();
        options.rules.0.extend(rules(&[rule]).0);
        blockers += 1;
    }
    assert!(blockers <= 1);
    target.migrate(&file, &options).await.unwrap();
    assert_eq!(target.texts("INSERT INTO p DEFAULT VALUES RETURNING id::text").await, ["8"]);
}

#[tokio::test]
async fn numbers_at_the_end_of_their_type_are_found_before() {
    let file =
        File::new("CREATE TABLE p(id INTEGER PRIMARY KEY, x); INSERT INTO p VALUES (32767, 1)");
    let report = file.audit(&["p.id=smallint"]).unwrap();
    assert!(report.blocks());
    let finding = &report.findings[0];
    assert_eq!(finding.fix, "--map 'p.id=bigint'");
    let target = Target::new().await;
    let wide = MigrateOptions {
        rules: rules(&["*.id=smallint", "p.id=bigint"]),
        ..MigrateOptions::default()
    };
    target.migrate(&file, &wide).await.unwrap();
    let next = "INSERT INTO p(x) VALUES (2) RETURNING id::text";
    assert_eq!(target.texts(next).await, ["32768"]);
}

/// Ids above 2^31 where the target's sequences end at it.
const LARGE: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, x INT); \
                     INSERT INTO t VALUES (3000000000, 1)";
const NEXT: &str = "INSERT INTO t(x) VALUES (2) RETURNING id::text";

#[tokio::test]
async fn a_sequence_that_ends_before_the_ids_is_widened() {
    let tables = [
        "CREATE SEQUENCE s AS integer; \
         CREATE TABLE t(id bigint PRIMARY KEY DEFAULT nextval('s'), x int)",
        "CREATE SEQUENCE s AS integer; \
         CREATE TABLE t(id bigint PRIMARY KEY DEFAULT nextval('s'::text), x int)",
        "CREATE TABLE t(id serial PRIMARY KEY, x int); ALTER TABLE t ALTER id TYPE bigint",
        "CREATE TABLE t(id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 5) PRIMARY KEY, x int)",
        "CREATE SCHEMA \"it's\"; CREATE SEQUENCE \"it's\".\"a \"\"b\" AS smallint; \
         CREATE TABLE t(id numeric PRIMARY KEY DEFAULT nextval('\"it''s\".\"a \"\"b\"'), x int)",
    ];
    let file = File::new(LARGE);
    for script in tables {
        let Some(target) = Target::since(10).await else { return };
        target.run(script).await;
        repaired(&file, &target, NEXT, "3000000001").await;
    }
    // A column that is too narrow for further numbers is widened with its sequence.
    let file = File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, x INT); INSERT INTO t VALUES (2147483647, 1)",
    );
    for id in ["serial", "int GENERATED BY DEFAULT AS IDENTITY"] {
        let target = Target::new().await;
        target.run(&format!("CREATE TABLE t(id {id} PRIMARY KEY, x int)")).await;
        repaired(&file, &target, NEXT, "2147483648").await;
    }
}

#[tokio::test]
async fn the_oldest_release_is_mended_too() {
    let target = Target::release("9.6").await;
    let file = File::new(LARGE);
    target
        .run(
            "CREATE SEQUENCE s MAXVALUE 2147483647; \
             CREATE TABLE t(id bigint PRIMARY KEY DEFAULT nextval('s'), x int)",
        )
        .await;
    repaired(&file, &target, NEXT, "3000000001").await;
}

#[tokio::test]
async fn a_shared_sequence_goes_on_after_all_its_columns() {
    let file = File::new(
        "CREATE TABLE a(id INTEGER PRIMARY KEY, x INT); CREATE TABLE b(id INTEGER PRIMARY KEY); \
         INSERT INTO a VALUES (5, 1); INSERT INTO b VALUES (40)",
    );
    let target = Target::new().await;
    target
        .run(
            "CREATE SCHEMA other; CREATE SEQUENCE other.ids; \
             CREATE TABLE a(id bigint PRIMARY KEY DEFAULT nextval('other.ids'), x int); \
             CREATE TABLE b(id bigint PRIMARY KEY DEFAULT nextval('other.ids')); \
             CREATE TABLE other.c(id bigint DEFAULT nextval('other.ids')); \
             INSERT INTO other.c VALUES (90)",
        )
        .await;
    let report = target.migrate(&file, &data_only()).await.unwrap();
    assert_eq!(report.sequences_set, 1);
    let next = "INSERT INTO a(x) VALUES (2) RETURNING id::text";
    assert_eq!(target.texts(next).await, ["91"]);
    // One that counts downwards, and one whose next number is beyond the rows.
    let target = Target::new().await;
    target
        .run(
            "CREATE SEQUENCE down INCREMENT -1 MAXVALUE 7; CREATE SEQUENCE high MINVALUE 1000; \
             CREATE TABLE a(id bigint PRIMARY KEY DEFAULT nextval('down'), x int); \
             CREATE TABLE b(id bigint PRIMARY KEY DEFAULT nextval('high'))",
        )
        .await;
    target.migrate(&file, &data_only()).await.unwrap();
    assert_eq!(target.texts(next).await, ["4"]);
    let next = "INSERT INTO b DEFAULT VALUES RETURNING id::text";
    assert_eq!(target.texts(next).await, ["1000"]);
}

#[tokio::test]
async fn numbers_that_were_given_out_are_never_given_again() {
    let file =
        File::new("CREATE TABLE t(id INTEGER PRIMARY KEY, x INT); INSERT INTO t VALUES (40000, 1)");
    let function = "CREATE FUNCTION next() RETURNS bigint LANGUAGE";
    let called = "CREATE TABLE t(id bigint PRIMARY KEY DEFAULT next(), x int)";
    let of_sql = format!("CREATE SEQUENCE s; {function} sql AS 'SELECT nextval(''s'')'; {called}");
    let tables = [
        "CREATE TABLE t(id serial PRIMARY KEY, x int)",
        "CREATE TABLE t(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, x int)",
        &format!("{of_sql}; ALTER SEQUENCE s OWNED BY t.id"),
        &of_sql,
        &format!(
            "CREATE SEQUENCE s; {function} plpgsql AS \
             $$ BEGIN RETURN nextval( 'public.s'::regclass); END $$; {called}"
        ),
    ];
    for script in tables {
        let Some(target) = Target::since(10).await else { return };
        target.run(script).await;
        let replace = MigrateOptions { replace: true, ..data_only() };
        // Without rows, then with rows that are replaced; behind the file's numbers, then before them.
        target.migrate(&file, &replace).await.unwrap();
        assert_eq!(target.texts(NEXT).await, ["40001"], "{script}");
        let set = "SELECT setval(oid::regclass, 90000)::text FROM pg_class WHERE relkind = 'S'";
        target.texts(set).await;
        target.migrate(&file, &replace).await.unwrap();
        assert_eq!(target.texts(NEXT).await, ["90001"], "{script}");
        target.run("DELETE FROM t").await;
        target.migrate(&file, &data_only()).await.unwrap();
        assert_eq!(target.texts(NEXT).await, ["90002"], "{script}");
    }
}

#[tokio::test]
async fn a_sequence_of_another_account_is_found_before() {
    let file =
        File::new("CREATE TABLE t(id INTEGER PRIMARY KEY, x INT); INSERT INTO t VALUES (5, 1)");
    let target = Target::new().await;
    target
        .run(
            "CREATE SCHEMA other; CREATE SEQUENCE other.ids; \
             CREATE TABLE t(id bigint PRIMARY KEY DEFAULT nextval('other.ids'), x int); \
             CREATE ROLE loader LOGIN; ALTER TABLE t OWNER TO loader; \
             GRANT CREATE, USAGE ON SCHEMA public TO loader; \
             DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO loader', \
                 current_database()); END $$",
        )
        .await;
    let loader = target.on_behalf_of("loader").await;
    let report = mended_as(&file, &target, &loader).await;
    assert_eq!(report.sequences_set, 1);
    target.run("DROP OWNED BY loader; DROP ROLE loader").await;
}

/// The same as `repaired` for another account, with the remedy pasted by the owner.
async fn mended_as(file: &File, owner: &Target, target: &Target) -> MigrationReport {
    let error = target.migrate(file, &data_only()).await.unwrap_err().to_string();
    let report = audit(file, target).await;
    let pasted = report.findings.iter().find(|each| each.kind == "sequence_not_allowed").unwrap();
    let (_, remedy) = pasted.fix.split_once("as its owner: ").unwrap();
    assert!(error.contains(remedy), "{error}");
    owner.run(remedy).await;
    let report = target.migrate(file, &data_only()).await.unwrap();
    owner.run("GRANT ALL ON SEQUENCE other.ids TO loader").await;
    assert_eq!(target.texts(NEXT).await, ["6"]);
    report
}

#[tokio::test]
async fn a_key_without_numbers_in_the_target_gets_them_by_the_remedy() {
    let file = File::new(LARGE);
    for before in [true, false] {
        let Some(target) = Target::since(10).await else { return };
        target.run("CREATE TABLE t(id bigint PRIMARY KEY, x int)").await;
        let report = audit(&file, &target).await;
        assert!(!report.blocks());
        let finding = report.findings.iter().find(|each| each.kind == "key_without_numbers");
        let (_, remedy) = finding.unwrap().fix.split_once("in the target: ").unwrap();
        if before {
            target.run(remedy).await;
        }
        target.migrate(&file, &data_only()).await.unwrap();
        if !before {
            target.run(remedy).await;
        }
        assert_eq!(target.texts(NEXT).await, ["3000000001"]);
    }
}

#[tokio::test]
async fn a_dry_run_leaves_every_sequence_alone() {
    let file =
        File::new("CREATE TABLE t(id INTEGER PRIMARY KEY, x INT); INSERT INTO t VALUES (5, 1)");
    let target = Target::new().await;
    target
        .run(
            "CREATE SEQUENCE s MAXVALUE 9; \
             CREATE TABLE t(id bigint PRIMARY KEY DEFAULT nextval('s'), x int)",
        )
        .await;
    let trial = MigrateOptions { dry_run: true, ..data_only() };
    assert_eq!(target.migrate(&file, &trial).await.unwrap().sequences_set, 1);
    assert_eq!(target.texts(NEXT).await, ["1"]);
}

#[tokio::test]
async fn rows_that_were_there_already_set_their_sequences_too() {
    let script = "CREATE TABLE p(id INTEGER PRIMARY KEY, n INT); \
                  CREATE TABLE c(id INTEGER PRIMARY KEY, n INT); INSERT INTO p VALUES (1, 1), (9, 2)";
    let tables = "CREATE TABLE p(id bigserial PRIMARY KEY, n int); \
                  CREATE TABLE c(id bigserial PRIMARY KEY, n int); INSERT INTO p VALUES (1, 1), (9, 2)";
    let next = "INSERT INTO p(n) VALUES (3) RETURNING id::text";
    // Every table holds its rows already, then all but one.
    for of_c in ["INSERT INTO c VALUES (4, 4)", "SELECT 1"] {
        let file = File::new(&format!("{script}; INSERT INTO c VALUES (4, 4)"));
        let target = Target::new().await;
        target.run(&format!("{tables}; {of_c}")).await;
        let report = target.migrate(&file, &data_only()).await.unwrap();
        assert_eq!(report.sequences_set, 2);
        assert_eq!(target.texts(next).await, ["10"]);
        let next = "INSERT INTO c(n) VALUES (5) RETURNING id::text";
        assert_eq!(target.texts(next).await, ["5"]);
    }
    // One that is further stays, also one that was restarted and has given out nothing since.
    for further in ["SELECT setval('p_id_seq', 49)", "ALTER SEQUENCE p_id_seq RESTART WITH 50"] {
        let file = File::new(script);
        let target = Target::new().await;
        target.run(&format!("{tables}; {further}")).await;
        let report = target.migrate(&file, &data_only()).await.unwrap();
        assert_eq!(report.sequences_set, 0);
        assert_eq!(target.texts(next).await, ["50"]);
    }
}

/// Sequences to which no dependency leads, found by the default or by its function.
#[tokio::test]
async fn a_sequence_behind_an_expression_goes_on() {
    let file = File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, x INT); INSERT INTO t VALUES (3, 1), (40, 1)",
    );
    let Some(target) = Target::since(10).await else { return };
    let function = "CREATE FUNCTION next() RETURNS bigint LANGUAGE";
    let cases = [
        ("", "nextval(('p'||'s')::regclass)"),
        ("", "nextval('p'||'s')"),
        ("", "(nextval(concat('p', 's')::regclass))::int"),
        ("", "COALESCE(nextval(('ps'::text)::regclass), 0)"),
        ("ALTER SEQUENCE ps RENAME TO \"P s\"", "nextval(format('%I', 'P s')::regclass)"),
        (&format!("{function} sql AS 'SELECT NEXTVAL(''\"ps\"''::regclass)'"), "next()"),
    ];
    for (script, default) in cases {
        target
            .run(&format!(
                "CREATE SEQUENCE ps; {script}; CREATE TABLE t(id bigint PRIMARY KEY DEFAULT {default}, x int)"
            ))
            .await;
        let report = audit(&file, &target).await;
        assert!(report.findings.is_empty(), "{default} {:?}", report.findings);
        target.migrate(&file, &data_only()).await.unwrap();
        assert_eq!(target.texts(NEXT).await, ["41"], "{default}");
        target
            .run(
                "DROP TABLE t; DROP SEQUENCE IF EXISTS ps, \"P s\"; DROP FUNCTION IF EXISTS next()",
            )
            .await;
    }
    // Downwards, and by a domain.
    file.run("INSERT INTO t VALUES (-7, 1)");
    target
        .run(
            "CREATE SEQUENCE s INCREMENT -1; CREATE DOMAIN number AS bigint DEFAULT nextval('s'); \
             CREATE TABLE t(id number PRIMARY KEY, x int)",
        )
        .await;
    target.migrate(&file, &data_only()).await.unwrap();
    assert_eq!(target.texts(NEXT).await, ["-8"]);
}

/// The remedy of a sequence that cannot be known works with its name.
#[tokio::test]
async fn numbers_that_cannot_be_foreseen_are_named() {
    let file =
        File::new("CREATE TABLE t(id INTEGER PRIMARY KEY, x INT); INSERT INTO t VALUES (1, 1)");
    let target = Target::new().await;
    let hidden = "CREATE SEQUENCE s; CREATE FUNCTION inside() RETURNS bigint LANGUAGE sql AS \
                  'SELECT nextval(''s'')'; CREATE FUNCTION next() RETURNS bigint LANGUAGE sql AS \
                  'SELECT inside()'; CREATE TABLE t(id bigint PRIMARY KEY DEFAULT next(), x int)";
    let computed = "CREATE TABLE t(id bigint PRIMARY KEY DEFAULT 2 - nextval('s'), x int)";
    for (script, word, value) in [(hidden, "SEQUENCE", "s"), (computed, "NUMBER", "8")] {
        target.run(&format!("DROP TABLE IF EXISTS t; {script}")).await;
        let report = audit(&file, &target).await;
        let moved = target.migrate(&file, &data_only()).await.unwrap();
        let text = moved.to_text(&migrate::TextOptions::default());
        let [finding] = &report.findings[..] else { panic!("{:?}", report.findings) };
        assert_eq!((finding.kind, finding.severity), ("sequence_not_known", Severity::Warning));
        assert!(text.contains(&finding.fix), "{text}");
        let (_, remedy) = finding.fix.split_once(": ").unwrap();
        target.run(&remedy.replace(word, value)).await;
        target.texts(NEXT).await;
    }
}
