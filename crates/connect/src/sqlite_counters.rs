//! Counters of a SQLite connection: page cache, temporary files, full scans. They say what the
//! time of a statement went to.

use rusqlite::{Connection, Statement, StatementStatus, ffi};

use crate::Error;

/// Counters of one connection or several, by <https://www.sqlite.org/c3ref/c_dbstatus_options.html>
/// and <https://www.sqlite.org/c3ref/c_stmtstatus_counter.html>.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SqliteCounters {
    /// Pages found in the connection's own cache (`cache_size`).
    pub cache_hits: u64,
    /// Pages read from the file or the operating system's cache instead.
    pub cache_misses: u64,
    /// Dirty pages written in the middle of a transaction because the cache was full.
    pub cache_spills: u64,
    /// Bytes of sorters and intermediate tables that went to temporary files.
    pub temporary_bytes: u64,
    /// Steps forward in a scan of a whole table.
    pub full_scan_steps: u64,
    /// Sorts that no index saved.
    pub sorts: u64,
}

impl SqliteCounters {
    /// The connection's counts since the last call; resets them.
    pub fn take(connection: &Connection) -> Result<Self, Error> {
        let take = |option| take_status(connection, option);
        Ok(Self {
            cache_hits: take(ffi::SQLITE_DBSTATUS_CACHE_HIT)?,
            cache_misses: take(ffi::SQLITE_DBSTATUS_CACHE_MISS)?,
            cache_spills: take(ffi::SQLITE_DBSTATUS_CACHE_SPILL)?,
            temporary_bytes: take(ffi::SQLITE_DBSTATUS_TEMPBUF_SPILL)?,
            full_scan_steps: 0,
            sorts: 0,
        })
    }

    /// Adds an executed statement's counts since the last call; resets them.
    pub fn add_statement(&mut self, statement: &Statement<'_>) {
        let take = |status| u64::try_from(statement.reset_status(status)).unwrap_or_default();
        self.full_scan_steps += take(StatementStatus::FullscanStep);
        self.sorts += take(StatementStatus::Sort);
    }

    /// Adds those of another connection, or of a later time.
    pub fn add(&mut self, other: &Self) {
        self.cache_hits += other.cache_hits;
        self.cache_misses += other.cache_misses;
        self.cache_spills += other.cache_spills;
        self.temporary_bytes += other.temporary_bytes;
        self.full_scan_steps += other.full_scan_steps;
        self.sorts += other.sorts;
    }

    /// Each with the name that trials and metrics give it, unit last, and what it counts.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &'static str, u64); 6] {
        [
            ("sqlite_cache_hits", "Pages found in SQLite's page caches", self.cache_hits),
            (
                "sqlite_cache_misses",
                "Pages that SQLite asked the operating system for",
                self.cache_misses,
            ),
            (
                "sqlite_cache_spills",
                "Dirty pages written before their transaction's end",
                self.cache_spills,
            ),
            (
                "sqlite_temporary_bytes",
                "Bytes of sorts and intermediate tables in temporary files",
                self.temporary_bytes,
            ),
            ("sqlite_full_scan_steps", "Steps forward in full table scans", self.full_scan_steps),
            ("sqlite_sorts", "Sorts that no index saved", self.sorts),
        ]
    }
}

#[expect(unsafe_code, reason = "rusqlite has no safe call for sqlite3_db_status64")]
fn take_status(connection: &Connection, option: i32) -> Result<u64, Error> {
    let (mut current, mut highest) = (0i64, 0i64);
    // SAFETY: the connection stays open while it is borrowed, both results live on this stack,
    // and SQLite refuses an option that it does not know.
    let code = unsafe {
        ffi::sqlite3_db_status64(connection.handle(), option, &mut current, &mut highest, 1)
    };
    match code {
        ffi::SQLITE_OK => Ok(u64::try_from(current).unwrap_or_default()),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()),
    }
}
