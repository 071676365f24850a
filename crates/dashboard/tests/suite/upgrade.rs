//! Databases as the program of every schema version has left them, brought to this program's.

use std::collections::BTreeSet;
use std::path::Path;

use dashboard::query::{Grouping, Query};
use dashboard::rollup;
use dashboard::schema::{self, VERSION};
use dashboard::upgrade::{self, Error, Upgraded};
use dashboard::{account, key};
use engine::DatabaseUrl;

use crate::database::{TestDatabase, both_empty, execute, work};

/// What the programs of the versions have left: 20 facts of 4 articles, a key, and from version 2
/// on an account and a key with an end. A version that is raised needs one more.
const FIXTURES: [(i32, &str, &str); VERSION as usize - 1] = [
    (
        1,
        include_str!("../fixtures/version-1.sqlite.sql"),
        include_str!("../fixtures/version-1.postgres.sql"),
    ),
    (
        2,
        include_str!("../fixtures/version-2.sqlite.sql"),
        include_str!("../fixtures/version-2.postgres.sql"),
    ),
    (
        3,
        include_str!("../fixtures/version-3.sqlite.sql"),
        include_str!("../fixtures/version-3.postgres.sql"),
    ),
];

const PAGEVIEWS: i64 = 20;

async fn of_version(version: i32) -> [TestDatabase; 2] {
    let (_, sqlite, postgres) = FIXTURES.into_iter().find(|one| one.0 == version).unwrap();
    let databases = both_empty().await;
    for database in &databases {
        database.execute(if database.is_postgres() { postgres } else { sqlite }).await;
    }
    databases
}

async fn upgrade(database: &DatabaseUrl) -> Result<Upgraded, Error> {
    let (database, runtime) = (database.clone(), tokio::runtime::Handle::current());
    let upgrade = move || upgrade::upgrade(&database, work(&runtime));
    tokio::task::spawn_blocking(upgrade).await.unwrap()
}

async fn schema_error(database: &DatabaseUrl) -> Option<schema::Error> {
    match database {
        DatabaseUrl::Sqlite(path) => {
            schema::check_sqlite(&connect::sqlite::open_read_only(path).unwrap()).err()
        }
        DatabaseUrl::Postgres(url) => {
            schema::check_postgres(&connect::postgres::connect(url).await.unwrap()).await.err()
        }
    }
}

/// Everything that is declared, whatever the words of the declaration were.
async fn declared(database: &DatabaseUrl) -> BTreeSet<String> {
    match database {
        DatabaseUrl::Sqlite(path) => {
            let connection = connect::sqlite::open_read_only(path).unwrap();
            let sql = r#"
                SELECT 'column', t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk
                  FROM pragma_table_list t, pragma_table_info(t.name) c WHERE t.schema = 'main'
                UNION ALL SELECT 'table', name, type, wr, strict, NULL, NULL
                  FROM pragma_table_list WHERE schema = 'main'
                UNION ALL SELECT 'key', t.name, k."from", k."table", k."to", k.on_delete, NULL
                  FROM pragma_table_list t, pragma_foreign_key_list(t.name) k
                UNION ALL SELECT 'index', t.name, i."unique", i.origin, c.name, c.seqno, NULL
                  FROM pragma_table_list t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
                UNION ALL SELECT type, name, tbl_name, sql, NULL, NULL, NULL
                  FROM sqlite_schema WHERE type = 'trigger'"#;
            let mut prepared = connection.prepare(sql).unwrap();
            let text = |row: &rusqlite::Row<'_>| {
                let value = |column| row.get::<_, rusqlite::types::Value>(column);
                Ok((0..7).map(|column| format!("{:?} ", value(column).unwrap())).collect())
            };
            let rows = prepared.query_map([], text).unwrap().map(Result::unwrap);
            rows.filter(|row: &String| !row.contains("(\"sqlite_")).collect()
        }
        DatabaseUrl::Postgres(url) => {
            let client = connect::postgres::connect(url).await.unwrap();
            let sql = "
                SELECT concat_ws(' ', 'column', attrelid::regclass, attname, attnotnull, attstorage,
                                 format_type(atttypid, atttypmod), atthasdef)
                  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
                 WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
                   AND attnum > 0 AND NOT attisdropped
                UNION ALL SELECT concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid))
                  FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
                UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
                UNION ALL SELECT concat_ws(' ', tablename, regexp_replace(indexdef, '.* ON ', ''))
                  FROM pg_indexes WHERE schemaname = 'public'";
            let rows = client.query(sql, &[]).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        }
    }
}

async fn teams(database: &TestDatabase, by_totals: bool) -> serde_json::Value {
    let store = if by_totals { database.rollup_store().await } else { database.store().await };
    let pairs = [("start", "2020-04-01"), ("end", "2022-12-31")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let body = store.answer(Query::parse(Grouping::Teams, &pairs).unwrap()).await.unwrap().body;
    serde_json::from_slice(&body).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_version_becomes_this_one_with_all_that_it_held() {
    let fresh = both_empty().await;
    for database in &fresh {
        let (url, runtime) = (database.url.clone(), tokio::runtime::Handle::current());
        let make = move || dashboard::init::initialise(&url, &runtime).unwrap();
        tokio::task::spawn_blocking(make).await.unwrap();
    }
    for (version, ..) in FIXTURES {
        for (database, fresh) in of_version(version).await.iter().zip(&fresh) {
            let older = schema_error(&database.url).await.unwrap();
            assert!(matches!(older, schema::Error::Older { found } if found == version), "{older}");
            let upgraded = upgrade(&database.url).await.unwrap();
            assert_eq!(upgraded.from, version);
            assert!(schema_error(&database.url).await.is_none());
            let (ours, theirs) = (declared(&database.url).await, declared(&fresh.url).await);
            let differences: Vec<_> = ours.symmetric_difference(&theirs).collect();
            assert!(differences.is_empty(), "{differences:#?}");

            let runtime = tokio::runtime::Handle::current();
            let url = database.url.clone();
            let verify = move || rollup::verify(&url, work(&runtime)).unwrap();
            let proof = tokio::task::spawn_blocking(verify).await.unwrap();
            assert!(proof.totals > 0 && proof.differences.is_empty(), "{proof:?}");
            let answer = teams(database, false).await;
            assert_eq!(answer, teams(database, true).await);
            // SELECT sum(pageviews) FROM traffic, of every fixture.
            assert_eq!(answer["totals"]["pageviews"], PAGEVIEWS);
            let days_with_facts = "SELECT DISTINCT blog_id, day, 'complete' FROM traffic \
                                   JOIN articles ON articles.id = article_id ORDER BY 1, 2";
            let days = "SELECT blog_id, day, state FROM imported_days ORDER BY 1, 2";
            let expected = database.texts(days_with_facts).await;
            assert!(!expected.is_empty());
            assert_eq!(database.texts(days).await, expected);

            let keys = key::list(&database.url).await.unwrap();
            assert_eq!(keys[0].name, "laptop");
            let people = account::list(&database.url).await.unwrap();
            assert_eq!(people.len(), usize::from(version > 1), "version {version}");
            let with_end = keys.iter().filter(|key| key.expires_at.is_some()).count();
            assert_eq!(with_end, usize::from(version > 1), "version {version}");
            check_backup(&upgraded, database, version).await;

            let again = upgrade(&database.url).await.unwrap();
            assert_eq!(again, Upgraded { from: VERSION, backup: None });
        }
    }
}

async fn check_backup(upgraded: &Upgraded, database: &TestDatabase, version: i32) {
    let Some(backup) = &upgraded.backup else {
        assert!(database.is_postgres());
        return;
    };
    let name = format!("dashboard.version-{version}.db");
    assert_eq!(backup.file_name().unwrap(), name.as_str());
    let error = schema_error(&DatabaseUrl::Sqlite(backup.clone())).await.unwrap();
    assert!(matches!(error, schema::Error::Older { found } if found == version), "{error}");
}

/// As a kill between two steps leaves it; and a second copy does not replace the first.
#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_was_cut_off_goes_on_with_the_next_step() {
    for database in of_version(1).await {
        let step = if database.is_postgres() {
            include_str!("../../src/upgrade/to_2.postgres.sql")
        } else {
            include_str!("../../src/upgrade/to_2.sqlite.sql")
        };
        database.execute(step).await;
        if !database.is_postgres() {
            std::fs::write(database.file().with_extension("version-2.db"), "another").unwrap();
        }
        let upgraded = upgrade(&database.url).await.unwrap();
        assert_eq!(upgraded.from, 2);
        if let Some(backup) = upgraded.backup {
            assert_eq!(backup, database.file().with_extension("version-2-2.db"));
        }
        assert_eq!(teams(&database, true).await["totals"]["pageviews"], PAGEVIEWS);
    }
}

/// A step that fails halfway leaves nothing of itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_fails_changes_nothing() {
    for database in of_version(1).await {
        database.execute("CREATE TABLE totals (a integer)").await;
        let before = declared(&database.url).await;
        let error = upgrade(&database.url).await.unwrap_err().to_string();
        assert!(
            error.contains("totals") && error.contains("left the database unchanged"),
            "{error}"
        );
        assert_eq!(declared(&database.url).await, before);
        execute(&database.url, "DROP TABLE totals").await;
        upgrade(&database.url).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_and_foreign_files_are_refused_and_not_copied() {
    for database in of_version(2).await {
        database.execute("UPDATE schema_version SET version = 99").await;
        let error = upgrade(&database.url).await.unwrap_err().to_string();
        assert!(
            error.contains("version 99") && error.contains(&format!("up to {VERSION}")),
            "{error}"
        );
        database
            .execute(
                "DROP TABLE schema_version CASCADE".trim_end_matches(if database.is_postgres() {
                    ""
                } else {
                    " CASCADE"
                }),
            )
            .await;
        let error = upgrade(&database.url).await.unwrap_err().to_string();
        assert!(error.contains("no dashboard"), "{error}");
        if !database.is_postgres() {
            let files = database.file().parent().map(Path::read_dir).unwrap().unwrap();
            assert_eq!(files.count(), 1, "a copy was made");
        }
    }
}
