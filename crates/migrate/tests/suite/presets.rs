//! Presets of frameworks: types on the default path, readings into tables that exist, tables that are
//! about the file alone.

use migrate::{AuditOptions, MigrateOptions, Selection, Severity};

use crate::audit_target::audit;
use crate::support::{File, Target, data_only, rules};

fn without_preset() -> Selection {
    Selection { framework: "none".parse().unwrap(), ..Selection::default() }
}

/// Tables as Sequelize declares them.
const OF_SEQUELIZE: &str = "\
    CREATE TABLE `SequelizeMeta`(`name` VARCHAR(255) NOT NULL UNIQUE PRIMARY KEY); \
    CREATE TABLE `Users`(`id` INTEGER PRIMARY KEY AUTOINCREMENT, `active` TINYINT(1) NOT NULL, \
        `views` BIGINT); \
    CREATE TABLE `Posts`(`id` INTEGER PRIMARY KEY AUTOINCREMENT, `likes` INTEGER, \
        `UserId` INTEGER REFERENCES `Users`(`id`)); \
    INSERT INTO `Users` VALUES (7, 1, 3), (8, 0, 4); INSERT INTO `Posts` VALUES (1, 2, 7)";

const TYPES: &str = "SELECT concat_ws(' ', table_name, column_name, data_type) \
                     FROM information_schema.columns WHERE table_name IN ('Users', 'Posts') \
                     ORDER BY table_name DESC, ordinal_position";

#[tokio::test]
async fn a_preset_gives_types_after_the_rules_of_the_user() {
    let file = File::new(OF_SEQUELIZE);
    let types = async |options: MigrateOptions| {
        let target = Target::new().await;
        target.migrate(&file, &options).await.unwrap();
        let types = target.texts(TYPES).await;
        let next = "INSERT INTO \"Users\"(active) VALUES ('1') RETURNING id::text";
        let next = target.texts(next).await;
        assert_eq!(next, ["9"]);
        types
    };
    let of_preset = types(MigrateOptions::default()).await;
    let [users, posts] = ["Users id integer", "Posts id integer"];
    let expected = [
        users,
        "Users active boolean",
        "Users views bigint",
        posts,
        "Posts likes integer",
        "Posts UserId integer",
    ];
    assert_eq!(of_preset, expected);
    let rules = rules(&["Users.active=smallint"]);
    let of_user = types(MigrateOptions { rules, ..MigrateOptions::default() }).await;
    assert_eq!(of_user[1], "Users active smallint");
    let selection = without_preset();
    let of_file = types(MigrateOptions { selection, ..MigrateOptions::default() }).await;
    assert_eq!(of_file[..2], ["Users id bigint", "Users active smallint"]);
    assert_eq!(of_file[4], "Posts likes bigint");
}

#[tokio::test]
async fn a_value_beyond_the_preset_is_a_blocker_with_a_rule() {
    let file = File::new(OF_SEQUELIZE);
    file.run("UPDATE Posts SET likes = 3000000000; UPDATE Users SET active = 2 WHERE id = 7");
    let report = file.audit(&[]).unwrap();
    let blockers = report.findings.iter().filter(|each| each.severity == Severity::Blocker);
    let mut remedies: Vec<&str> =
        blockers.map(|blocker| blocker.mapping.as_deref().unwrap()).collect();
    remedies.sort_unstable();
    assert_eq!(remedies, ["Posts.likes=bigint", "Users.active=bigint"]);
    let target = Target::new().await;
    let options = MigrateOptions { rules: rules(&remedies), ..MigrateOptions::default() };
    target.migrate(&file, &options).await.unwrap();
    let text = "SELECT likes::text FROM \"Posts\"";
    assert_eq!(target.texts(text).await, ["3000000000"]);
}

/// Rails stores a time of day as one of 2000-01-01.
#[tokio::test]
async fn a_preset_reads_what_its_framework_stores() {
    let file = File::new(
        "CREATE TABLE schema_migrations(version varchar NOT NULL PRIMARY KEY); \
         CREATE TABLE ar_internal_metadata(key varchar NOT NULL PRIMARY KEY, value varchar); \
         CREATE TABLE shops(id INTEGER PRIMARY KEY, opens time, is_old tinyint(1)); \
         INSERT INTO shops VALUES (1, '2000-01-01 12:30:15', 0), (2, '08:00:00', 1)",
    );
    let tables = "CREATE TABLE schema_migrations(version varchar PRIMARY KEY); \
                  CREATE TABLE ar_internal_metadata(key varchar PRIMARY KEY, value varchar); \
                  CREATE TABLE shops(id bigserial PRIMARY KEY, opens time, is_old boolean)";
    let target = Target::new().await;
    target.run(tables).await;
    assert!(!audit(&file, &target).await.blocks());
    let report = target.migrate(&file, &data_only()).await.unwrap();
    assert!(report.application.is_none());
    let times = "SELECT opens::text FROM shops ORDER BY id";
    assert_eq!(target.texts(times).await, ["12:30:15", "08:00:00"]);
    assert!(target.verify(&file).await.is_equal());

    // On the default path too, where the declared type is the preset's.
    let made = Target::new().await;
    made.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert_eq!(made.texts(times).await, ["12:30:15", "08:00:00"]);
    let flags = "SELECT is_old::text FROM shops ORDER BY id";
    assert_eq!(made.texts(flags).await, ["false", "true"]);
}

#[tokio::test]
async fn the_place_of_litestream_is_not_moved() {
    let file = File::new(
        "CREATE TABLE t(n INT); INSERT INTO t VALUES (1); \
         CREATE TABLE _litestream_seq(id INTEGER PRIMARY KEY, seq INTEGER); \
         INSERT INTO _litestream_seq VALUES (1, 5); CREATE TABLE _litestream_lock(id INTEGER)",
    );
    let target = Target::new().await;
    target.run("CREATE TABLE t(n int)").await;
    let report = audit(&file, &target).await;
    let left_out = report.findings.iter().filter(|finding| finding.kind == "litestream");
    assert_eq!(left_out.count(), 2);
    let report = target.migrate(&file, &data_only()).await.unwrap();
    let named: Vec<&str> = report.findings.iter().map(|finding| finding.table.as_str()).collect();
    assert!(named.contains(&"_litestream_seq") && named.contains(&"_litestream_lock"), "{named:?}");
    assert_eq!(target.texts("SELECT n::text FROM t").await, ["1"]);

    target.run("DELETE FROM t").await;
    let options = MigrateOptions { selection: without_preset(), ..data_only() };
    let error = target.migrate(&file, &options).await.unwrap_err().to_string();
    assert!(error.contains("_litestream_seq"), "{error}");
}

#[test]
fn a_framework_that_is_named_gives_its_types() {
    let file = File::new("CREATE TABLE t(done TINYINT(1)); INSERT INTO t VALUES (1)");
    let audit = |selection: Selection| {
        let options = AuditOptions { selection, ..AuditOptions::default() };
        let progress = indicatif::ProgressBar::hidden();
        let stop = std::sync::atomic::AtomicBool::new(false);
        let report = migrate::audit(&file.path, &options, &progress, &stop).unwrap();
        report.tables[0].columns[0].postgres_type.clone()
    };
    let named = Selection { framework: "laravel".parse().unwrap(), ..Selection::default() };
    assert_eq!((audit(Selection::default()), audit(named)), ("smallint".into(), "boolean".into()));
}
