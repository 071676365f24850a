//! Write-back of data that a writing trial leaves unwritten when its clock stops: a checkpoint
//! brings it to its place, and the time that takes belongs to the trial.

use std::time::{Duration, Instant};

use engine::DatabaseUrl;

use crate::database::Database;
use crate::error::DeployError;

/// Another program that reads is waited for so long.
const BUSY_TIMEOUT_MS: &str = "10000";

impl Database {
    /// Makes a checkpoint, and says how long it took; none on a server of the user's where we may
    /// not.
    pub fn checkpoint(
        &self,
        runtime: &tokio::runtime::Handle,
    ) -> Result<Option<Duration>, DeployError> {
        match &self.url {
            DatabaseUrl::Sqlite(path) => {
                let connection = engine::sqlite::open_existing(path)?;
                engine::sqlite::pragmas(&connection, [("busy_timeout", BUSY_TIMEOUT_MS)])?;
                let begun = Instant::now();
                // Without a write-ahead log there is nothing to do, and SQLite does nothing.
                connection
                    .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                    .map_err(|source| DeployError::Sqlite { path: path.clone(), source })?;
                Ok(Some(begun.elapsed()))
            }
            DatabaseUrl::Postgres(url) => runtime.block_on(async {
                let client = engine::postgres::connect(url).await?;
                let begun = Instant::now();
                match client.batch_execute("CHECKPOINT").await {
                    Ok(()) => Ok(Some(begun.elapsed())),
                    Err(_) if self.out_of_sight => Ok(None),
                    Err(error) => Err(engine::Error::from(error).into()),
                }
            }),
        }
    }
}
