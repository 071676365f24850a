//! Verification: it finds planted changes, and nothing more.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::{MigrateOptions, TextOptions, VerificationReport, VerifyOptions};

use crate::support::{File, Target};

fn source() -> File {
    File::new(
        "CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT, price DECIMAL(8,2), j JSON); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) \
         INSERT INTO items SELECT i, 'item ' || i, i / 4.0, \
             json_object('b', i, 'a', 'x') FROM n; \
         CREATE TABLE log(line TEXT); INSERT INTO log VALUES ('a'), ('a'), ('b')",
    )
}

#[tokio::test]
async fn equal_databases_are_equal_in_any_order_of_rows() {
    let (file, target) = (source(), Target::new().await);
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    // Rewrites every row in another order, and jsonb and numeric in another spelling.
    target
        .run(
            "UPDATE items SET name = name || '' WHERE id % 3 = 0; \
             CREATE TABLE again AS SELECT * FROM items ORDER BY name; \
             TRUNCATE items; INSERT INTO items SELECT * FROM again",
        )
        .await;
    let verification = target.verify(&file).await;
    assert!(verification.is_equal(), "{}", verification.to_text(&TextOptions::default()));
}

#[tokio::test]
async fn changed_missing_and_extra_rows_are_shown_by_their_keys() {
    let (file, target) = (source(), Target::new().await);
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    target
        .run(
            "UPDATE items SET price = price + 0.01 WHERE id = 17; \
             UPDATE items SET name = NULL, j = '{\"a\": \"x\"}' WHERE id = 2999; \
             DELETE FROM items WHERE id = 4; \
             INSERT INTO items VALUES (-1, 'new', 0, NULL); \
             DELETE FROM log WHERE line = 'b'; INSERT INTO log VALUES ('a')",
        )
        .await;
    let verification = target.verify(&file).await;
    assert!(!verification.is_equal());
    insta::assert_snapshot!(verification.to_text(&TextOptions::default()));
    let text = serde_json::to_value(&verification).unwrap();
    assert_eq!(text["tables"][0]["equal"], false);
}

#[tokio::test]
async fn values_swapped_between_two_rows_are_found() {
    let (file, target) = (source(), Target::new().await);
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    // Every column keeps its set of values, so only whole rows can tell.
    target
        .run("UPDATE items SET name = CASE id WHEN 1 THEN 'item 2' ELSE 'item 1' END WHERE id < 3")
        .await;
    let verification = target.verify(&file).await;
    let items = &verification.tables[0];
    assert!(!items.equal && items.differing_columns.is_empty());
    assert_eq!(items.differences.len(), 2);
}

#[tokio::test]
async fn rows_that_the_target_cannot_hold_are_named() {
    let (file, target) = (source(), Target::new().await);
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    file.run("UPDATE items SET price = 'much' WHERE id = 3");
    let verification = target.verify(&file).await;
    let text = verification.to_text(&TextOptions::default());
    assert!(text.contains("items, rowid 3, column price: \"much\""), "{text}");
}

async fn in_parts_of(target: &Target, file: &File, part_bytes: u64) -> VerificationReport {
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let options = VerifyOptions { part_bytes, ..VerifyOptions::default() };
    migrate::verify(&file.path, &target.url, &options, &progress, &interrupted).await.unwrap()
}

async fn parts_add_up(target: &Target) {
    let file = File::new(
        "CREATE TABLE a(id INTEGER PRIMARY KEY, t TEXT); \
         CREATE TABLE b(k TEXT PRIMARY KEY, t TEXT) WITHOUT ROWID; CREATE TABLE c(t TEXT); \
         WITH RECURSIVE n(i) AS (SELECT -20000 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
         INSERT INTO a SELECT i * 3, hex(i) FROM n; \
         INSERT INTO b SELECT 'k' || id, t FROM a; INSERT INTO c SELECT t FROM a",
    );
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    let whole = in_parts_of(target, &file, u64::MAX).await;
    let parts = in_parts_of(target, &file, 100_000).await;
    assert!(whole.is_equal() && parts.is_equal());
    for (whole, part) in whole.tables.iter().zip(&parts.tables) {
        assert_eq!((whole.source_rows, part.source_rows), (40_001, 40_001), "{}", whole.table);
        assert_eq!(whole.target_digest, part.target_digest);
        assert_eq!(whole.columns[0].source_digest, part.columns[0].source_digest);
    }
    target
        .run(
            "UPDATE a SET t = 'other' WHERE id = 59997; DELETE FROM b WHERE k = 'k-60000'; \
             INSERT INTO c VALUES ('one more')",
        )
        .await;
    let parts = in_parts_of(target, &file, 100_000).await;
    let found: Vec<&str> = parts
        .tables
        .iter()
        .flat_map(|table| &table.differences)
        .map(|each| each.key.as_str())
        .collect();
    assert_eq!(found, ["id 59997", "k \"k-60000\"", "t \"one more\""]);
}

#[tokio::test]
async fn parts_of_a_table_add_up_to_the_whole() {
    parts_add_up(&Target::new().await).await;
}

#[tokio::test]
async fn before_release_14_parts_are_ranges_of_the_key() {
    parts_add_up(&Target::release("9.6").await).await;
}

#[tokio::test]
async fn the_rules_of_a_move_are_named_for_its_verification() {
    let file = File::new("CREATE TABLE t(at INTEGER); INSERT INTO t VALUES (1614834367)");
    let target = Target::new().await;
    let rules = crate::support::rules(&["t.at=timestamptz using epoch_seconds"]);
    let options = MigrateOptions { rules: rules.clone(), ..MigrateOptions::default() };
    let text = target.migrate(&file, &options).await.unwrap().to_text(&TextOptions::default());
    let command = text.lines().last().unwrap();
    let flag = " --map 't.at=timestamptz using epoch_seconds'";
    assert!(command.starts_with("To verify it again: crossover verify "), "{text}");
    assert!(command.ends_with(flag), "{text}");
    let unlike = target.verify(&file).await;
    assert!(!unlike.is_equal());
    let text = unlike.to_text(&TextOptions::default());
    assert!(text.contains("moved with --map, verify it with the same --map\n"), "{text}");
}
