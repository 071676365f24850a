//! `--exclude TABLE.COLUMN`: the rest of the table arrives, and what is left out is named.

use migrate::{Error, Losses, Lost, MigrateOptions, Selection, VerifyOptions};

use crate::support::{File, Target, data_only};

const FILE: &str = "\
    CREATE TABLE parent(id INTEGER PRIMARY KEY); INSERT INTO parent VALUES (4); \
    CREATE TABLE t(secret BLOB, a INTEGER, b INTEGER REFERENCES parent, c TEXT, id INTEGER PRIMARY KEY, \
        CHECK (a > 0), CHECK (length(secret) > 0)); \
    CREATE INDEX of_c ON t(c); CREATE INDEX of_secret ON t(a, secret); \
    INSERT INTO t VALUES (x'01', 1, 4, 'x', 10), (NULL, 2, 4, 'y', 11)";

fn without(patterns: &[&str]) -> Selection {
    let excluded = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    Selection { excluded, ..Selection::default() }
}

#[tokio::test]
async fn the_rest_of_the_table_arrives_and_verifies() {
    let (file, target) = (File::new(FILE), Target::new().await);
    let selection = without(&["t.secret", "t.b"]);
    let options = MigrateOptions { selection: selection.clone(), ..MigrateOptions::default() };
    let report = target.migrate(&file, &options).await.unwrap();
    let rows = "SELECT format('%s %s %s', id, a, c) FROM t ORDER BY id";
    assert_eq!(target.texts(rows).await, ["10 1 x", "11 2 y"]);
    let keys = "SELECT pg_get_constraintdef(oid) FROM pg_constraint \
                WHERE conrelid = 't'::regclass AND contype <> 'n' ORDER BY 1";
    assert_eq!(target.texts(keys).await, ["CHECK ((a > 0))", "PRIMARY KEY (id)"]);
    let indexes = "SELECT indexname::text FROM pg_indexes WHERE tablename = 't' ORDER BY 1";
    assert_eq!(target.texts(indexes).await, ["of_c", "t_pkey"]);
    let lost: Vec<(Lost, u64)> = report.not_carried_over.rules.into_iter().collect();
    assert_eq!(
        lost,
        [(Lost::Column, 2), (Lost::Index, 1), (Lost::ForeignKey, 1), (Lost::Check, 1)]
    );
    let named = report.findings.iter().filter(|finding| finding.kind == "excluded_column");
    let named: Vec<&str> = named.map(|finding| finding.message.as_str()).collect();
    assert!(named[0].ends_with("with 1 value") && named[1].ends_with("with 2 values"), "{named:?}");

    let verified = verify(&file, &target, selection).await.unwrap();
    assert!(verified.is_equal());
    assert!(verify(&file, &target, Selection::default()).await.is_err());
}

#[tokio::test]
async fn a_column_that_existing_tables_lack_is_left_out() {
    let (file, target) = (File::new(FILE), Target::new().await);
    target.run("CREATE TABLE t(id bigint PRIMARY KEY, a int, c text)").await;
    let selection = without(&["*.secret", "t.B", "parent"]);
    let report = target.migrate(&file, &MigrateOptions { selection, ..data_only() }).await.unwrap();
    let rows = "SELECT format('%s %s %s', id, a, c) FROM t ORDER BY id";
    assert_eq!(target.texts(rows).await, ["10 1 x", "11 2 y"]);
    let Losses { rules, .. } = report.not_carried_over;
    assert_eq!(rules.into_iter().collect::<Vec<_>>(), [(Lost::Column, 2)]);
}

#[tokio::test]
async fn a_column_of_the_key_stays_and_unknown_names_are_refused() {
    let (file, target) = (File::new(FILE), Target::new().await);
    let refused = async |pattern: &str| {
        let options =
            MigrateOptions { selection: without(&[pattern]), ..MigrateOptions::default() };
        target.migrate(&file, &options).await.unwrap_err()
    };
    let error = refused("t.id").await;
    assert!(error.is_usage() && error.to_string().contains("t.id is part of a primary key"));
    let error = refused("t.nothing").await;
    assert!(matches!(error, Error::NoSuchColumn { .. }) && error.is_usage(), "{error}");
}

async fn verify(
    file: &File,
    target: &Target,
    selection: Selection,
) -> Result<migrate::VerificationReport, Error> {
    let options = VerifyOptions { selection, ..VerifyOptions::default() };
    let (progress, interrupted) = (indicatif::ProgressBar::hidden(), false.into());
    migrate::verify(&file.path, &target.url, &options, &progress, &interrupted).await
}
