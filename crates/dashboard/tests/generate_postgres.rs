//! The dataset in a real PostgreSQL: the same rows as in SQLite, whole or not at all.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dashboard::generate::{DatasetOptions, Error, Summary, generate};
use dashboard::rollup::{self, CommandWork};
use dashboard::schema::{self, TABLES, TableDefinition};
use engine::{DatabaseUrl, PostgresUrl};
use indicatif::ProgressBar;
use server::{Locations, PostgresServer, StartOptions};
use tokio::runtime::Runtime;

/// A PostgreSQL server of its own; everything goes away with it.
struct Place {
    runtime: Runtime,
    server: PostgresServer,
    folder: tempfile::TempDir,
}

impl Place {
    fn new(version: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let folder = tempfile::tempdir().unwrap();
        // As root, the account of the server has to pass through.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
        let locations =
            Locations { data: folder.path().to_owned(), ..Locations::detect().unwrap() };
        let options = StartOptions::new(version).unwrap().temporary();
        let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
        let start = PostgresServer::start(&locations, options, &progress, &interrupted);
        let server = runtime.block_on(start).unwrap();
        Self { runtime, server, folder }
    }

    fn url(&self) -> PostgresUrl {
        self.server.url("crossover")
    }

    fn generate(&self, target: DatabaseUrl, wish: &DatasetOptions) -> Result<Summary, Error> {
        let interrupted = Arc::new(AtomicBool::new(false));
        generate(&target, wish, self.runtime.handle(), &ProgressBar::hidden(), &interrupted)
    }

    fn postgres(&self, wish: &DatasetOptions) -> Result<Summary, Error> {
        self.generate(DatabaseUrl::Postgres(self.url()), wish)
    }

    /// The rows that a query answers, as PostgreSQL writes texts.
    fn query(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        self.runtime.block_on(async {
            let client = connect::postgres::connect(&self.url()).await.unwrap();
            let messages = client.simple_query(sql).await.unwrap();
            let rows = messages.into_iter().filter_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => Some(row),
                _ => None,
            });
            rows.map(|row| (0..row.len()).map(|place| row.get(place).map(str::to_owned)).collect())
                .collect()
        })
    }

    fn stop(self) {
        self.runtime.block_on(self.server.stop()).unwrap();
    }
}

fn tiny() -> DatasetOptions {
    DatasetOptions::scaled(0.002)
}

/// All rows of a table in the order of its key.
fn dump(table: &TableDefinition) -> String {
    let key: Vec<_> = table.primary_key.iter().map(|column| column.name()).collect();
    let columns = schema::column_names(table.name).join(", ");
    format!("SELECT {columns} FROM {} ORDER BY {}", table.name.name(), key.join(", "))
}

fn sqlite_rows(connection: &rusqlite::Connection, sql: &str) -> Vec<Vec<Option<String>>> {
    use rusqlite::types::Value;
    let mut statement = connection.prepare(sql).unwrap();
    let count = statement.column_count();
    let text = |value| match value {
        Value::Null => None,
        Value::Integer(number) => Some(number.to_string()),
        Value::Text(text) => Some(text),
        other => Some(format!("{other:?}")),
    };
    let rows = statement
        .query_map([], |row| (0..count).map(|place| row.get(place).map(text)).collect())
        .unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn both_engines_hold_the_same_rows_in_the_same_schema() {
    let place = Place::new("18");
    let path = place.folder.path().join("dashboard.db");
    let in_sqlite = place.generate(DatabaseUrl::Sqlite(path.clone()), &tiny()).unwrap();
    let in_postgres = place.postgres(&tiny()).unwrap();
    assert_eq!(in_sqlite.digest, in_postgres.digest);

    let sqlite = connect::sqlite::open_read_only(&path).unwrap();
    for table in TABLES {
        let sql = dump(table);
        assert_eq!(sqlite_rows(&sqlite, &sql), place.query(&sql), "{}", table.name.name());
    }
    place.runtime.block_on(async {
        let client = connect::postgres::connect(&place.url()).await.unwrap();
        schema::check_postgres(&client).await.unwrap();
    });
    let all_visible = "SELECT relallvisible = relpages FROM pg_class WHERE relname = 'traffic'";
    assert_eq!(place.query(all_visible), [[Some("t".to_owned())]]);
    let references = TABLES
        .iter()
        .flat_map(|table| table.columns)
        .filter(|column| column.references.is_some())
        .count();
    let foreign_keys = "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND convalidated";
    assert_eq!(place.query(foreign_keys), [[Some(references.to_string())]]);
    place.stop();
}

#[test]
fn rows_are_replaced_only_on_request_and_others_tables_never() {
    let place = Place::new("18");
    let target = DatabaseUrl::Postgres(place.url());
    dashboard::init::initialise(&target, place.runtime.handle()).unwrap();
    place.postgres(&tiny()).unwrap();

    let refused = place.postgres(&DatasetOptions { seed: 2, ..tiny() }).unwrap_err();
    assert!(refused.to_string().contains("table blogs of the database has rows"), "{refused}");
    let (progress, interrupted) = (ProgressBar::hidden(), Arc::default());
    let runtime = place.runtime.handle();
    let work = CommandWork { runtime, progress: &progress, interrupted: &interrupted };
    rollup::rebuild(&target, work).unwrap();
    let other = DatasetOptions { seed: 2, replace: true, ..tiny() };
    place.postgres(&other).unwrap();
    let totals = rollup::verify(&target, work).unwrap();
    assert!(totals.totals > 1_000 && totals.differences.is_empty(), "{totals:?}");

    let as_found = DatasetOptions { as_found: true, ..tiny() };
    assert!(matches!(place.postgres(&as_found), Err(Error::AsFoundPostgres)));

    place.query("DROP TABLE traffic; ALTER TABLE authors ADD COLUMN salary integer");
    let refused = place.postgres(&other).unwrap_err().to_string();
    assert!(refused.contains("column authors.salary is unknown"), "{refused}");
    assert_eq!(place.query("SELECT count(*) FROM authors"), [[Some("400".to_owned())]]);
    place.stop();
}

#[test]
fn an_interruption_changes_nothing() {
    let place = Place::new("18");
    place.postgres(&tiny()).unwrap();
    let before = place.query("SELECT sum(pageviews) FROM traffic");

    // Set by the first day's rows, so that the interruption comes in the middle of the COPY.
    let interrupted = Arc::new(AtomicBool::new(false));
    let progress = ProgressBar::hidden();
    let (watched, seen) = (progress.clone(), interrupted.clone());
    let watcher = std::thread::spawn(move || {
        while watched.position() == 0 {
            std::thread::yield_now();
        }
        seen.store(true, Ordering::Relaxed);
    });
    let target = DatabaseUrl::Postgres(place.url());
    let large = DatasetOptions { seed: 2, replace: true, ..DatasetOptions::scaled(0.2) };
    let outcome = generate(&target, &large, place.runtime.handle(), &progress, &interrupted);
    watcher.join().unwrap();
    assert!(matches!(outcome, Err(Error::Interrupted)), "{outcome:?}");
    assert_eq!(place.query("SELECT sum(pageviews) FROM traffic"), before);
    place.stop();
}

/// COPY FREEZE, keys after the rows and the check of the schema, on the oldest release.
#[test]
fn the_oldest_release_takes_the_dataset_too() {
    let place = Place::new("9.6");
    let summary = place.postgres(&tiny()).unwrap();
    let rows = place.query("SELECT count(*) FROM traffic");
    assert_eq!(rows, [[Some(summary.rows.to_string())]]);
    place.stop();
}
