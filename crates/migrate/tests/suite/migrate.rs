//! Migration that creates the schema, on real servers.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::MigrateOptions;

use crate::audit::as_found;
use crate::support::{File, Target, by_values, rules};

/// Keys of all kinds, names of all kinds.
fn shop() -> File {
    File::new(
        "CREATE TABLE \"order\"(id INTEGER PRIMARY KEY AUTOINCREMENT, \"select\" TEXT NOT NULL \
             DEFAULT 'it''s', \"Größe \"\"🦀\"\"\" REAL DEFAULT 1.5, at DATETIME DEFAULT \
             CURRENT_TIMESTAMP, paid BOOLEAN DEFAULT FALSE, parent INTEGER \
             REFERENCES \"order\"(id) ON DELETE CASCADE); \
         CREATE TABLE line(order_id INT NOT NULL REFERENCES \"order\", no SMALLINT NOT NULL, \
             sku VARCHAR(8) CHECK (sku NOT LIKE 'Bad!_%' ESCAPE '!' AND trim(sku) <> ''), \
             CONSTRAINT \"no's range\" CHECK (no BETWEEN 1 AND 999), \
             PRIMARY KEY(order_id, no)) WITHOUT ROWID; \
         CREATE TABLE part(order_id INT, no INT, amount NUMERIC, UNIQUE(no, order_id), \
             FOREIGN KEY(order_id, no) REFERENCES line(order_id, no)); \
         CREATE TABLE hollow(a, b BLOB); \
         CREATE INDEX \"by select\" ON \"order\"(\"select\" DESC, at); \
         INSERT INTO \"order\" VALUES (1, 'a', 0.1, '2021-01-01 10:00:00', 1, 3), \
             (3, 'ünï', NULL, NULL, 0, NULL), (9, '', -0.0, '2021-01-02 00:00:00.25', NULL, 9); \
         DELETE FROM \"order\" WHERE id = 9; \
         INSERT INTO line VALUES (1, 1, 'x'), (1, 2, NULL), (3, 1, '12345678'); \
         INSERT INTO part VALUES (1, 2, 1.5), (NULL, 2, 7), (NULL, 2, NULL); ANALYZE",
    )
}

async fn moves_the_shop(target: &Target) {
    let file = shop();
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    assert!(target.verify(&file).await.is_equal());
    let before_insert = target
        .texts(
            "SELECT format('%s|%s|%s|%s|%s', id, \"select\", \"Größe \"\"🦀\"\"\", at, paid) \
                FROM \"order\" ORDER BY id",
        )
        .await;
    assert_eq!(before_insert, ["1|a|0.1|2021-01-01 10:00:00|t", "3|ünï|||f"]);
    // AUTOINCREMENT goes on after 9, which was given out and deleted; defaults work.
    let next = "INSERT INTO \"order\"(parent) VALUES (3) RETURNING \
                format('%s %s %s %s', id, \"select\", \"Größe \"\"🦀\"\"\", paid)";
    assert_eq!(target.texts(next).await, ["10 it's 1.5 f"]);
    // The keys are there and valid.
    for refused in [
        "INSERT INTO line VALUES (77, 1, NULL)",
        "INSERT INTO part VALUES (1, 9, NULL)",
        "INSERT INTO line VALUES (1, 1, NULL)",
        "INSERT INTO \"order\"(parent) VALUES (77)",
        "INSERT INTO line VALUES (3, 1000, NULL)",
        "INSERT INTO line VALUES (3, 7, 'BAD_x')",
    ] {
        assert!(target.client.batch_execute(refused).await.is_err(), "{refused}");
    }
    target.run("DELETE FROM part; DELETE FROM line; DELETE FROM \"order\" WHERE id = 3").await;
    assert!(target.texts("SELECT id::text FROM \"order\"").await.is_empty(), "ON DELETE CASCADE");
}

#[tokio::test]
async fn keys_names_and_defaults_are_carried_over() {
    moves_the_shop(&Target::new().await).await;
}

#[tokio::test]
async fn the_oldest_release_takes_the_same() {
    moves_the_shop(&Target::release("9.6").await).await;
}

#[tokio::test]
async fn a_release_between_takes_the_same() {
    moves_the_shop(&Target::release("14").await).await;
}

#[tokio::test]
async fn partial_indexes_with_equal_meaning_are_carried_over() {
    let file = File::new(
        "CREATE TABLE t(a INT, b TEXT); CREATE UNIQUE INDEX one ON t(a) WHERE b IS NULL; \
         CREATE INDEX two ON t(a) WHERE hex(b) = '78'; INSERT INTO t VALUES (1, NULL), (1, 'x')",
    );
    let target = Target::new().await;
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    let named = report.findings.iter().find(|each| each.kind == "index_not_carried_over");
    assert!(named.unwrap().fix.contains("CREATE INDEX two ON t(a) WHERE hex(b) = '78'"));
    let made = "SELECT pg_get_indexdef('one'::regclass)";
    let expected = "CREATE UNIQUE INDEX one ON public.t USING btree (a) WHERE (b IS NULL)";
    assert_eq!(target.texts(made).await, [expected]);
}

#[tokio::test]
async fn the_structure_that_is_made() {
    let (file, target) = (shop(), Target::new().await);
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    insta::assert_snapshot!(target.structure().await.join("\n"));
}

#[tokio::test]
async fn blockers_stop_before_anything_is_touched() {
    let (file, target) = (as_found(), Target::new().await);
    let before = target.structure().await;
    let error = target.migrate(&file, &MigrateOptions::default()).await.unwrap_err();
    insta::assert_snapshot!(error.to_string());
    assert_eq!(target.structure().await, before);
    let mapped = MigrateOptions {
        rules: rules(&["articles.slug=varchar(512)", "articles.uuid=uuid"]),
        ..MigrateOptions::default()
    };
    let report = target.migrate(&file, &mapped).await.unwrap();
    assert_eq!(report.tables.iter().map(|table| table.rows).sum::<u64>(), 16_000);
    assert_eq!(
        target.texts("SELECT uuid::text FROM articles WHERE id = 7").await,
        ["00000007-0000-4000-8000-000000000031"]
    );
}

#[tokio::test]
async fn existing_tables_are_replaced_only_with_replace() {
    let (file, target) = (shop(), Target::new().await);
    target.run("CREATE TABLE line(a int); INSERT INTO line VALUES (1)").await;
    let before = target.structure().await;
    let error = target.migrate(&file, &MigrateOptions::default()).await.unwrap_err();
    insta::assert_snapshot!(error.to_string());
    assert_eq!(target.structure().await, before);
    assert_eq!(target.texts("SELECT a::text FROM line").await, ["1"]);
    let replace = MigrateOptions { replace: true, ..MigrateOptions::default() };
    target.migrate(&file, &replace).await.unwrap();
    assert!(target.verify(&file).await.is_equal());
}

#[tokio::test]
async fn names_held_by_a_renamed_table_are_found_before_copying() {
    let (file, target) = (shop(), Target::new().await);
    target
        .run(
            "CREATE TABLE \"order\"(id serial PRIMARY KEY); \
             ALTER TABLE \"order\" RENAME TO old; \
             CREATE TABLE part_no_order_id_key(a int)",
        )
        .await;
    let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
    let options = MigrateOptions::default();
    let error = migrate::migrate(&file.path, &target.url, &options, &progress, &stop).await;
    insta::assert_snapshot!(error.unwrap_err().to_string());
    // Of the eight rows of the source: the audit alone has read them.
    assert!(progress.position() < 16, "{} rows", progress.position());
}

#[tokio::test]
async fn another_schema_is_made_when_named() {
    let (file, target) = (shop(), Target::new().await);
    let options =
        MigrateOptions { schema: Some("My shop".to_owned()), ..MigrateOptions::default() };
    target.migrate(&file, &options).await.unwrap();
    assert_eq!(target.texts("SELECT count(*)::text FROM \"My shop\".line").await, ["3"]);
}

#[tokio::test]
async fn a_dry_run_does_everything_and_leaves_nothing() {
    let (file, target) = (shop(), Target::new().await);
    let before = target.structure().await;
    let options = MigrateOptions { dry_run: true, ..MigrateOptions::default() };
    let report = target.migrate(&file, &options).await.unwrap();
    assert!(report.dry_run && report.verification.unwrap().is_equal());
    assert_eq!(target.structure().await, before);
}

#[tokio::test]
async fn numbers_become_dates_only_with_a_rule() {
    let file = File::new(
        "CREATE TABLE event(id INTEGER PRIMARY KEY, seconds DATETIME, julian DATETIME, day DATE); \
         INSERT INTO event VALUES (1, 1614834367, 2459277.5, 18690)",
    );
    let target = Target::new().await;
    let options = MigrateOptions {
        rules: rules(&[
            "event.seconds=timestamptz using epoch_seconds",
            "event.julian=timestamp using julian_day",
            "event.day=date using epoch_days",
        ]),
        ..MigrateOptions::default()
    };
    target.migrate(&file, &options).await.unwrap();
    let shown = "SELECT format('%s|%s|%s', seconds AT TIME ZONE 'UTC', julian, day) FROM event";
    assert_eq!(target.texts(shown).await, ["2021-03-04 05:06:07|2021-03-04 00:00:00|2021-03-04"]);

    let plain = Target::new().await;
    let error = plain.migrate(&file, &MigrateOptions::default()).await.unwrap_err().to_string();
    assert!(error.contains("--map 'event.seconds=timestamptz using epoch_seconds'"), "{error}");
    let rule = MigrateOptions { types: by_values(), ..MigrateOptions::default() };
    plain.migrate(&file, &rule).await.unwrap();
    assert_eq!(plain.texts("SELECT seconds::text FROM event").await, ["1614834367"]);
}

#[tokio::test]
async fn a_deferred_foreign_key_stays_deferred() {
    let file = File::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY); \
         CREATE TABLE c(id INTEGER PRIMARY KEY, \
             late INT REFERENCES p DEFERRABLE INITIALLY DEFERRED, soon INT REFERENCES p(id)); \
         INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 1, 1)",
    );
    let target = Target::new().await;
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert!(report.not_carried_over.is_empty());
    target.run("BEGIN; INSERT INTO c VALUES (2, 7, 1); INSERT INTO p VALUES (7); COMMIT").await;
    let refused = target.client.batch_execute("BEGIN; INSERT INTO c VALUES (3, 1, 8)").await;
    assert!(refused.is_err());
}

#[tokio::test]
async fn a_time_limit_of_the_server_does_not_end_the_move() {
    let Some(target) = Target::since(17).await else { return };
    let database: String =
        target.client.query_one("SELECT current_database()::text", &[]).await.unwrap().get(0);
    target
        .run(&format!(
            "CREATE TABLE t(n int); INSERT INTO t VALUES (1); \
             CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN PERFORM pg_sleep(2.2); RETURN NEW; END $$; \
             CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION slow(); \
             ALTER DATABASE {database} SET transaction_timeout = '2s'"
        ))
        .await;
    let file = File::new("CREATE TABLE t(n INT); INSERT INTO t VALUES (2)");
    let replace = MigrateOptions { replace: true, ..crate::support::data_only() };
    target.migrate(&file, &replace).await.unwrap();
}

/// Of PostgreSQL's times the last.
#[tokio::test]
async fn the_end_of_a_day_is_a_time() {
    let file = File::new(
        "CREATE TABLE t(at TIME); INSERT INTO t VALUES ('24:00:00'), ('24:00'), ('00:00'), ('23:59:59.5')",
    );
    let target = Target::new().await;
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert!(target.verify(&file).await.is_equal());
    let times = "SELECT string_agg(at::text, ' ' ORDER BY at) FROM t";
    assert_eq!(target.texts(times).await, ["00:00:00 23:59:59.5 24:00:00 24:00:00"]);
}
