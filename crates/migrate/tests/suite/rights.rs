//! Roles that lack rights on the target: what they lack is given by the statements that the error names.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::{Error, MigrateOptions, VerifyOptions};

use crate::audit_target::audit;
use crate::support::{File, Target, data_only};

const FILE: &str = "CREATE TABLE kind(id INTEGER PRIMARY KEY); \
    CREATE TABLE item(id INTEGER PRIMARY KEY, kind INT REFERENCES kind); \
    INSERT INTO kind VALUES (1); INSERT INTO item VALUES (1, 1)";
const TABLES: &str = "CREATE TABLE kind(id int PRIMARY KEY); \
    CREATE TABLE item(id int PRIMARY KEY, kind int REFERENCES kind)";

/// The statements of an error, run by the superuser.
async fn paste(owner: &Target, error: &Error) {
    let said = error.to_string();
    let (_, remedy) = said.split_once("as a superuser of the target: ").unwrap();
    owner.run(remedy.strip_suffix("; the target is unchanged").unwrap()).await;
}

#[tokio::test]
async fn a_role_without_rights_gets_them_by_the_remedy() {
    let file = File::new(FILE);
    let replace = MigrateOptions { replace: true, ..MigrateOptions::default() };
    let owned = &format!(
        "{TABLES}; ALTER TABLE kind OWNER TO owner; ALTER TABLE item OWNER TO owner; \
         DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO owner', current_database()); \
         END $$; REVOKE CREATE ON SCHEMA public FROM public"
    );
    for (role, tables, options) in [
        ("maker", "", MigrateOptions::default()),
        ("replacer", TABLES, replace),
        ("filler", TABLES, data_only()),
        ("owner", owned, data_only()),
    ] {
        let target = Target::new().await;
        target.run(&format!("CREATE ROLE {role} LOGIN; {tables}")).await;
        let before = target.structure().await;
        let visitor = target.on_behalf_of(role).await;
        if options.data_only {
            // Said beforehand as well.
            let report = audit(&file, &visitor).await;
            let lacking = report.findings.iter().find(|each| each.kind == "missing_rights");
            assert!(lacking.unwrap().fix.contains("ON "), "{lacking:?}");
        }
        let error = visitor.migrate(&file, &options).await.unwrap_err();
        assert_eq!(target.structure().await, before);
        paste(&target, &error).await;
        visitor.migrate(&file, &options).await.unwrap();
        assert!(visitor.verify(&file).await.is_equal());
        target.run(&format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}")).await;
    }
}

#[tokio::test]
async fn a_role_that_may_not_read_or_make_databases_is_helped() {
    let (file, target) = (File::new(FILE), Target::new().await);
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    target.run("CREATE ROLE reader LOGIN").await;
    let reader = target.on_behalf_of("reader").await;
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let options = VerifyOptions::default();
    let verifying = migrate::verify(&file.path, &reader.url, &options, &progress, &interrupted);
    paste(&target, &verifying.await.unwrap_err()).await;
    assert!(reader.verify(&file).await.is_equal());

    let url = reader.url.with_database("made for reader");
    let error = migrate::create_database(&url, &interrupted).await.unwrap_err();
    paste(&target, &error).await;
    assert!(!migrate::create_database(&url, &interrupted).await.unwrap());
    target.run("DROP DATABASE \"made for reader\"").await;
    target.run("DROP OWNED BY reader; DROP ROLE reader").await;
}

#[tokio::test]
async fn row_level_security_is_said_before_the_move() {
    let (file, target) = (File::new(FILE), Target::new().await);
    target
        .run(&format!(
            "CREATE ROLE tenant LOGIN; GRANT CREATE ON SCHEMA public TO tenant; {TABLES}; \
             ALTER TABLE kind OWNER TO tenant; \
             ALTER TABLE item OWNER TO tenant; ALTER TABLE item ENABLE ROW LEVEL SECURITY; \
             ALTER TABLE item FORCE ROW LEVEL SECURITY; \
             DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO tenant', \
                 current_database()); END $$"
        ))
        .await;
    let tenant = target.on_behalf_of("tenant").await;
    let report = audit(&file, &tenant).await;
    let finding = report.findings.iter().find(|each| each.kind == "row_security").unwrap();
    assert_eq!(finding.table, "item");
    let error = tenant.migrate(&file, &data_only()).await.unwrap_err().to_string();
    assert!(error.contains("its row-level security applies to the role tenant"), "{error}");
    let (_, remedy) = finding.fix.split_once("as a superuser of the target: ").unwrap();
    target.run(remedy.split_once("; or").unwrap().0).await;
    tenant.migrate(&file, &data_only()).await.unwrap();
    target.run("DROP OWNED BY tenant CASCADE; DROP ROLE tenant").await;
}
