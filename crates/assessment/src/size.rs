//! Sizes of the same rows on both engines, each with a statement of what is counted.

use std::path::Path;

use serde::Serialize;
use tokio_postgres::Client;

use crate::error::{Error, Result};

/// A SQLite file. The write-ahead log and journal are not counted: they come and go.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SqliteSize {
    /// All pages of the file.
    pub file_bytes: u64,
    /// Pages that hold nothing; VACUUM gives them back.
    pub free_bytes: u64,
    /// The file after VACUUM, where it was worth the time to find out.
    pub vacuumed_bytes: Option<u64>,
}

/// From this share of free pages on VACUUM is tried.
const WORTH_A_VACUUM: f64 = 0.05;

impl SqliteSize {
    /// Reads the size of a copy; `scratch` is a file that may be made for a moment.
    pub fn read(copy: &Path, scratch: &Path) -> Result<Self> {
        let connection = connect::sqlite::open_read_only(copy)?;
        let number = |sql: &str| -> Result<u64> {
            let number: i64 = connection.query_row(sql, [], |row| row.get(0))?;
            Ok(u64::try_from(number).unwrap_or(0))
        };
        let page = number("PRAGMA page_size")?;
        let file_bytes = number("PRAGMA page_count")? * page;
        let free_bytes = number("PRAGMA freelist_count")? * page;
        let worth = free_bytes as f64 > file_bytes as f64 * WORTH_A_VACUUM;
        let vacuumed_bytes = if worth {
            connection.execute("VACUUM INTO ?1", [scratch.to_string_lossy()])?;
            let bytes = scratch.metadata().map_err(Error::io("read", scratch))?.len();
            std::fs::remove_file(scratch).map_err(Error::io("remove", scratch))?;
            Some(bytes)
        } else {
            None
        };
        Ok(Self { file_bytes, free_bytes, vacuumed_bytes })
    }
}

/// Tables of a PostgreSQL database after VACUUM. The write-ahead log and the system's own tables
/// are not counted.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PostgresSize {
    /// Rows, with what is stored out of line.
    pub table_bytes: u64,
    pub index_bytes: u64,
}

impl PostgresSize {
    /// Reads the size of all tables outside of the system's schemas.
    pub async fn read(client: &Client) -> Result<Self> {
        let row = client
            .query_one(
                "SELECT coalesce(sum(pg_table_size(c.oid)), 0)::bigint, \
                 coalesce(sum(pg_indexes_size(c.oid)), 0)::bigint \
                 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                 WHERE c.relkind IN ('r', 'p', 'm') AND n.nspname !~ '^pg_' \
                 AND n.nspname <> 'information_schema'",
                &[],
            )
            .await?;
        let bytes = |place| u64::try_from(row.get::<_, i64>(place)).unwrap_or(0);
        Ok(Self { table_bytes: bytes(0), index_bytes: bytes(1) })
    }
}
