//! Statistics of a database of blobs: its content, and how SQLite has packed it.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Type;
use serde::Serialize;

use crate::Error;
use crate::table::require_table;

/// Counts and sizes of a database of blobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stat {
    pub count: u64,
    /// The smallest, bytes.
    pub blob_bytes_min: u64,
    /// The largest, bytes.
    pub blob_bytes_max: u64,
    /// Their mean, bytes.
    pub blob_bytes_mean: f64,
    /// Their sum, bytes.
    pub blob_bytes_sum: u64,
    pub largest_id: u64,
    pub page_bytes: u64,
    pub page_count: u64,
    pub freelist_count: u64,
    /// The pages of the table of blobs, by what they are for.
    pub pages: Vec<PageStat>,
    /// The length of the file, bytes.
    pub file_bytes: u64,
    /// The journal mode that the file has.
    pub journal_mode: String,
    /// Answer of `PRAGMA integrity_check`: `ok`, or the first faults.
    pub integrity: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageStat {
    /// `internal`, `leaf` or `overflow`.
    pub kind: String,
    pub pages: u64,
    /// Bytes of rows on them.
    pub payload_bytes: u64,
    /// Bytes of them that nothing uses.
    pub unused_bytes: u64,
}

/// Looks at every page of `database`.
pub fn stat(database: &Path) -> Result<Stat, Error> {
    let connection = connect::sqlite::open_read_only(database)?;
    require_table(&connection, database)?;
    read(&connection).map_err(Error::sqlite(database))
}

/// Packs `database` again, without holes.
pub fn vacuum(database: &Path) -> Result<(), Error> {
    let connection = connect::sqlite::open_existing(database)?;
    require_table(&connection, database)?;
    let done = connection.execute_batch("VACUUM").map_err(Error::sqlite(database));
    done.map_err(|error| match crate::space::parent_of(database) {
        // The new file and its journal are as large as the old one, at most.
        Ok(parent) => {
            let bytes = database.metadata().map_or(0, |data| data.len());
            crate::space::explain(error, parent, 2 * bytes)
        }
        Err(_) => error,
    })
}

fn read(connection: &Connection) -> rusqlite::Result<Stat> {
    let number = |name: &str| {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
            .map(i64::cast_unsigned)
    };
    let (page_bytes, page_count) = (number("page_size")?, number("page_count")?);
    let sizes = "SELECT count(*), coalesce(min(length(v)), 0), coalesce(max(length(v)), 0), \
                 coalesce(avg(length(v)), 0.0), coalesce(sum(length(v)), 0), coalesce(max(k), 0) \
                 FROM kv";
    let mut stat = connection.query_row(sizes, [], |row| {
        let whole = |place: usize| row.get::<_, i64>(place).map(i64::cast_unsigned);
        Ok(Stat {
            count: whole(0)?,
            blob_bytes_min: whole(1)?,
            blob_bytes_max: whole(2)?,
            blob_bytes_mean: row.get(3)?,
            blob_bytes_sum: whole(4)?,
            largest_id: whole(5)?,
            page_bytes,
            page_count,
            freelist_count: 0,
            pages: Vec::new(),
            file_bytes: page_bytes * page_count,
            journal_mode: String::new(),
            integrity: Vec::new(),
        })
    })?;
    stat.freelist_count = number("freelist_count")?;
    stat.journal_mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    stat.pages = pages(connection)?;
    stat.integrity = integrity(connection, 10)?;
    Ok(stat)
}

/// By the virtual table dbstat (<https://www.sqlite.org/dbstat.html>).
fn pages(connection: &Connection) -> rusqlite::Result<Vec<PageStat>> {
    let sql = "SELECT pagetype, count(*), sum(payload), sum(unused) FROM dbstat \
               WHERE name = 'kv' GROUP BY pagetype ORDER BY pagetype";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let whole = |place: usize| row.get::<_, i64>(place).map(i64::cast_unsigned);
        Ok(PageStat {
            kind: row.get(0)?,
            pages: whole(1)?,
            payload_bytes: whole(2)?,
            unused_bytes: whole(3)?,
        })
    })?;
    rows.collect()
}

/// Answer of `PRAGMA integrity_check`, at most `most` faults.
pub(crate) fn integrity(connection: &Connection, most: u32) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({most})"))?;
    let rows = statement.query_map([], |row| match row.get_ref(0)?.data_type() {
        Type::Text => row.get(0),
        other => Ok(other.to_string()),
    })?;
    rows.collect()
}
