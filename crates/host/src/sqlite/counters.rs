//! Facts of a SQLite file, and its checkpoints while load is on it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use connect::sqlite::file;
use record::Counters;

use crate::observe::Watch;

/// Bytes of the file with its write-ahead log, and whether ANALYZE has left anything.
pub(crate) fn facts(path: &Path) -> Option<(u64, Option<bool>)> {
    let log = std::fs::metadata(format!("{}-wal", path.display())).map_or(0, |log| log.len());
    let bytes = std::fs::metadata(path).ok()?.len() + log;
    let connection = connect::sqlite::open_read_only(path).ok()?;
    let exists = |sql| connection.query_row(sql, [], |row| row.get::<_, bool>(0)).ok();
    let table = exists("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1')")?;
    let filled = table && exists("SELECT EXISTS (SELECT 1 FROM sqlite_stat1)")?;
    Some((bytes, Some(filled)))
}

/// The write-ahead log of a database under load. Its header counts how often it was restarted,
/// which happens after a checkpoint that took all of it into the database.
pub struct SqliteWatch {
    log: PathBuf,
}

impl SqliteWatch {
    #[must_use]
    pub fn new(database: &Path) -> Self {
        Self { log: log_of(database) }
    }
}

impl Watch for SqliteWatch {
    fn counters(&mut self) -> Counters {
        let ended = restarts(&self.log).unwrap_or(0);
        Counters::from([("sqlite_checkpoints_ended".to_owned(), f64::from(ended))])
    }
}

/// The checkpoint sequence number: bytes 12 to 15 of the log's header, the first one first
/// (<https://www.sqlite.org/fileformat2.html#walformat>).
fn restarts(log: &Path) -> Option<u32> {
    let mut header = [0; 16];
    File::open(log).ok()?.read_exact(&mut header).ok()?;
    let number: [u8; 4] = header[12..16].try_into().ok()?;
    Some(u32::from_be_bytes(number))
}

fn log_of(path: &Path) -> PathBuf {
    file::beside(path, "-wal")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_tells_how_often_it_was_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
        let before = restarts(&log_of(&path)).unwrap();
        for _ in 0..2 {
            connection.query_row("PRAGMA wal_checkpoint(restart)", [], |_| Ok(())).unwrap();
            connection.execute_batch("INSERT INTO t VALUES (2)").unwrap();
        }
        assert_eq!(restarts(&log_of(&path)).unwrap() - before, 2);
    }
}
