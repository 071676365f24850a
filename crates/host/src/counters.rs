//! Facts of a deployment's database: its size and statistics once, its counters while an
//! application uses it.

use std::path::{Path, PathBuf};

use engine::{DatabaseUrl, PostgresUrl};
use server::PostgresServer;

use crate::database::Database;
use crate::observe;
use record::Counters;

impl Database {
    /// PostgreSQL's own counters; none of SQLite, which only connections count for.
    pub fn counters(&mut self, runtime: &tokio::runtime::Handle) -> Counters {
        match self.url.clone() {
            DatabaseUrl::Postgres(url) => self.counters_of(&url, runtime),
            DatabaseUrl::Sqlite(_) => Counters::new(),
        }
    }

    /// Those of another database of the same server, which `url` leads to.
    pub fn counters_of(&mut self, url: &PostgresUrl, runtime: &tokio::runtime::Handle) -> Counters {
        let read = async {
            let client = engine::postgres::connect(url).await.ok()?;
            observe::counters_postgres(&client).await.ok()
        };
        let mut counters = runtime.block_on(read).unwrap_or_default();
        let temporary = self.temporary_files.as_mut().and_then(|files| files.bytes().ok());
        if let Some(bytes) = temporary {
            counters.insert("postgres_temporary_bytes".to_owned(), bytes as f64);
        }
        counters
    }

    /// Notes size and statistics. Facts that cannot be read stay unknown; the next use of the
    /// database will report why.
    pub(super) fn note_facts(&mut self, runtime: &tokio::runtime::Handle) {
        let facts = match &self.url {
            DatabaseUrl::Sqlite(path) => sqlite_facts(path),
            DatabaseUrl::Postgres(url) => runtime.block_on(postgres_facts(url)),
        };
        if let Some((bytes, statistics)) = facts {
            self.record.data_bytes = Some(bytes);
            self.record.statistics_present = statistics;
        }
    }

    /// Where a server that we started writes its log.
    pub fn server_log(&self) -> Option<PathBuf> {
        self.server.as_ref().map(PostgresServer::log_path)
    }
}

/// Bytes of the file with its write-ahead log, and whether ANALYZE has left anything.
fn sqlite_facts(path: &Path) -> Option<(u64, Option<bool>)> {
    let log = std::fs::metadata(format!("{}-wal", path.display())).map_or(0, |log| log.len());
    let bytes = std::fs::metadata(path).ok()?.len() + log;
    let connection = engine::sqlite::open_read_only(path).ok()?;
    let exists = |sql| connection.query_row(sql, [], |row| row.get::<_, bool>(0)).ok();
    let table = exists("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1')")?;
    let filled = table && exists("SELECT EXISTS (SELECT 1 FROM sqlite_stat1)")?;
    Some((bytes, Some(filled)))
}

/// Bytes of the database, and whether ANALYZE has left anything, if there are tables.
async fn postgres_facts(url: &PostgresUrl) -> Option<(u64, Option<bool>)> {
    let sql = "SELECT pg_database_size(current_database()),
                      EXISTS (SELECT FROM pg_stat_user_tables),
                      EXISTS (SELECT FROM pg_stats
                               WHERE schemaname NOT IN ('pg_catalog', 'information_schema'))";
    let client = engine::postgres::connect(url).await.ok()?;
    let row = client.query_one(sql, &[]).await.ok()?;
    let bytes = u64::try_from(row.get::<_, i64>(0)).ok()?;
    let (tables, statistics): (bool, bool) = (row.get(1), row.get(2));
    Some((bytes, tables.then_some(statistics)))
}
