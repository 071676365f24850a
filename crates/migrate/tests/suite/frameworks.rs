//! Files of applications whose framework makes its tables in PostgreSQL by itself: audit and migrate
//! say so in their first lines, with a recipe that works.

use migrate::{AuditOptions, MigrateOptions, Selection, Severity, TextOptions};

use crate::audit_target::audit;
use crate::support::{File, Target, data_only};

/// The tables of each framework as it writes them, with the beginning of the advice and the flags of the
/// move.
const MARKS: [(&str, &str, &str); 13] = [
    (
        "CREATE TABLE django_migrations(id integer NOT NULL PRIMARY KEY AUTOINCREMENT, \
             app varchar(255) NOT NULL, name varchar(255) NOT NULL, applied datetime NOT NULL)",
        "A Django database, by its table django_migrations: make its tables by `python manage.py \
         migrate` in an empty PostgreSQL database, then ",
        "--data-only --replace",
    ),
    (
        "CREATE TABLE alembic_version(version_num VARCHAR(32) NOT NULL, \
             CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))",
        "A SQLAlchemy database, by its table alembic_version: make ",
        "--data-only",
    ),
    (
        "CREATE TABLE schema_migrations(version varchar NOT NULL PRIMARY KEY); \
         CREATE TABLE ar_internal_metadata(key varchar NOT NULL PRIMARY KEY, value varchar, \
             created_at datetime(6) NOT NULL, updated_at datetime(6) NOT NULL)",
        "A Rails database, by its tables ar_internal_metadata and schema_migrations: make ",
        "--data-only --replace",
    ),
    (
        "CREATE TABLE migrations(id integer PRIMARY KEY AUTOINCREMENT NOT NULL, \
             timestamp bigint NOT NULL, name varchar NOT NULL)",
        "A TypeORM database, by its table migrations: make ",
        "--data-only",
    ),
    (
        "CREATE TABLE `SequelizeMeta`(`name` VARCHAR(255) NOT NULL UNIQUE PRIMARY KEY)",
        "A Sequelize database, by its table SequelizeMeta: make ",
        "--data-only",
    ),
    (
        "CREATE TABLE \"__EFMigrationsHistory\"(\"MigrationId\" TEXT NOT NULL \
             CONSTRAINT \"PK___EFMigrationsHistory\" PRIMARY KEY, \"ProductVersion\" TEXT NOT NULL)",
        "An EF Core database, by its table __EFMigrationsHistory, recognised, not proved: make ",
        "--data-only",
    ),
    (
        "CREATE TABLE \"VersionInfo\"(\"Version\" INTEGER NOT NULL, \"AppliedOn\" DATETIME, \
             \"Description\" TEXT); CREATE UNIQUE INDEX \"UC_Version\" ON \"VersionInfo\"(\"Version\" ASC)",
        "A FluentMigrator database, by its table VersionInfo, recognised, not proved: make ",
        "--data-only --replace",
    ),
    (
        "CREATE TABLE \"_prisma_migrations\"(\"id\" TEXT PRIMARY KEY NOT NULL, \"checksum\" TEXT NOT NULL, \
             \"finished_at\" DATETIME, \"migration_name\" TEXT NOT NULL, \"logs\" TEXT, \
             \"rolled_back_at\" DATETIME, \"started_at\" DATETIME NOT NULL DEFAULT current_timestamp, \
             \"applied_steps_count\" INTEGER UNSIGNED NOT NULL DEFAULT 0)",
        "A Prisma database, by its table _prisma_migrations, recognised, not proved: make ",
        "--data-only --exclude _prisma_migrations",
    ),
    (
        "CREATE TABLE `knex_migrations`(`id` integer not null primary key autoincrement, \
             `name` varchar(255), `batch` integer, `migration_time` datetime); \
         CREATE TABLE `knex_migrations_lock`(`index` integer not null primary key autoincrement, \
             `is_locked` integer)",
        "A Knex database, by its table knex_migrations, recognised, not proved: make ",
        "--data-only",
    ),
    (
        "CREATE TABLE migrations(id integer primary key autoincrement not null, \
             migration varchar not null, batch integer not null)",
        "A Laravel database, by its table migrations, recognised, not proved: make ",
        "--data-only",
    ),
    (
        "CREATE TABLE __diesel_schema_migrations(version VARCHAR(50) PRIMARY KEY NOT NULL, \
             run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)",
        "A Diesel database, by its table __diesel_schema_migrations, recognised, not proved: make ",
        "--data-only",
    ),
    (
        "CREATE TABLE version(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, version INTEGER NULL); \
         CREATE TABLE repository(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, \
             owner_id INTEGER NULL, lower_name TEXT NOT NULL, is_private INTEGER NULL); \
         CREATE TABLE repo_unit(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, \
             repo_id INTEGER NULL, type INTEGER NULL, config TEXT NULL)",
        "A xorm database, by its tables version and repository and repo_unit, recognised, not proved: ",
        "--data-only --replace",
    ),
    (
        "CREATE TABLE `users`(`id` integer PRIMARY KEY AUTOINCREMENT, `created_at` datetime, \
             `updated_at` datetime, `deleted_at` datetime, `name` text, `active` numeric); \
         CREATE INDEX `idx_users_deleted_at` ON `users`(`deleted_at`)",
        "A GORM database, by its table users, recognised, not proved: make ",
        "--data-only",
    ),
];

#[test]
fn the_first_line_of_an_audit_is_the_recipe() {
    for (marks, advice, flags) in MARKS {
        let file = File::new(&format!(
            "{marks}; CREATE TABLE t(at DATETIME); INSERT INTO t VALUES ('2021-01-02 03:04:05')"
        ));
        let text = file.audit_text(&[]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with(advice), "{text}");
        let ending = format!("then `crossover migrate source.db URL {flags}`; the default ");
        assert!(lines[0].contains(&ending), "{text}");
        assert!(lines[1].starts_with("PostgreSQL takes all rows") && lines[1].ends_with('.'));
        let next = lines.last().unwrap();
        assert!(next.starts_with("Next: crossover audit source.db --target URL, when "), "{text}");
        file.run("CREATE TABLE u(n INT); INSERT INTO u VALUES ('x')");
        let text = file.audit_text(&["t.at=text"]);
        assert!(text.starts_with(advice) && text.contains("\nPostgreSQL would refuse "), "{text}");
        assert!(!text.contains("URL --map"), "{text}");
    }
}

#[test]
fn other_tables_tell_no_framework() {
    for others in [
        "CREATE TABLE migrations(id INTEGER PRIMARY KEY, name TEXT)",
        "CREATE TABLE schema_migrations(version TEXT PRIMARY KEY)",
        "CREATE TABLE alembic_version(n INT)",
        "CREATE TABLE version(id INTEGER PRIMARY KEY, version INTEGER)",
        "CREATE TABLE users(id integer PRIMARY KEY, created_at datetime, updated_at datetime, \
             deleted_at datetime)",
        MARKS[12].0.replace("idx_users_deleted_at", "users_deleted").as_str(),
    ] {
        let text = File::new(others).audit_text(&[]);
        assert!(text.contains("nothing blocks.\n\n") && !text.contains("database, by"), "{text}");
    }
}

/// Types that declared types tell of Django's own tables, and those that stay open.
#[test]
fn the_first_line_names_types_and_tables() {
    let file = File::new(&format!(
        "{}; CREATE TABLE django_content_type(id integer NOT NULL PRIMARY KEY AUTOINCREMENT); \
         CREATE TABLE django_session(session_key varchar(40) NOT NULL PRIMARY KEY); \
         CREATE TABLE shop_order(id char(32) NOT NULL PRIMARY KEY, other char(32), \
             took bigint NOT NULL, extra text NOT NULL CHECK ((JSON_VALID(\"extra\") \
             OR \"extra\" IS NULL)), parent_id bigint REFERENCES django_content_type(id))",
        MARKS[0].0
    ));
    let text = file.audit_text(&[]);
    let first = text.lines().next().unwrap();
    let types = "the default would make other types than the application's: there char(32) is uuid \
                 (2 columns), text is jsonb (1 column), bigint may \
                 be interval (1 column)";
    assert!(first.contains(types), "{first}");
    let tables =
        "--replace deletes the rows that come with django_content_type, django_migrations.";
    assert!(first.contains(tables) && first.ends_with(": --exclude 'django_session'."), "{first}");
}

fn choosing(framework: &str) -> Selection {
    Selection { framework: framework.parse().unwrap(), ..Selection::default() }
}

#[test]
fn two_frameworks_are_asked_about() {
    let both = format!("{}; {}", MARKS[0].0, MARKS[1].0);
    let file = File::new(&both);
    let text = file.audit_text(&[]);
    let question = "The file has the tables of Django and of SQLAlchemy (django_migrations, \
                    alembic_version): say which of them made it by --framework django or --framework \
                    sqlalchemy, or --framework none.";
    assert!(text.starts_with(question), "{text}");
    assert!(text.contains("migrate asks which of them made it"), "{text}");
    let next = "Next: crossover audit source.db --framework django, or crossover audit source.db \
                --framework sqlalchemy\n";
    assert!(text.ends_with(next), "{text}");
    let audit = |framework: &str| {
        let options = AuditOptions { selection: choosing(framework), ..AuditOptions::default() };
        let progress = indicatif::ProgressBar::hidden();
        let stop = std::sync::atomic::AtomicBool::new(false);
        let report = migrate::audit(&file.path, &options, &progress, &stop).unwrap();
        file.plain(&report.to_text(&TextOptions::default()))
    };
    let text = audit("sqlalchemy");
    assert!(text.starts_with(MARKS[1].1), "{text}");
    assert!(text.contains(" --data-only --framework sqlalchemy`;"), "{text}");
    let text = audit("prisma");
    assert!(text.starts_with("A Prisma database, recognised, not proved: make "), "{text}");
    let text = audit("none");
    assert!(
        text.starts_with("PostgreSQL takes all rows") && !text.contains("framework:"),
        "{text}"
    );
}

/// Django's tables, as its own command makes them.
const OF_DJANGO: &str = "\
    CREATE TABLE django_migrations(id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, \
        app varchar(255) NOT NULL, name varchar(255) NOT NULL, applied timestamptz NOT NULL); \
    INSERT INTO django_migrations(app, name, applied) VALUES ('shop', '0001_initial', now()); \
    CREATE TABLE shop_order(id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, \
        placed timestamptz NOT NULL, total numeric(10, 2) NOT NULL, is_paid boolean NOT NULL)";

#[tokio::test]
async fn the_recipe_moves_the_rows_without_the_advice() {
    let file = File::new(
        "CREATE TABLE django_migrations(id integer NOT NULL PRIMARY KEY AUTOINCREMENT, \
             app varchar(255) NOT NULL, name varchar(255) NOT NULL, applied datetime NOT NULL); \
         CREATE TABLE shop_order(id integer NOT NULL PRIMARY KEY AUTOINCREMENT, \
             placed datetime NOT NULL, total decimal NOT NULL, is_paid bool NOT NULL); \
         INSERT INTO django_migrations VALUES (1, 'shop', '0001_initial', '2021-01-02 03:04:05.678'); \
         INSERT INTO shop_order VALUES (7, '2021-01-02 03:04:05', 12.5, 1)",
    );
    let target = Target::new().await;
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    let text = file.plain(&report.to_text(&TextOptions::default()));
    assert!(text.lines().next().unwrap().starts_with("moved: "), "{text}");
    let second = text.lines().nth(1).unwrap();
    assert!(second.starts_with(MARKS[0].1), "{text}");

    let Some(target) = Target::since(10).await else { return };
    target.run(OF_DJANGO).await;
    let options = MigrateOptions { replace: true, ..data_only() };
    let report = target.migrate(&file, &options).await.unwrap();
    assert!(report.application.is_none());
    let text = report.to_text(&TextOptions::default());
    assert!(!text.contains("Django"), "{text}");
    let next = "INSERT INTO shop_order(placed, total, is_paid) VALUES (now(), 1, true) \
                RETURNING id::text";
    assert_eq!(target.texts(next).await, ["8"]);
}

/// A table of versions in a file and in a target: the file's row, the target's, and the names that the
/// refusal gives them.
const VERSIONS: [(&str, &str, &str, &str, &str, &str); 6] = [
    (
        "CREATE TABLE django_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, app VARCHAR(255), \
             name VARCHAR(255), applied DATETIME)",
        "django_migrations",
        "(app, name)",
        "('shop', '2')",
        "('shop', '1')",
        "shop.",
    ),
    (MARKS[1].0, "alembic_version", "(version_num)", "('2')", "('1')", ""),
    (
        "CREATE TABLE schema_migrations(version varchar PRIMARY KEY); \
         CREATE TABLE ar_internal_metadata(key varchar PRIMARY KEY, value varchar)",
        "schema_migrations",
        "(version)",
        "('2')",
        "('1')",
        "",
    ),
    (
        "CREATE TABLE migrations(id INTEGER PRIMARY KEY, timestamp bigint, name varchar)",
        "migrations",
        "(timestamp, name)",
        "(2, 'add')",
        "(1, 'add')",
        "",
    ),
    (
        "CREATE TABLE \"SequelizeMeta\"(name VARCHAR(255) PRIMARY KEY)",
        "\"SequelizeMeta\"",
        "(name)",
        "('2')",
        "('1')",
        "",
    ),
    (MARKS[5].0, "\"__EFMigrationsHistory\"", COLUMNS_OF_EF, "('2', '8')", "('1', '8')", ""),
];
const COLUMNS_OF_EF: &str = "(\"MigrationId\", \"ProductVersion\")";

#[tokio::test]
async fn the_versions_of_another_schema_are_never_replaced() {
    for (marks, table, columns, of_file, of_target, app) in VERSIONS {
        let file = File::new(&format!("{marks}; INSERT INTO {table}{columns} VALUES {of_file}"));
        let target = Target::new().await;
        let tables = marks.replace("INTEGER PRIMARY KEY AUTOINCREMENT", "serial PRIMARY KEY");
        let tables = tables.replace("DATETIME", "timestamptz").replace("INTEGER PR", "serial PR");
        let insert = format!("INSERT INTO {table}{columns} VALUES");
        target.run(&format!("{tables}; {insert} {of_target}")).await;
        let replace = MigrateOptions { replace: true, ..data_only() };
        let error = target.migrate(&file, &replace).await.unwrap_err().to_string();
        let end = if columns.contains("timestamp,") { ".add" } else { "" };
        let lacking = format!("the target lacks {app}2{end}, the file lacks {app}1{end}; run ");
        assert!(error.contains(&lacking), "{error}");
        assert!(error.contains(" on both, or keep the target's versions: --exclude "), "{error}");
        let report = audit(&file, &target).await;
        let finding = report.findings.iter().find(|each| each.kind == "framework_versions");
        assert_eq!(finding.unwrap().severity, Severity::Blocker);
        let there =
            format!("SELECT concat_ws('.', {}) FROM {table}", columns.trim_matches(['(', ')']));
        let before = target.texts(&there).await;
        // Either remedy, as it is printed.
        let excluded = vec![table.trim_matches('"').to_owned()];
        let selection = Selection { excluded, ..Selection::default() };
        target.migrate(&file, &MigrateOptions { selection, ..replace.clone() }).await.unwrap();
        assert_eq!(target.texts(&there).await, before);
        target.run(&format!("{insert} {of_file}")).await;
        let error = target.migrate(&file, &replace).await.unwrap_err().to_string();
        assert!(error.contains(&format!(": the file lacks {app}1{end}; run ")), "{error}");
        file.run(&format!("{insert} {of_target}"));
        target.migrate(&file, &replace).await.unwrap();
    }
}

/// Rails writes the environment of each database into it.
#[tokio::test]
async fn what_rails_wrote_about_the_target_stays() {
    let rails = "CREATE TABLE schema_migrations(version varchar PRIMARY KEY); \
                 CREATE TABLE ar_internal_metadata(key varchar PRIMARY KEY, value varchar); \
                 INSERT INTO schema_migrations VALUES ('1'); CREATE TABLE t(n INT)";
    let of = |environment: &str| {
        format!("{rails}; INSERT INTO ar_internal_metadata VALUES ('environment', '{environment}')")
    };
    let file = File::new(&format!("{}; INSERT INTO t VALUES (1)", of("development")));
    let target = Target::new().await;
    target.run(&of("production")).await;
    let report = audit(&file, &target).await;
    let finding = report.findings.iter().find(|each| each.table == "ar_internal_metadata").unwrap();
    assert!(finding.message.contains("stay (environment=production)"), "{finding}");
    let values = "SELECT value FROM ar_internal_metadata";
    for options in [data_only(), MigrateOptions { replace: true, ..data_only() }] {
        let report = target.migrate(&file, &options).await.unwrap();
        assert_eq!(target.texts(values).await, ["production"]);
        let text = report.to_text(&TextOptions::default());
        assert!(text.contains(&finding.message), "{text}");
        assert!(
            text.contains("To verify it again: ") && text.contains("--exclude 'ar_internal"),
            "{text}"
        );
        target.run("DELETE FROM t").await;
    }
    let selection =
        Selection { tables: vec!["ar_internal_metadata".to_owned()], ..Selection::default() };
    let named = MigrateOptions { replace: true, selection, ..data_only() };
    target.migrate(&file, &named).await.unwrap();
    assert_eq!(target.texts(values).await, ["development"]);
}

#[test]
fn an_excluded_table_still_tells_the_framework() {
    let file = File::new(&format!("{}; CREATE TABLE t(n INT)", MARKS[0].0));
    let excluded = vec!["django_migrations".to_owned()];
    let selection = Selection { excluded, ..Selection::default() };
    let options = AuditOptions { selection, ..AuditOptions::default() };
    let progress = indicatif::ProgressBar::hidden();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let report = migrate::audit(&file.path, &options, &progress, &stop).unwrap();
    let advice = report.advice().unwrap();
    assert!(advice.starts_with("A Django database"), "{advice}");
    assert!(advice.contains(" --replace --exclude django_migrations`;"), "{advice}");
}
