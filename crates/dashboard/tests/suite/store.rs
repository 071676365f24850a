//! Promises of a store beside right answers, on both engines: one snapshot for each query, slow
//! queries that block no others, lost connections replaced, mistakes named.

use std::time::Duration;

use dashboard::account::AccessControl;
use dashboard::answer::Error;
use dashboard::database;
use dashboard::key::KeyHash;
use dashboard::query::{Grouping, Query, QueryRefusal};
use dashboard::store::{DashboardStore, Options};
use engine::{DatabaseUrl, Settings};

use crate::database::{both, execute, postgres, sqlite};
use crate::rows::Rows;

fn query(grouping: Grouping, parameters: &[(&str, &str)]) -> Query {
    let period = [("start", "2020-01-01"), ("end", "2022-12-31")];
    let pairs: Vec<_> = period
        .iter()
        .chain(parameters)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Query::parse(grouping, &pairs).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_blog_is_refused_by_name() {
    for database in both(&Rows::nasty()).await {
        let store = database.store().await;
        for name in ["Twilio", "", "' OR 1=1 --", &"x".repeat(10_000)] {
            let error = store.answer(query(Grouping::Days, &[("blog", name)])).await.unwrap_err();
            let Error::Refused(QueryRefusal::UnknownKey { name: "blog", key }) = error else {
                panic!("{name:?}: {error}")
            };
            assert_eq!(key, name);
        }
    }
}

/// Each transaction of the writer gives one more article traffic on one day. So in any single
/// snapshot the days' counts add up to the count over all days; in two they need not.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_statements_of_a_question_see_one_snapshot() {
    for database in both(&Rows::nasty()).await {
        database.execute("DELETE FROM traffic").await;
        let store = database.store().await;
        let url = database.url.clone();
        let writer = tokio::spawn(async move {
            for (article, day) in (1..=40).zip(18_500..) {
                let insert = format!("INSERT INTO traffic VALUES ({day}, {article}, 1, 1, 1, 1)");
                execute(&url, &insert).await;
            }
        });
        let mut answers = 0;
        while !writer.is_finished() || answers == 0 {
            let answer = store.answer(query(Grouping::Days, &[("count", "articles")])).await;
            let body: serde_json::Value = serde_json::from_slice(&answer.unwrap().body).unwrap();
            assert_eq!(body["totals"]["articles"], body["row_count"], "{body}");
            assert_eq!(body["totals"]["pageviews"], body["row_count"], "{body}");
            answers += 1;
        }
        writer.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_applied_or_refused_before_anything_is_answered() {
    let cases = [("cache_size", "-4000", "cach_size"), ("work_mem", "16MB", "work_memm")];
    for (database, (name, value, misspelt)) in both(&Rows::none()).await.iter().zip(cases) {
        let open = async |name: &str| {
            let mut settings = Settings::default();
            settings.set(name, value).unwrap();
            let options = Options { settings, ..Options::default() };
            DashboardStore::open(&database.url, &options).await
        };
        open(name).await.unwrap().check().await.unwrap();
        let error = open(misspelt).await.unwrap_err().to_string();
        assert!(error.contains(misspelt) && error.contains(name), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_s_schema_is_refused_with_the_difference() {
    for database in both(&Rows::none()).await {
        database.execute("ALTER TABLE teams ADD COLUMN city varchar(64)").await;
        let error = DashboardStore::open(&database.url, &Options::default()).await.unwrap_err();
        assert!(error.to_string().contains("teams.city"), "{error}");
    }
}

/// More endless questions than there are connections: keys are still checked and the health is
/// still known. (SQLite's pool has the same test beside its code.)
#[tokio::test(flavor = "multi_thread")]
async fn keys_and_health_answer_while_every_connection_is_busy() {
    let database = postgres(&Rows::nasty()).await;
    let options = Options { connections: 2, ..Options::default() };
    let store = DashboardStore::open(&database.url, &options).await.unwrap();
    let access = AccessControl::open(&database.url).await.unwrap();
    let DatabaseUrl::Postgres(url) = &database.url else { panic!("no URL") };
    let mut other = connect::postgres::connect(url).await.unwrap();
    let lock = other.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE traffic IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let question = || store.answer(query(Grouping::Days, &[]));
    let questions = futures_util::future::join_all([question(), question(), question()]);
    let beside = async {
        store.check().await.unwrap();
        let key = KeyHash::of("no key");
        assert_eq!(access.key_holder(&key).await.unwrap(), None);
        lock.rollback().await.unwrap();
    };
    let (answers, ()) = tokio::join!(questions, beside);
    for answer in answers {
        answer.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_postgresql_ended_are_replaced() {
    let database = postgres(&Rows::nasty()).await;
    let store = database.store().await;
    let before = store.answer(query(Grouping::Teams, &[])).await.unwrap();
    let end_others = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                      WHERE pid <> pg_backend_pid() AND datname = current_database()";
    database.execute(end_others).await;
    let after = store.answer(query(Grouping::Teams, &[])).await.unwrap();
    assert_eq!(before, after);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sqlite_file_is_put_into_wal_mode_and_read_by_its_key() {
    let database = sqlite(&Rows::nasty());
    let store = database.store().await;
    store.answer(query(Grouping::Days, &[])).await.unwrap();
    let connection = connect::sqlite::open_existing(database.file()).unwrap();
    let mode: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

/// A question that has not ended by then is taken to hang.
const HANGS_AFTER: Duration = Duration::from_secs(60);

/// A question that waits for a lock is stopped in the server too, and the next is answered by a
/// connection that the cancellation cannot meet.
#[tokio::test]
async fn postgresql_work_stops_at_the_limit_and_on_cancellation() {
    let database = postgres(&Rows::nasty()).await;
    let limit = Duration::from_secs(3_600);
    for query_limit in [Some(limit), None] {
        let options = Options { connections: 1, query_limit, ..Options::default() };
        let store = DashboardStore::open(&database.url, &options).await.unwrap();
        let before = store.answer(query(Grouping::Teams, &[])).await.unwrap();
        let DatabaseUrl::Postgres(url) = &database.url else { panic!("no URL") };
        let mut other = connect::postgres::connect(url).await.unwrap();
        let lock = other.transaction().await.unwrap();
        lock.batch_execute("LOCK TABLE traffic IN ACCESS EXCLUSIVE MODE").await.unwrap();
        let mut question = Box::pin(store.answer(query(Grouping::Teams, &[])));
        tokio::select! {
            answer = &mut question => panic!("answered in spite of the lock: {answer:?}"),
            () = until_waiting(&lock, 1) => {}
        }
        if query_limit.is_some() {
            tokio::time::pause();
            tokio::time::advance(limit).await;
            tokio::time::resume();
            let error = tokio::time::timeout(HANGS_AFTER, question).await.unwrap().unwrap_err();
            assert!(matches!(error, Error::Database(database::Error::TooSlow { .. })), "{error}");
        } else {
            drop(question);
        }
        tokio::time::timeout(HANGS_AFTER, until_waiting(&lock, 0)).await.unwrap();
        lock.rollback().await.unwrap();
        assert_eq!(store.answer(query(Grouping::Teams, &[])).await.unwrap(), before);
    }
}

/// Returns when this number of sessions of the database wait for a lock.
async fn until_waiting(transaction: &tokio_postgres::Transaction<'_>, sessions: i64) {
    let waiting = "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_database d ON d.oid = database
                   WHERE NOT granted AND datname = current_database()";
    while transaction.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) != sessions {
        tokio::task::yield_now().await;
    }
}
