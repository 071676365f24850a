//! Foreign keys from, to and between partitioned tables of the target: the keys of their partitions
//! belong to those of the tables above, and all are there and valid after any outcome.

use migrate::{MigrateOptions, Selection};

use crate::audit_target::audit;
use crate::reject::rejecting;
use crate::support::{File, Target, data_only};

/// Children before their parents, in parts of other sizes.
fn family() -> File {
    File::new(
        "CREATE TABLE a_child(id INTEGER PRIMARY KEY, p_id INT, self_id INT); \
         CREATE TABLE b_child(id INTEGER PRIMARY KEY, parts_id INT); \
         CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE parts(id INTEGER PRIMARY KEY); \
         WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 19) \
             INSERT INTO p SELECT n FROM n; \
         INSERT INTO parts SELECT id FROM p; INSERT INTO b_child SELECT id, 20 - id FROM p; \
         INSERT INTO a_child SELECT id, 20 - id, 20 - id FROM p",
    )
}

const TABLES: &str = "\
    CREATE TABLE p(id int PRIMARY KEY); \
    CREATE TABLE parts(id int PRIMARY KEY) PARTITION BY RANGE (id); \
    CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10); \
    CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id); \
    CREATE TABLE parts_3 PARTITION OF parts_2 FOR VALUES FROM (10) TO (20); \
    CREATE TABLE a_child(id int PRIMARY KEY, p_id int CONSTRAINT \"its p\" REFERENCES p ON DELETE \
        CASCADE DEFERRABLE, self_id int REFERENCES a_child) PARTITION BY RANGE (id); \
    CREATE TABLE a_child_1 PARTITION OF a_child FOR VALUES FROM (0) TO (10); \
    CREATE TABLE a_child_2 PARTITION OF a_child FOR VALUES FROM (10) TO (20); \
    ALTER TABLE a_child_2 ADD CONSTRAINT own FOREIGN KEY (p_id) REFERENCES p; \
    CREATE TABLE b_child(id int PRIMARY KEY, parts_id int REFERENCES parts); \
    CREATE TABLE elsewhere(parts_id int REFERENCES parts_1, a_id int REFERENCES a_child)";

#[tokio::test]
async fn keys_of_partitioned_tables_come_back_valid() {
    let Some(target) = Target::since(12).await else { return };
    let file = family();
    target.run(TABLES).await;
    let before = target.structure().await;
    let report = audit(&file, &target).await;
    assert!(!report.blocks(), "{:?}", report.findings);
    target.migrate(&file, &data_only()).await.unwrap();
    assert_eq!(target.structure().await, before);
    assert!(target.verify(&file).await.is_equal());
    // Their rows are replaced.
    file.run("DELETE FROM a_child WHERE id = 10");
    let replace = MigrateOptions { replace: true, ..data_only() };
    target.migrate(&file, &replace).await.unwrap();
    assert_eq!(target.structure().await, before);
    assert!(target.verify(&file).await.is_equal());
}

#[tokio::test]
async fn a_refused_row_leaves_the_keys_as_they_were() {
    let Some(target) = Target::since(12).await else { return };
    let file = family();
    target.run(TABLES).await;
    let before = target.structure().await;
    file.run("INSERT INTO b_child VALUES (20, 99)");
    let error = target.migrate(&file, &data_only()).await.unwrap_err().to_string();
    assert!(error.contains("b_child_parts_id_fkey") && error.contains("(99)"), "{error}");
    assert_eq!(target.structure().await, before);
    assert_eq!(target.texts("SELECT count(*)::text FROM parts").await, ["0"]);
    let report = target.migrate(&file, &rejecting(&file)).await.unwrap();
    assert_eq!(report.rejected_rows, 1);
    assert_eq!(target.structure().await, before);
    assert_eq!(target.texts("SELECT count(*)::text FROM b_child").await, ["19"]);
}

/// Valid rows of a partition that the key of another partition does not know.
#[tokio::test]
async fn rows_are_judged_by_all_partitions_outside_the_move() {
    let Some(target) = Target::since(12).await else { return };
    let file = family();
    target.run(TABLES).await;
    target.run("INSERT INTO parts SELECT generate_series(1, 18)").await;
    let excluded = vec!["parts".to_owned()];
    let selection = Selection { excluded, ..Selection::default() };
    let without = MigrateOptions { selection, ..data_only() };
    let error = target.migrate(&file, &without).await.unwrap_err().to_string();
    assert!(error.starts_with("1 blocker found") && error.contains("refuse 1 row: "), "{error}");
    target.run("INSERT INTO parts VALUES (19)").await;
    target.migrate(&file, &without).await.unwrap();
    assert_eq!(target.texts("SELECT count(*)::text FROM b_child").await, ["19"]);
}

/// A partition takes the rows of a table of its name; its key is that of the table above it.
#[tokio::test]
async fn a_partition_is_loaded_as_a_table() {
    let Some(target) = Target::since(12).await else { return };
    let file = File::new(
        "CREATE TABLE a_child_1(id INTEGER PRIMARY KEY, p_id INT, self_id INT); \
         INSERT INTO a_child_1 VALUES (1, 7, NULL); \
         CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (7)",
    );
    target.run(TABLES).await;
    let before = target.structure().await;
    target.migrate(&file, &data_only()).await.unwrap();
    assert_eq!(target.structure().await, before);
    assert_eq!(target.texts("SELECT p_id::text FROM a_child").await, ["7"]);
}

#[tokio::test]
async fn a_key_to_a_partition_finds_the_rows_that_are_moved() {
    let Some(target) = Target::since(12).await else { return };
    let file = File::new(
        "CREATE TABLE par(id INT, reg INT, v TEXT, PRIMARY KEY(id, reg)); \
         INSERT INTO par VALUES (1, 1, 'a'), (2, 2, 'b'); \
         CREATE TABLE child(id INTEGER PRIMARY KEY, pid INT, reg INT); INSERT INTO child VALUES (1, 1, 1)",
    );
    target
        .run(
            "CREATE TABLE par(id bigint, reg int, v text, PRIMARY KEY(id, reg)) PARTITION BY LIST (reg); \
             CREATE TABLE par1 PARTITION OF par FOR VALUES IN (1); \
             CREATE TABLE par2 PARTITION OF par FOR VALUES IN (2); \
             CREATE TABLE child(id bigint PRIMARY KEY, pid bigint, reg int, \
                 FOREIGN KEY (pid, reg) REFERENCES par1(id, reg))",
        )
        .await;
    let before = target.structure().await;
    assert!(!audit(&file, &target).await.blocks());
    for options in [data_only(), MigrateOptions { replace: true, ..data_only() }] {
        target.migrate(&file, &options).await.unwrap();
        assert_eq!(target.structure().await, before);
        assert_eq!(
            target.texts("SELECT count(*)::text FROM child JOIN par1 ON pid = par1.id").await,
            ["1"]
        );
    }
    file.run("UPDATE child SET reg = 2, pid = 2");
    let error = target
        .migrate(&file, &MigrateOptions { replace: true, ..data_only() })
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("child"), "{error}");
    assert_eq!(target.structure().await, before);
}
