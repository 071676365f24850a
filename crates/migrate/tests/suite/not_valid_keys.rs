//! Foreign keys of the target that are NOT VALID or NOT ENFORCED: a load takes no row past them that
//! an INSERT could not bring in, and asks for no more.

use migrate::{MigrateOptions, Severity};

use crate::audit_target::audit;
use crate::support::{File, Target, data_only};

/// A row without a parent, rowid 2.
fn orphan() -> File {
    File::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1); \
         CREATE TABLE c(id INTEGER PRIMARY KEY, p_id INT); INSERT INTO c VALUES (1, 1), (2, 99)",
    )
}

const TABLES: &str = "CREATE TABLE p(id bigint PRIMARY KEY); \
                      CREATE TABLE c(id bigint PRIMARY KEY, p_id bigint)";
const NOT_VALID: &str =
    "ALTER TABLE c ADD CONSTRAINT fknv FOREIGN KEY (p_id) REFERENCES p NOT VALID";

#[tokio::test]
async fn a_key_that_is_not_valid_is_obeyed_by_new_rows() {
    let (file, target) = (orphan(), Target::new().await);
    target.run(&format!("{TABLES}; {NOT_VALID}")).await;
    let before = target.structure().await;
    let report = audit(&file, &target).await;
    let blockers = report.findings.iter().filter(|each| each.severity == Severity::Blocker);
    let blockers: Vec<String> = blockers.map(ToString::to_string).collect();
    assert_eq!(blockers.len(), 1, "{blockers:?}");
    let replace = MigrateOptions { replace: true, ..data_only() };
    for options in [data_only(), replace] {
        let error = target.migrate(&file, &options).await.unwrap_err().to_string();
        assert!(error.starts_with("1 blocker found before anything was changed"), "{error}");
        assert!(error.contains(&blockers[0]), "{error}");
        assert_eq!(target.structure().await, before);
    }
    file.run("UPDATE c SET p_id = 1");
    let report = target.migrate(&file, &data_only()).await.unwrap();
    assert_eq!(target.structure().await, before);
    let [notice] = &report.notices[..] else { panic!("{:?}", report.notices) };
    let (_, validate) = notice.split_once("restored like that: ").unwrap();
    target.run(validate).await;
}

/// NOT VALID means that such rows may stand there.
#[tokio::test]
async fn rows_that_stay_are_not_judged_by_a_key_that_is_not_valid() {
    let (file, target) = (orphan(), Target::new().await);
    let stand = "INSERT INTO c VALUES (1, 1), (2, 99)";
    target.run(&format!("{TABLES}; {stand}; {NOT_VALID}")).await;
    let report = audit(&file, &target).await;
    let orphans = report.findings.iter().find(|each| each.kind == "foreign_key_violation").unwrap();
    assert!(!report.blocks() && orphans.message.contains("they stay, but --replace"), "{orphans}");
    let replace = MigrateOptions { replace: true, ..data_only() };
    let refused = target.migrate(&file, &replace).await.unwrap_err().to_string();
    assert!(refused.starts_with("1 blocker found"), "{refused}");
    // Others than those of the file would not stay.
    file.run("INSERT INTO c VALUES (3, NULL)");
    assert!(audit(&file, &target).await.blocks());
    file.run("DELETE FROM c WHERE id = 3");
    let report = target.migrate(&file, &data_only()).await.unwrap();
    assert!(report.tables.iter().any(|table| table.kept && table.table == "c"));
    assert_eq!(target.texts("SELECT id::text FROM p").await, ["1"]);
}

#[tokio::test]
async fn a_key_that_is_not_enforced_refuses_no_row() {
    let Some(target) = Target::since(18).await else { return };
    let file = orphan();
    let key = "ALTER TABLE c ADD FOREIGN KEY (p_id) REFERENCES p NOT ENFORCED";
    target.run(&format!("{TABLES}; {key}")).await;
    let before = target.structure().await;
    assert!(!audit(&file, &target).await.blocks());
    let report = target.migrate(&file, &data_only()).await.unwrap();
    assert_eq!(report.notices, [""; 0]);
    assert_eq!(target.structure().await, before);
    assert_eq!(target.texts("SELECT p_id::text FROM c WHERE id = 2").await, ["99"]);
}
