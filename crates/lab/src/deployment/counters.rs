//! What a database of a deployment can tell of itself while an application uses it.

use std::path::PathBuf;

use engine::DatabaseUrl;
use server::PostgresServer;

use super::Database;
use crate::observe;
use crate::workload::Counters;

impl Database {
    /// PostgreSQL's own counters; none of SQLite, which only connections count for.
    pub(crate) fn counters(&self, runtime: &tokio::runtime::Handle) -> Counters {
        let DatabaseUrl::Postgres(url) = &self.url else { return Counters::new() };
        let read = async {
            let client = engine::postgres::connect(url).await.ok()?;
            observe::counters_postgres(&client).await.ok()
        };
        runtime.block_on(read).unwrap_or_default()
    }

    /// Where a server that we started writes its log.
    pub(crate) fn server_log(&self) -> Option<PathBuf> {
        self.server.as_ref().map(PostgresServer::log_path)
    }
}
