//! What the tests share: real servers in a place of their own, small tables, short loads.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use connect::postgres::thin::{ThinConnection, ThinRow, WaitLimits};
use indicatif::ProgressBar;
use oltp::{ClientTotals, Error, Latencies, OltpLoad, OltpLoadOptions, OltpTarget, Until};
use plan::oltp::{Mix, TableOptions};
use server::{Locations, MariadbPrograms, MariadbServer, PostgresServer, StartOptions};

pub static NEVER: AtomicBool = AtomicBool::new(false);

/// A folder that goes away with the test, and in which servers have their data.
pub struct Place {
    pub locations: Locations,
    pub folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // As root the servers' account has to pass through.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
        let data = folder.path().to_owned();
        Self { locations: Locations { data, ..Locations::detect().unwrap() }, folder }
    }

    pub fn sqlite(&self) -> OltpTarget {
        OltpTarget::Sqlite {
            path: self.folder.path().join("oltp.db"),
            pragmas: Vec::new(),
            library: None,
        }
    }

    pub fn postgres(&self, settings: &[(&str, &str)]) -> Postgres {
        self.release("18", settings)
    }

    pub fn release(&self, version: &str, settings: &[(&str, &str)]) -> Postgres {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let mut options = StartOptions::new(version).unwrap().temporary();
        let own = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        options.settings = own.collect();
        options.tcp = version == "18";
        let progress = ProgressBar::hidden();
        let start = PostgresServer::start(&self.locations, options, &progress, &NEVER);
        let server = runtime.block_on(start).unwrap();
        Postgres { runtime, server: Some(server) }
    }

    /// None, and a word about it, where MariaDB is not installed.
    pub fn mariadb(&self) -> Option<MariadbServer> {
        match MariadbPrograms::find(None) {
            Ok(programs) => {
                Some(MariadbServer::start(&self.locations, &programs, &[], &NEVER).unwrap())
            }
            Err(error) => {
                testing::skip(&error.to_string());
                None
            }
        }
    }
}

/// A PostgreSQL that ends with the test.
pub struct Postgres {
    runtime: tokio::runtime::Runtime,
    pub server: Option<PostgresServer>,
}

impl Postgres {
    pub fn target(&self) -> OltpTarget {
        self.with_session(&[])
    }

    pub fn with_session(&self, session: &[(&str, &str)]) -> OltpTarget {
        let url = self.server.as_ref().unwrap().url("crossover");
        let own = session.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        OltpTarget::Postgres { url, session: own.collect(), behind_pool: None }
    }

    /// Rows of one statement, their values as text with `|` between them.
    pub fn rows(&self, sql: &str) -> Vec<String> {
        self.rows_in("crossover", sql)
    }

    pub fn rows_in(&self, database: &str, sql: &str) -> Vec<String> {
        let mut rows = Vec::new();
        let row = |row: ThinRow<'_>| {
            let values =
                row.values().map(|value| String::from_utf8_lossy(value.unwrap_or_default()));
            rows.push(values.collect::<Vec<_>>().join("|"));
        };
        self.session(database).query(sql, row).unwrap();
        rows
    }

    pub fn session(&self, database: &str) -> ThinConnection<'static> {
        let url = self.server.as_ref().unwrap().url(database);
        let limits = WaitLimits { timeout: Duration::from_secs(60), interrupted: &NEVER };
        ThinConnection::connect(&url, &[], limits).unwrap()
    }

    /// Waits for the end of the clients' sessions that `condition` is true of: the server hears of
    /// closed sockets in its own time.
    pub fn wait_until_gone(&self, condition: &str) {
        let others = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' \
             AND pid <> pg_backend_pid() AND {condition}"
        );
        while self.rows_in("postgres", &others) != ["0"] {}
    }

    /// Waits until `observer` has the only session.
    pub fn wait_until_alone(observer: &mut ThinConnection<'_>) {
        let others =
            "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'";
        let mut are_gone = false;
        while !are_gone {
            observer.query(others, |row| are_gone = row.values().eq([Some(&b"0"[..])])).unwrap();
        }
    }

    pub fn stop(&mut self) {
        let server = self.server.take().unwrap();
        self.runtime.block_on(server.stop()).unwrap();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.stop();
        }
    }
}

pub fn tables(mix: Mix, table_size: u32) -> TableOptions {
    TableOptions { schema: mix.schema(), table_size, ..TableOptions::default() }
}

/// `count` transactions of each client, without warm-up.
pub fn passes(mix: Mix, clients: u16, count: u64) -> OltpLoadOptions {
    OltpLoadOptions {
        until: Until::Transactions(count),
        warmup: Duration::ZERO,
        ..OltpLoadOptions::new(mix, clients, Duration::from_secs(1))
    }
}

pub fn fill(target: &OltpTarget, tables: &TableOptions) {
    oltp::fill(target, tables, &|_, _| {}, &NEVER).unwrap();
}

pub type Histograms = OltpLoad<<Latencies as oltp::Sink>::Kept>;

pub fn try_run(
    target: &OltpTarget,
    tables: &TableOptions,
    options: &OltpLoadOptions,
) -> Result<Histograms, Error> {
    oltp::run(target, tables, options, &Latencies::new, &NEVER)
}

pub fn run(target: &OltpTarget, tables: &TableOptions, options: &OltpLoadOptions) -> Histograms {
    try_run(target, tables, options).unwrap()
}

pub fn sum<K>(load: &OltpLoad<K>, what: impl Fn(&ClientTotals) -> u64) -> u64 {
    load.clients.iter().map(what).sum()
}

/// A load on rows that somebody else holds for good ends all the same: what waits is cancelled,
/// and counted as that alone.
pub fn ends_though_rows_are_held(
    target: &OltpTarget,
    tables: &TableOptions,
    options: OltpLoadOptions,
) {
    let until = Until::Time(Duration::from_secs(2));
    let load = run(target, tables, &OltpLoadOptions { until, grace: Duration::ZERO, ..options });
    assert_eq!((load.first_failure, load.transactions_per_second), (None, 0.0));
    for client in &load.clients {
        assert_eq!((client.cut_off, client.transactions, client.statements), (1, 0, 0));
        assert!(client.failures.is_empty() && client.ended_by.is_none(), "{client:?}");
    }
}

pub fn rows_added<K>(load: &OltpLoad<K>) -> i64 {
    load.clients.iter().map(|client| client.rows_added).sum()
}

/// Every mix, on tables filled for it: all transactions succeed, statements are counted, and
/// afterwards the tables are what they must be.
pub fn every_mix(target: &OltpTarget) {
    for mix in Mix::ALL.iter().copied() {
        let tables = tables(mix, 2_000);
        fill(target, &tables);
        oltp::invariants(target, &tables, &[], 0, &NEVER).unwrap();
        let load = run(target, &tables, &passes(mix, 3, 20));
        let transactions = sum(&load, |client| client.transactions);
        assert_eq!((transactions, load.first_failure.clone()), (60, None), "{mix}");
        let statements = sum(&load, |client| client.statements);
        let retried = sum(&load, |client| {
            let retries = &client.retries;
            retries.deadlocks + retries.duplicate_keys + retries.lock_timeouts
        });
        let expected = 60 * mix.statements();
        match retried {
            0 => assert_eq!(statements, expected, "{mix}"),
            _ => assert!(statements > expected, "{mix}: {statements}"),
        }
        let reads_rows = load.statements.iter().filter(|(statement, _)| {
            !matches!(statement, plan::oltp::MixStatement::Begin | plan::oltp::MixStatement::Commit)
        });
        for (statement, totals) in reads_rows {
            assert!(totals.rows > 0, "{mix}: {statement:?} has touched no row");
        }
        let observed: u64 = load.kept.iter().flatten().map(|histogram| histogram.len()).sum();
        assert_eq!(observed, 60, "{mix}");
        assert_eq!(load.per_second.iter().sum::<u64>(), 60, "{mix}");
        oltp::invariants(target, &tables, &[mix], rows_added(&load), &NEVER).unwrap();
    }
}
