//! Clean audits: the migration after them succeeds, since limits of PostgreSQL's indexes are known
//! before.

use migrate::{Lost, MigrateOptions, Selection, Severity};

use crate::support::{File, Target};

fn skipping(index: &str) -> MigrateOptions {
    let skipped_indexes = vec![index.to_owned()];
    let selection = Selection { skipped_indexes, ..Selection::default() };
    MigrateOptions { selection, ..MigrateOptions::default() }
}

#[tokio::test]
async fn a_condition_of_json_holds_for_the_same_rows() {
    let file = File::new(
        "CREATE TABLE t(n INT, j JSON, CHECK (json_valid(j))); \
         CREATE UNIQUE INDEX one ON t(n) WHERE json_valid(j); \
         CREATE UNIQUE INDEX two ON t(n) WHERE NOT json_valid(j); \
         INSERT INTO t VALUES (1, '{}'), (1, NULL), (1, NULL), (2, '[]')",
    );
    let target = Target::new().await;
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert!(report.not_carried_over.is_empty());
    target.run("INSERT INTO t VALUES (2, NULL)").await;
    assert!(target.client.batch_execute("INSERT INTO t VALUES (2, '{}')").await.is_err());
}

#[tokio::test]
async fn a_collation_of_the_application_stops_nothing() {
    let file = File::new("");
    let connection = file.connection();
    let ignore_case = |one: &str, other: &str| one.to_lowercase().cmp(&other.to_lowercase());
    connection.create_collation("unicase", ignore_case).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE deck(id INTEGER PRIMARY KEY, name TEXT COLLATE unicase UNIQUE); \
             CREATE INDEX by_name ON deck(name); \
             INSERT INTO deck(name) VALUES ('b'), ('A'), ('c'), ('B2'), ('a1')",
        )
        .unwrap();
    drop(connection);
    let report = file.audit(&[]).unwrap();
    let finding = report.findings.iter().find(|one| one.kind == "unknown_collation").unwrap();
    assert!(finding.to_string().contains("compares by UNICASE"), "{finding}");
    let target = Target::new().await;
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    let names = target.texts("SELECT name FROM deck ORDER BY id").await;
    assert_eq!(names, ["b", "A", "c", "B2", "a1"]);
}

#[tokio::test]
async fn indexes_of_more_than_32_columns_are_not_carried_over() {
    let columns: Vec<String> = (0..33).map(|number| format!("c{number} INT")).collect();
    let names: Vec<String> = (0..33).map(|number| format!("c{number}")).collect();
    let (columns, names) = (columns.join(", "), names.join(", "));
    let file = File::new(&format!(
        "CREATE TABLE t({columns}, UNIQUE ({names})); CREATE INDEX wide ON t({names}); \
         CREATE INDEX narrow ON t(c1); INSERT INTO t(c0) VALUES (1)"
    ));
    let target = Target::new().await;
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert_eq!(report.not_carried_over.rules[&Lost::Index], 2);
    let lost: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lost.join("\n"));
    let file = File::new(&format!("CREATE TABLE t({columns}, PRIMARY KEY ({names}))"));
    let report = file.audit(&[]).unwrap();
    assert_eq!(report.findings[0].kind, "too_many_key_columns");
    assert!(report.blocks());
}

/// Bytes that no compression makes shorter, from a simple generator.
fn noise(length: usize, mut state: u64) -> String {
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b' ' + 1 + ((state >> 33) % 94) as u8
    };
    (0..length).map(|_| char::from(next())).collect()
}

#[tokio::test]
async fn the_audit_knows_which_index_entries_are_too_long() {
    let target = Target::new().await;
    target.run("CREATE TABLE t(n bigint, a text, b text); CREATE INDEX i ON t(n, a, b)").await;
    let prose = "the quick brown fox jumps over the lazy dog and ";
    let mixed = |noisy: usize, plain: usize| noise(noisy, 3) + &prose.repeat(plain);
    let values = [
        (noise(2660, 1), String::new()),
        (noise(2710, 1), String::new()),
        (noise(1300, 1), noise(1300, 2)),
        (noise(1500, 1), noise(1500, 2)),
        (prose.repeat(200), String::new()),
        (prose.repeat(10_000), String::new()),
        (mixed(1000, 80), String::new()),
        (mixed(1100, 80), String::new()),
        (prose.repeat(30) + &noise(2400, 4), String::new()),
        (prose.repeat(30) + &noise(2600, 4), String::new()),
        ((1..690).map(|number| format!("{number} ")).collect(), String::new()),
        ((1..3000).map(|number| format!("{number} ")).collect(), String::new()),
    ];
    for (a, b) in values {
        let file = File::new("CREATE TABLE t(n INT, a TEXT, b TEXT); CREATE INDEX i ON t(n, a, b)");
        file.connection().execute("INSERT INTO t VALUES (1, ?1, ?2)", [&a, &b]).unwrap();
        let report = file.audit(&[]).unwrap();
        let refused = target.client.execute("INSERT INTO t VALUES (1, $1, $2)", &[&a, &b]).await;
        assert_eq!(report.blocks(), refused.is_err(), "{} {} {}", a.len(), b.len(), &a[..9]);
    }
}

#[tokio::test]
async fn an_index_that_postgresql_refuses_can_be_skipped() {
    let file = File::new("CREATE TABLE t(a TEXT, b JSON, c TEXT UNIQUE); CREATE INDEX i ON t(b)");
    file.run("CREATE INDEX long ON t(a) WHERE a IS NOT NULL; INSERT INTO t(b) VALUES ('{}')");
    file.connection().execute("INSERT INTO t(a) VALUES (?1)", [noise(3000, 5)]).unwrap();
    let report = file.audit(&["t.b=json"]).unwrap();
    let blockers = report.findings.iter().filter(|each| each.severity == Severity::Blocker);
    let blockers: Vec<String> = blockers.map(ToString::to_string).collect();
    insta::assert_snapshot!(blockers.join("\n"));
    let target = Target::new().await;
    let report = target.migrate(&file, &skipping("long")).await.unwrap();
    assert_eq!(report.not_carried_over.rules[&Lost::Index], 1);
    assert!(report.findings[0].message.ends_with("is not carried over, as --skip-index asks"));
    assert_eq!(
        target
            .texts("SELECT indexname::text FROM pg_indexes WHERE tablename = 't' ORDER BY 1")
            .await,
        ["i", "t_c_key"]
    );
    let error = target.migrate(&file, &skipping("lang")).await.unwrap_err();
    assert!(error.is_usage());
    let known = "no index of the source is called lang; it has sqlite_autoindex_t_1, i, long";
    assert_eq!(error.to_string(), known);
}
