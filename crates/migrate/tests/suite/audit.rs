//! Audit reports, word for word, and the snapshot that they are taken from.

use std::sync::atomic::{AtomicBool, Ordering};

use migrate::{AuditOptions, Severity, TextOptions};

use crate::support::{File, Target, rules};

/// The article's two faults: slugs longer than declared, UUIDs in a column declared integer.
pub fn as_found() -> File {
    let file = File::new(
        "CREATE TABLE articles(id INTEGER PRIMARY KEY, uuid INTEGER NOT NULL UNIQUE, \
             slug VARCHAR(256) NOT NULL, original_id INTEGER REFERENCES articles(id)); \
         CREATE TABLE traffic(day INTEGER NOT NULL, article_id INTEGER NOT NULL \
             REFERENCES articles(id), pageviews INTEGER NOT NULL, \
             PRIMARY KEY(day, article_id)) WITHOUT ROWID; \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) \
         INSERT INTO articles SELECT i, \
             printf('%08x-0000-4000-8000-%012x', i, i * 7), \
             'how-to-' || i, CASE WHEN i % 8 = 0 THEN i / 2 END FROM n; \
         INSERT INTO traffic SELECT 18000, id, id % 90 FROM articles;",
    );
    file.run(
        "UPDATE articles SET slug = 'how-to-' || substr(hex(zeroblob(200)), 1, 250 + id % 50) \
         WHERE id IN (11, 4711, 7044, 7999)",
    );
    file
}

#[test]
fn the_two_faults_of_the_article_are_named() {
    let file = as_found();
    let report = file.audit(&[]).unwrap();
    assert!(report.blocks());
    insta::assert_snapshot!(file.audit_text(&[]));
}

#[test]
fn the_cure_that_it_names_cures() {
    let file = as_found();
    let mapped = file.audit(&["articles.slug=varchar(512)", "articles.uuid=uuid"]).unwrap();
    assert!(!mapped.blocks(), "{}", mapped.to_text(&TextOptions::default()));
}

/// Everything else that SQLite holds and PostgreSQL does not.
fn everything() -> File {
    let file = File::new(
        "CREATE TABLE parents(a TEXT, b INT, PRIMARY KEY(a, b)); \
         INSERT INTO parents VALUES ('x', 1), (NULL, 2); \
         CREATE TABLE children(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT, b INT, \
             gone INT REFERENCES nowhere(id), \
             FOREIGN KEY(a, b) REFERENCES parents(a, b) DEFERRABLE INITIALLY DEFERRED); \
         INSERT INTO children(a, b) VALUES ('x', 1), ('y', 1), ('y', NULL); \
         CREATE TABLE kinds(n SMALLINT CHECK (n <> 7), r INTEGER, d DATE, at DATETIME, \
             flag BOOLEAN, code STRING, uuid UUID, j JSON, amount DECIMAL(6,2), \
             name TEXT COLLATE NOCASE DEFAULT (lower('X')), payload BLOB, \
             doubled INT GENERATED ALWAYS AS (n * 2) STORED); \
         PRAGMA ignore_check_constraints = on; INSERT INTO kinds(n) VALUES (7); \
         CREATE INDEX kinds_name ON kinds(name) WHERE n > 0; \
         CREATE UNIQUE INDEX kinds_hex ON kinds(hex(name)); \
         CREATE VIEW some AS SELECT 1; \
         CREATE TRIGGER watch AFTER INSERT ON kinds BEGIN SELECT 1; END; \
         CREATE VIRTUAL TABLE search USING fts5(body); \
         CREATE TABLE strictly(a INT) STRICT; \
         CREATE TABLE \"a name of more than sixty-three bytes, which PostgreSQL would cut off\"(a); \
         INSERT INTO kinds(n, r, d, at, flag, code, uuid, j, amount, name, payload) VALUES \
             (1, 2, '2021-02-28', 1614834367, 1, '007', '00000000-0000-0000-0000-000000000001', \
              '{\"a\": 1}', 12.34, 'a', x'00'), \
             (40000, 2.5, '2021-02-29', 1714834367, 2, 'abc', '7e999', '[', 12345.6, \
              CAST(x'61ff' AS TEXT), 'text'), \
             (2, 'many', '2021-03-01', 1814834367, 'yes', 8, NULL, NULL, 0.125, \
              'nul' || char(0), x'');",
    );
    file.run("ANALYZE");
    file
}

#[test]
fn an_audit_names_everything_that_postgresql_refuses() {
    insta::assert_snapshot!(everything().audit_text(&[]));
    insta::assert_snapshot!("everything_in_full", everything().whole_audit_text(&[]));
}

#[test]
fn the_proposed_schema_has_a_comment_at_every_decision() {
    let file = everything();
    insta::assert_snapshot!(file.audit(&[]).unwrap().proposed_schema);
}

#[tokio::test]
async fn an_audit_against_a_target_uses_its_types() {
    let file = as_found();
    let target = Target::new().await;
    target
        .run(
            "CREATE TABLE articles(id int PRIMARY KEY, uuid int NOT NULL, slug varchar(256), \
                 original_id smallint); \
             CREATE TABLE traffic(day int, article_id int, pageviews smallint)",
        )
        .await;
    let catalog = migrate::read_catalog(&target.url, None).await.unwrap();
    let options = AuditOptions { target: Some(catalog), ..AuditOptions::default() };
    let report = migrate::audit(
        &file.path,
        &options,
        &indicatif::ProgressBar::hidden(),
        &AtomicBool::new(false),
    )
    .unwrap();
    let lines: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
    // The remedies can be pasted.
    for finding in &report.findings {
        target.run(finding.fix.split_once("in the target: ").unwrap().1).await;
    }
}

#[test]
fn an_audit_reads_one_snapshot_during_writes() {
    let file = File::new(
        "PRAGMA journal_mode = wal; CREATE TABLE a(i INTEGER PRIMARY KEY, t TEXT); \
         CREATE TABLE b(i INTEGER PRIMARY KEY, t TEXT); CREATE TABLE c(i INTEGER PRIMARY KEY); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
         INSERT INTO a SELECT i, hex(i) FROM n; INSERT INTO b SELECT * FROM a; \
         INSERT INTO c SELECT i FROM a",
    );
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let connection = file.connection();
            let mut written = 0;
            while !stop.load(Ordering::Relaxed) {
                connection
                    .execute_batch(
                        "BEGIN; INSERT INTO a(t) VALUES('x'); INSERT INTO b(t) VALUES('x'); \
                         INSERT INTO c DEFAULT VALUES; COMMIT",
                    )
                    .unwrap();
                written += 1;
            }
            written
        });
        for _ in 0..10 {
            let report = file.audit(&[]).unwrap();
            let rows: Vec<u64> = report.tables.iter().map(|table| table.rows).collect();
            assert!(rows[0] >= 20_000 && rows.iter().all(|each| *each == rows[0]), "{rows:?}");
        }
        stop.store(true, Ordering::Relaxed);
        assert!(writer.join().unwrap() > 0);
    });
}

#[test]
fn a_rule_that_matches_nothing_is_refused() {
    let file = as_found();
    let refused = |rule| file.audit(&[rule]).unwrap_err().to_string();
    insta::assert_snapshot!([refused("articles.slog=text"), refused("article.*=text")].join("\n"));
}

#[test]
fn a_selection_names_foreign_keys_to_excluded_tables() {
    let file = as_found();
    let options = AuditOptions {
        selection: migrate::Selection { tables: vec!["tr*".into()], ..Default::default() },
        rules: rules(&[]),
        ..AuditOptions::default()
    };
    let (progress, interrupted) = (indicatif::ProgressBar::hidden(), AtomicBool::new(false));
    let report = migrate::audit(&file.path, &options, &progress, &interrupted).unwrap();
    assert_eq!(report.tables.len(), 1);
    let warnings: Vec<_> =
        report.findings.iter().filter(|each| each.severity == Severity::Warning).collect();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].kind, "foreign_key_not_carried_over");
}

#[test]
fn a_cure_is_a_rule_only_where_every_value_is_of_one_kind() {
    let rules_of = |file: &File| -> Vec<Option<String>> {
        let report = file.audit(&[]).unwrap();
        let blockers = report.findings.into_iter();
        blockers
            .filter(|finding| finding.severity == Severity::Blocker)
            .map(|finding| finding.mapping)
            .collect()
    };
    let mut remedies = rules_of(&as_found());
    remedies.sort();
    let expected =
        ["articles.slug=varchar(512)", "articles.uuid=uuid"].map(|rule| Some(rule.to_owned()));
    assert_eq!(remedies, expected);
    let blobs = File::new("CREATE TABLE t(b TEXT); INSERT INTO t VALUES (x'00ff'), (NULL)");
    assert_eq!(rules_of(&blobs), [Some("t.b=bytea".to_owned())]);
    let mixed =
        File::new("CREATE TABLE t(i INTEGER); INSERT INTO t VALUES (1), (2), ('not known')");
    assert_eq!(rules_of(&mixed), [None]);
}

#[test]
fn csv_has_a_line_for_every_column_and_finding() {
    let file = File::new(
        "CREATE TABLE t(i INTEGER, \"a,b\" TEXT); INSERT INTO t VALUES ('x, y', 'z'); \
         CREATE VIEW v AS SELECT 1",
    );
    let report = file.audit(&[]).unwrap();
    let text = report.to_csv();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let field = |row: &csv::StringRecord, name: &str| {
        row[header.iter().position(|each| each == name).unwrap()].to_owned()
    };
    let of = |column: &str| rows.iter().filter(move |row| row[1] == *column).collect::<Vec<_>>();
    assert_eq!(field(of("i")[0], "severity"), "blocker");
    assert_eq!(field(of("i")[0], "example_value"), "\"x, y\"");
    assert!(field(of("i")[0], "fix").contains("--map 't.i=text'"));
    assert_eq!(field(of("a,b")[0], "severity"), "");
    let view = rows.iter().find(|row| &row[0] == "v").unwrap();
    assert_eq!((field(view, "column"), field(view, "severity")), (String::new(), "warning".into()));
    let findings = rows.iter().filter(|row| !field(row, "kind").is_empty()).count();
    assert_eq!(findings, report.findings.len());
}

#[test]
fn a_unique_key_under_another_collation_is_named() {
    let file = File::new(
        "CREATE TABLE tag(name TEXT PRIMARY KEY COLLATE NOCASE, code TEXT UNIQUE COLLATE RTRIM); \
         INSERT INTO tag VALUES ('Ärger', 'a'), ('ärger', 'b'), ('x', 'c'); \
         CREATE TABLE word(text TEXT COLLATE NOCASE); \
         CREATE UNIQUE INDEX exactly ON word(text COLLATE BINARY); \
         INSERT INTO word VALUES ('a'), ('A'), ('b'); \
         CREATE TABLE plain(name TEXT UNIQUE); INSERT INTO plain VALUES ('a'), ('A')",
    );
    let report = file.audit(&[]).unwrap();
    assert!(!report.blocks());
    let lines = report.findings.iter().filter(|each| each.severity == Severity::Warning);
    let lines: Vec<String> = lines
        .map(|finding| format!("{finding}\n    {}", finding.statement.as_deref().unwrap_or("-")))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert!(!lines.iter().any(|line| line.starts_with("plain")));
}

/// Statements that are proposed are accepted by PostgreSQL beside what migration made, and so are
/// these drafts without their comments.
#[tokio::test]
async fn proposed_statements_can_be_run() {
    let file = File::new(
        "CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT UNIQUE COLLATE NOCASE, \
             made INT DEFAULT (strftime('%s', 'now')), key TEXT DEFAULT (lower(hex(randomblob(16)))), \
             n INT CHECK (n % 2 = 0), doubled INT AS (n * 2) STORED, body TEXT); \
         INSERT INTO tag(name, n) VALUES ('a', 2); \
         CREATE INDEX tag_lower ON tag(lower(name)) WHERE n % 4 = 0; \
         CREATE VIEW even AS SELECT Name, ifnull(n, 0) AS n FROM tag WHERE n % 2 == 0; \
         CREATE TRIGGER keep AFTER DELETE ON tag WHEN old.n > 2 BEGIN \
             INSERT INTO tag(name) VALUES ('deleted'); END; \
         CREATE VIRTUAL TABLE search USING fts5(title, body)",
    );
    let Some(target) = Target::since(12).await else { return };
    let options = migrate::MigrateOptions { ..Default::default() };
    let report = target.migrate(&file, &options).await.unwrap();
    let statements: Vec<&str> =
        report.findings.iter().filter_map(|finding| finding.statement.as_deref()).collect();
    assert_eq!(statements.len(), 8, "{statements:#?}");
    for statement in statements {
        target.run(&statement.replace("\n-- ", "\n")).await;
    }
    target.run("INSERT INTO tag(name, n) VALUES ('c', 4); DELETE FROM tag WHERE n = 4").await;
    let made = "SELECT format('%s %s %s', name, doubled, length(key)) FROM tag \
                WHERE made > 1700000000 ORDER BY name";
    assert_eq!(target.texts(made).await, ["a 4 32", "deleted  32"]);
    assert_eq!(target.texts("SELECT format('%s %s', name, n) FROM even").await, ["a 2"]);
    let taken = target.client.batch_execute("INSERT INTO tag(name) VALUES ('A')").await;
    assert!(taken.unwrap_err().as_db_error().unwrap().message().contains("duplicate key"));
}

#[test]
fn a_check_that_rows_violate_blocks_if_it_is_carried_over() {
    let file = File::new(
        "CREATE TABLE t(n INT CHECK (n BETWEEN 1 AND 9), m INT CHECK (m % 2 = 0), \
             j TEXT CHECK (json_extract(j, '$.a') > 0)); \
         PRAGMA ignore_check_constraints = on; \
         INSERT INTO t VALUES (10, 1, '{\"a\": 0}'), (NULL, NULL, NULL), (9, 2, '{\"a\": 1}')",
    );
    let findings = |file: &File| -> Vec<(Severity, String)> {
        let report = file.audit(&[]).unwrap();
        let violations = report.findings.into_iter().filter(|each| each.kind == "check_violation");
        violations.map(|each| (each.severity, each.message)).collect()
    };
    let expected = [
        (Severity::Blocker, "1 row violates CHECK (n BETWEEN 1 AND 9)".to_owned()),
        (Severity::Warning, "1 row violates CHECK (m % 2 = 0)".to_owned()),
        (Severity::Warning, "1 row violates CHECK (json_extract(j, '$.a') > 0)".to_owned()),
    ];
    assert_eq!(findings(&file), expected);
}

#[test]
fn forms_of_texts_and_numbers_are_named() {
    let file = File::new(
        "CREATE TABLE log(created_at INTEGER, sent_time INTEGER, size INTEGER, zip TEXT, \
             seen TEXT, flag TEXT); \
         INSERT INTO log VALUES (1614834367, 1614834367000, 1614834367, '1234', \
             '2021-03-04T05:06:07Z', 'true'), (1714834367, 1714834367000, 1714834367, '99', \
             '2021-03-04T05:06:08+01:00', 'FALSE')",
    );
    let report = file.audit(&[]).unwrap();
    let notes = report.findings.iter().filter(|each| !each.fix.is_empty());
    let fixes: Vec<&str> = notes.map(|each| each.fix.as_str()).collect();
    assert_eq!(
        fixes,
        [
            "--map 'log.created_at=timestamptz using epoch_seconds' if so meant",
            "--map 'log.sent_time=timestamptz using epoch_milliseconds' if so meant",
            "--map 'log.zip=bigint' if so meant",
            "--map 'log.seen=timestamptz' if so meant",
            "--map 'log.flag=boolean' if so meant",
            "--integers declared makes integer of them",
        ]
    );
}

#[tokio::test]
async fn epoch_numbers_in_a_column_of_moments_are_read_by_a_rule() {
    let file = File::new(
        "CREATE TABLE t(at INTEGER); INSERT INTO t VALUES (1614834367000), (1714834367000)",
    );
    let target = Target::new().await;
    target.run("CREATE TABLE t(at timestamptz)").await;
    let catalog = migrate::read_catalog(&target.url, None).await.unwrap();
    let options = |map: &[&str]| AuditOptions {
        target: Some(catalog.clone()),
        rules: rules(map),
        ..AuditOptions::default()
    };
    let (progress, stop) = (indicatif::ProgressBar::hidden(), AtomicBool::new(false));
    let audit = |map: &[&str]| migrate::audit(&file.path, &options(map), &progress, &stop).unwrap();
    let fix = &audit(&[]).findings[0].fix;
    assert_eq!(
        fix,
        "probably epoch milliseconds: --map 't.at=timestamptz using epoch_milliseconds'"
    );
    assert!(!audit(&["t.at=timestamptz using epoch_milliseconds"]).blocks());
    // The epoch itself and moments before 1973 tell no unit, and do not hide that of the others.
    file.run("INSERT INTO t VALUES (0), (-14182940000)");
    let fix = &audit(&[]).findings[0].fix;
    assert!(fix.starts_with("probably epoch milliseconds (2 of 4 numbers): --map"), "{fix}");
    assert!(!audit(&["t.at=timestamptz using epoch_milliseconds"]).blocks());
}
