//! SQLite file, read-only, over several connections on one snapshot: a concurrent writer changes
//! nothing of what they see.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use connect::sqlite::file::{self, beside};
use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode, Row};

use super::schema::SourceTable;
use crate::{Error, Task};

/// Attempts to take a common snapshot while another program writes.
const SNAPSHOT_ATTEMPTS: usize = 200;
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Rows read before progress and interruption are looked at.
const ROWS_BETWEEN_LOOKS: u64 = 4096;

/// A SQLite file with open connections that all see the same state of it.
pub struct SourceFile {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    connections: usize,
    /// A connection outside the snapshot, with the data version at the time of the snapshot.
    watcher: Mutex<(Connection, i64)>,
    fingerprint: String,
}

impl SourceFile {
    /// Opens `connections` readers on one snapshot. Under a permanently busy writer only one reader
    /// is left, which is always consistent.
    pub fn open(path: &Path, connections: usize) -> Result<Self, Error> {
        let explain = |error| sqlite_error(path, error);
        let mut readers = Vec::new();
        for _ in 0..connections.max(1) {
            readers.push(open(path)?);
        }
        let watcher = open(path)?;
        let mut attempts = 0;
        loop {
            let is_last = attempts == SNAPSHOT_ATTEMPTS;
            if is_last {
                readers.truncate(1);
            }
            let fingerprint = fingerprint(path);
            let before = data_version(&watcher).map_err(explain)?;
            for reader in &readers {
                begin(reader).map_err(explain)?;
            }
            // The version a connection sees changes exactly if another one committed in between.
            if is_last || data_version(&watcher).map_err(explain)? == before {
                return Ok(Self {
                    path: path.to_owned(),
                    connections: readers.len(),
                    idle: Mutex::new(readers),
                    watcher: Mutex::new((watcher, before)),
                    fingerprint,
                });
            }
            for reader in &readers {
                reader.execute_batch("ROLLBACK").map_err(explain)?;
            }
            attempts += 1;
        }
    }

    /// Sizes and times of the file and its WAL when the snapshot was taken. Another fingerprint may
    /// mean other rows.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// `true` if another program has committed since the snapshot was taken.
    pub fn has_changed(&self) -> Result<bool, Error> {
        let watcher = self.watcher.lock();
        let now = data_version(&watcher.0).map_err(|error| self.explain(error))?;
        Ok(now != watcher.1)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn connections(&self) -> usize {
        self.connections
    }

    /// Lends a connection to `work`.
    pub fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let taken = self.idle.lock().pop();
        let connection = taken.ok_or(Error::Busy)?;
        let result = work(&connection);
        self.idle.lock().push(connection);
        result
    }

    /// Refuses a file whose pages contradict each other: rows may be missing without an error. Faults of
    /// values are found elsewhere.
    pub fn check_pages(&self) -> Result<(), Error> {
        const OF_PAGES: [&str; 5] = ["Page ", "Tree ", "Freelist", "Fragmentation", "out of order"];
        self.with(|connection| {
            // A virtual table whose module is missing here (SQLITE_ERROR) ends it, after all pages.
            let ended = |error: rusqlite::Error| match error.sqlite_error_code() {
                Some(ErrorCode::Unknown) => Ok(()),
                _ => Err(self.explain(error)),
            };
            let mut statement = match connection.prepare("PRAGMA main.quick_check") {
                Ok(statement) => statement,
                Err(error) => return ended(error),
            };
            let mut rows = statement.query([]).map_err(|error| self.explain(error))?;
            loop {
                let row = match rows.next() {
                    Ok(Some(row)) => row,
                    Ok(None) => return Ok(()),
                    Err(error) => return ended(error),
                };
                let said: String = row.get(0).map_err(|error| self.explain(error))?;
                let mut lines = said.lines();
                if let Some(reason) =
                    lines.find(|line| OF_PAGES.iter().any(|word| line.contains(word)))
                {
                    let reason = reason.to_owned();
                    return Err(Error::Damaged { path: self.path.clone(), reason });
                }
            }
        })
    }

    /// Reads every row of `table` (between two rowids, if given) once and passes it to `each`:
    /// field 0 is the rowid (or NULL), then `columns`. Progress counts rows.
    pub fn each_row(
        &self,
        connection: &Connection,
        table: &SourceTable,
        columns: &[usize],
        rowids: Option<(i64, i64)>,
        task: Task<'_>,
        each: impl FnMut(&Row<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        self.each_row_of(connection, &table.select(columns, rowids), task, each)
    }

    /// The same for a statement of its own.
    pub fn each_row_of(
        &self,
        connection: &Connection,
        sql: &str,
        task: Task<'_>,
        mut each: impl FnMut(&Row<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let explain = |error| sqlite_error(&self.path, error);
        let mut statement = connection.prepare(sql).map_err(explain)?;
        let mut rows = statement.query([]).map_err(explain)?;
        let mut count = 0_u64;
        while let Some(row) = rows.next().map_err(explain)? {
            each(row)?;
            count += 1;
            if count.is_multiple_of(ROWS_BETWEEN_LOOKS) {
                task.advance(ROWS_BETWEEN_LOOKS)?;
            }
        }
        task.advance(count % ROWS_BETWEEN_LOOKS)?;
        Ok(count)
    }

    /// Explains an error of SQLite with the file and the remedy.
    pub fn explain(&self, error: rusqlite::Error) -> Error {
        sqlite_error(&self.path, error)
    }
}

fn open(path: &Path) -> Result<Connection, Error> {
    let connection = match connect::sqlite::open_read_only(path) {
        Ok(connection) => connection,
        Err(error @ connect::Error::CannotOpen { .. }) => {
            // Only now: no connection to the file is open, so looking at it drops no lock.
            let known = hot_journal(path)
                .or_else(|| wal_on_read_only_medium(path))
                .or_else(|| truncated(path));
            return Err(known.unwrap_or(Error::Engine(error)));
        }
        Err(error) => return Err(error.into()),
    };
    // The bundled SQLite turns foreign keys on; a damaged or foreign schema is never trusted.
    connection
        .execute_batch(
            "PRAGMA foreign_keys = off; PRAGMA query_only = on; PRAGMA trusted_schema = off; \
             PRAGMA cell_size_check = on",
        )
        .and_then(|()| connection.busy_timeout(LOCK_WAIT))
        // An application may have collations of its own. Rows can be read without them.
        .and_then(|()| connection.collation_needed(compare_bytes))
        .map_err(|error| sqlite_error(path, error))?;
    Ok(connection)
}

/// A stand-in for a collation that only the file's application knows.
fn compare_bytes(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    connection.create_collation(name, |one: &str, other: &str| one.cmp(other))
}

fn begin(reader: &Connection) -> rusqlite::Result<()> {
    reader.execute_batch("BEGIN")?;
    // BEGIN alone is deferred: the first read fixes the snapshot.
    reader.query_row("SELECT count(*) FROM main.sqlite_schema", [], |_| Ok(()))
}

fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA main.data_version", [], |row| row.get(0))
}

fn fingerprint(path: &Path) -> String {
    let of = |path: &Path| {
        let data = path.metadata().ok().filter(|data| data.len() > 0)?;
        let since = data.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(format!("{} bytes of {}", data.len(), since.as_nanos()))
    };
    let parts = [path, &wal_path(path)].map(|path| of(path).unwrap_or_default());
    parts.join("; ")
}

/// The first 100 bytes (<https://sqlite.org/fileformat2.html>, section 1.3).
fn header(path: &Path) -> Option<[u8; 100]> {
    let mut header = [0; 100];
    file::open(path).ok()?.read_exact(&mut header).ok()?;
    Some(header)
}

fn wal_path(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// A rollback journal that a crash left has to be played back, which a reader may not.
fn hot_journal(path: &Path) -> Option<Error> {
    let mut head = [0; 8];
    File::open(beside(path, "-journal")).ok()?.read_exact(&mut head).ok()?;
    // The head of a journal (<https://sqlite.org/fileformat2.html>, section 3).
    let is_journal = head == [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    is_journal.then(|| Error::HotJournal { path: path.to_owned() })
}

/// A file that is shorter than its header says, which SQLite refuses as malformed. With a WAL
/// beside it, the file may lack pages rightly.
fn truncated(path: &Path) -> Option<Error> {
    let (header, file) = (header(path)?, path.metadata().ok()?);
    let number = |at: usize| {
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    let size_is_valid = number(24) == number(92);
    let expected = u64::from(number(28)) * page_bytes;
    let is_short = size_is_valid && file.len() < expected && !wal_path(path).exists();
    is_short.then(|| Error::Truncated {
        path: path.to_owned(),
        expected_bytes: expected,
        actual_bytes: file.len(),
    })
}

/// A file in WAL mode needs its `-shm` file; where none can be made, SQLite says only "unable to
/// open database file".
fn wal_on_read_only_medium(path: &Path) -> Option<Error> {
    let in_wal_mode = header(path).is_some_and(|header| header[18] == 2 || header[19] == 2);
    let hot = wal_path(path).metadata().is_ok_and(|wal| wal.len() > 0);
    in_wal_mode.then(|| Error::WalUnreadable { path: path.to_owned(), hot })
}

/// Explains an error of SQLite with the file and the remedy.
pub fn sqlite_error(path: &Path, error: rusqlite::Error) -> Error {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Locked { path },
        Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, reason: error.to_string() },
        Some(ErrorCode::NotADatabase) => {
            Error::Damaged { path, reason: "a page that is not one of SQLite's".to_owned() }
        }
        _ => Error::Sqlite { path, source: error },
    }
}

/// As many readers as the machine has cores; more than four gain nothing from one file.
pub fn readers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(4)
}
