//! UTF-8 texts stored as blobs in columns of texts: the audit offers a decoding rule. Audit,
//! migration and verification apply it alike.

use migrate::{MigrateOptions, Severity};

use crate::support::{File, Target, data_only, rules};

/// Dashboards as Grafana stores them, some of them texts.
fn dashboards() -> File {
    File::new(
        "CREATE TABLE dashboard(id INTEGER PRIMARY KEY, data TEXT, name VARCHAR(8), form TEXT \
             CHECK (length(form) < 99)); \
         INSERT INTO dashboard VALUES \
             (1, CAST('{\"title\": \"é\"}' AS BLOB), CAST('áéíóúű' AS BLOB), 'a'), \
             (2, '{}', 'short', CAST('[2]' AS BLOB)), \
             (3, NULL, CAST('longer than 8' AS BLOB), NULL)",
    )
}

const RULES: [&str; 3] = [
    "dashboard.data=text using utf8",
    "dashboard.name=varchar(16) using utf8",
    "dashboard.form=text using utf8",
];

#[tokio::test]
async fn the_audit_offers_a_rule_and_every_command_knows_it() {
    let (file, target) = (dashboards(), Target::new().await);
    let report = file.audit(&[]).unwrap();
    let blockers: Vec<_> =
        report.findings.iter().filter(|each| each.severity == Severity::Blocker).collect();
    let offered: Vec<_> = blockers.iter().filter_map(|each| each.mapping.as_deref()).collect();
    assert_eq!(offered, RULES);
    let fix = "every blob is a text in UTF-8: --map 'dashboard.data=text using utf8'";
    assert_eq!(blockers[0].fix, fix);

    insta::assert_snapshot!(file.audit_text(&RULES));
    assert!(!file.audit(&RULES).unwrap().blocks());
    let options = MigrateOptions { rules: rules(&RULES), ..MigrateOptions::default() };
    let report = target.migrate(&file, &options).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    let stored = target.texts("SELECT concat_ws('|', data, name, form) FROM dashboard ORDER BY id");
    assert_eq!(stored.await, ["{\"title\": \"é\"}|áéíóúű|a", "{}|short|[2]", "longer than 8"]);
    // Without the rule the proof sees blobs.
    assert!(!target.verify(&file).await.is_equal());
}

#[tokio::test]
async fn existing_columns_of_json_take_them_too() {
    let (file, target) = (dashboards(), Target::new().await);
    target
        .run("CREATE TABLE dashboard(id int PRIMARY KEY, data jsonb, name varchar(13), form json)")
        .await;
    file.run("UPDATE dashboard SET form = '1' WHERE id = 1");
    let rules = rules(&[
        "dashboard.data=jsonb using utf8",
        "dashboard.name=varchar(13) using utf8",
        "dashboard.form=json using utf8",
    ]);
    let report = target.migrate(&file, &MigrateOptions { rules, ..data_only() }).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    let title = target.texts("SELECT data ->> 'title' FROM dashboard WHERE id = 1").await;
    assert_eq!(title, ["é"]);
}

#[tokio::test]
async fn blobs_that_are_no_texts_stay_blockers_with_their_rows() {
    let (file, target) = (dashboards(), Target::new().await);
    file.run(
        "INSERT INTO dashboard(id, data) VALUES (7, x'ff'); \
         INSERT INTO dashboard(id, name) VALUES (8, x'6100')",
    );
    let offered = file.audit_text(&[]);
    assert!(!offered.contains("data=text using utf8"), "{offered}");
    let text = file.audit_text(&RULES);
    assert!(text.contains("dashboard.data: 1 text of invalid UTF-8, e.g. rowid 7"), "{text}");
    assert!(text.contains("dashboard.name: 1 text with a NUL character"), "{text}");
    assert!(text.contains("rowid 8"), "{text}");
    let options = MigrateOptions { rules: rules(&RULES), ..MigrateOptions::default() };
    target.migrate(&file, &options).await.unwrap_err();
}
