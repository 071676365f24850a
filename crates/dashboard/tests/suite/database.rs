//! Databases for tests: a SQLite file, and a database in a managed PostgreSQL whose default
//! collation is English, so that an order left to the collation shows.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Weak};

use dashboard::answer::AnswerDesign;
use dashboard::generate::{DatasetOptions, generate};
use dashboard::rollup::{self, CommandWork};
use dashboard::schema;
use dashboard::store::{DashboardStore, Options};
use engine::{DatabaseUrl, PostgresUrl};
use indicatif::ProgressBar;
use rusqlite::params_from_iter;
use server::{Locations, PostgresServer, StartOptions};
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::rows::Rows;

/// A database that goes when the test ends.
pub struct TestDatabase {
    pub url: DatabaseUrl,
    _folder: Option<TempDir>,
    _server: Option<Arc<PostgresServer>>,
}

impl TestDatabase {
    pub async fn store(&self) -> DashboardStore {
        let options = Options { design: Some(AnswerDesign::Daily), ..Options::default() };
        DashboardStore::open(&self.url, &options).await.unwrap()
    }

    /// The store in the design that answers from totals, which are made first.
    pub async fn rollup_store(&self) -> DashboardStore {
        let (url, runtime) = (self.url.clone(), tokio::runtime::Handle::current());
        let make = move || rollup::rebuild(&url, work(&runtime)).unwrap();
        tokio::task::spawn_blocking(make).await.unwrap();
        let options = Options { design: Some(AnswerDesign::Rollup), ..Options::default() };
        DashboardStore::open(&self.url, &options).await.unwrap()
    }

    pub fn is_postgres(&self) -> bool {
        matches!(self.url, DatabaseUrl::Postgres(_))
    }

    pub fn file(&self) -> &Path {
        let DatabaseUrl::Sqlite(path) = &self.url else { panic!("no file") };
        path
    }

    pub async fn execute(&self, sql: &str) {
        execute(&self.url, sql).await;
    }
}

impl TestDatabase {
    /// The rows of a statement, as one text each.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        match &self.url {
            DatabaseUrl::Sqlite(path) => {
                let connection = connect::sqlite::open_read_only(path).unwrap();
                let mut statement = connection.prepare(sql).unwrap();
                let columns = statement.column_count();
                let text = |row: &rusqlite::Row<'_>| {
                    let value = |at| match row.get(at).unwrap() {
                        rusqlite::types::Value::Integer(number) => number.to_string(),
                        rusqlite::types::Value::Text(text) => text,
                        other => panic!("{other:?}"),
                    };
                    Ok((0..columns).map(value).collect::<Vec<_>>().join(" "))
                };
                statement.query_map([], text).unwrap().map(Result::unwrap).collect()
            }
            DatabaseUrl::Postgres(url) => {
                let client = connect::postgres::connect(url).await.unwrap();
                let rows = client.simple_query(sql).await.unwrap();
                let text = |message: &tokio_postgres::SimpleQueryMessage| match message {
                    tokio_postgres::SimpleQueryMessage::Row(row) => {
                        let values = (0..row.len()).map(|at| row.get(at).unwrap_or_default());
                        Some(values.collect::<Vec<_>>().join(" "))
                    }
                    _ => None,
                };
                rows.iter().filter_map(text).collect()
            }
        }
    }
}

/// Runs statements as another program would.
pub async fn execute(url: &DatabaseUrl, sql: &str) {
    match url {
        DatabaseUrl::Sqlite(path) => {
            let connection = connect::sqlite::open_existing(path).unwrap();
            connect::sqlite::pragmas(&connection, [("busy_timeout", "5000")]).unwrap();
            connection.execute_batch(sql).unwrap();
        }
        DatabaseUrl::Postgres(url) => {
            connect::postgres::connect(url).await.unwrap().batch_execute(sql).await.unwrap();
        }
    }
}

/// Work without progress and interruption.
pub fn work(runtime: &tokio::runtime::Handle) -> CommandWork<'_> {
    static NEVER: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
    static HIDDEN: LazyLock<ProgressBar> = LazyLock::new(ProgressBar::hidden);
    CommandWork { runtime, progress: &HIDDEN, interrupted: &NEVER }
}

/// `rows` in both engines.
pub async fn both(rows: &Rows) -> [TestDatabase; 2] {
    [sqlite(rows), postgres(rows).await]
}

pub fn sqlite(rows: &Rows) -> TestDatabase {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dashboard.db");
    let mut connection = connect::sqlite::create(&path).unwrap();
    schema::create_sqlite(&mut connection).unwrap();
    let transaction = connection.transaction().unwrap();
    for (sql, values) in rows.inserts("?") {
        transaction.execute(&sql, params_from_iter(values)).unwrap();
    }
    transaction.commit().unwrap();
    TestDatabase { url: DatabaseUrl::Sqlite(path), _folder: Some(folder), _server: None }
}

pub async fn postgres(rows: &Rows) -> TestDatabase {
    let server = server().await;
    let url = new_database(&server).await;
    let mut client = connect::postgres::connect(&url).await.unwrap();
    schema::create_postgres(&mut client).await.unwrap();
    let transaction = client.transaction().await.unwrap();
    for (sql, values) in rows.inserts("$") {
        let values: Vec<_> = values.iter().map(|value| value.as_postgres()).collect();
        transaction.execute(&sql, &values).await.unwrap();
    }
    transaction.commit().await.unwrap();
    TestDatabase { url: DatabaseUrl::Postgres(url), _folder: None, _server: Some(server) }
}

pub async fn both_empty() -> [TestDatabase; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dashboard.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE t (a); DROP TABLE t")
        .unwrap();
    let server = server().await;
    let url = DatabaseUrl::Postgres(new_database(&server).await);
    [
        TestDatabase { url: DatabaseUrl::Sqlite(path), _folder: Some(folder), _server: None },
        TestDatabase { url, _folder: None, _server: Some(server) },
    ]
}

/// The generator's rows in both engines.
pub async fn both_generated(wish: DatasetOptions) -> [TestDatabase; 2] {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseUrl::Sqlite(folder.path().join("generated.db"));
    let server = server().await;
    let database = DatabaseUrl::Postgres(new_database(&server).await);
    let runtime = tokio::runtime::Handle::current();
    let targets = [file.clone(), database.clone()];
    let fill = move || {
        for target in targets {
            let interrupted = Arc::new(AtomicBool::new(false));
            generate(&target, &wish, &runtime, &ProgressBar::hidden(), &interrupted).unwrap();
        }
    };
    tokio::task::spawn_blocking(fill).await.unwrap();
    [
        TestDatabase { url: file, _folder: Some(folder), _server: None },
        TestDatabase { url: database, _folder: None, _server: Some(server) },
    ]
}

async fn new_database(server: &PostgresServer) -> PostgresUrl {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let client = connect::postgres::connect(&server.url("postgres")).await.unwrap();
    let create =
        format!("CREATE DATABASE {name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'");
    client.batch_execute(&create).await.unwrap();
    server.url(&name)
}

/// One server for all tests that run at the same time; the last one that ends stops it.
async fn server() -> Arc<PostgresServer> {
    static RUNNING: Mutex<Weak<PostgresServer>> = Mutex::const_new(Weak::new());
    let mut running = RUNNING.lock().await;
    if let Some(server) = running.upgrade() {
        return server;
    }
    let server = Arc::new(own_server().await);
    *running = Arc::downgrade(&server);
    server
}

/// A server that no other test uses.
pub async fn own_server() -> PostgresServer {
    let options = StartOptions::new("18").unwrap().temporary();
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    PostgresServer::start(&Locations::detect().unwrap(), options, &progress, &interrupted)
        .await
        .unwrap()
}
