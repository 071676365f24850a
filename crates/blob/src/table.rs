//! The table of blobs in a SQLite file: its shape, its values, and whether `init` made it.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _};

use crate::Error;

/// Refuses a database without the table of blobs.
pub(crate) fn require_table(connection: &Connection, path: &Path) -> Result<(), Error> {
    let sql = "SELECT count(*) FROM pragma_table_info('kv') WHERE (name = 'k' AND pk = 1 AND \
               upper(type) = 'INTEGER') OR name = 'v'";
    let columns: i64 =
        connection.query_row(sql, [], |row| row.get(0)).map_err(Error::sqlite(path))?;
    if columns == 2 { Ok(()) } else { Err(Error::NoTable { path: path.to_owned() }) }
}

/// Refuses to overwrite anything but what `init` made, ours or kvtest's: another program's table
/// may be called `kv` too.
pub(crate) fn require_blob_table(connection: &Connection, path: &Path) -> Result<(), Error> {
    require_table(connection, path)?;
    match stranger(connection).map_err(Error::sqlite(path))? {
        None => Ok(()),
        Some(problem) => Err(Error::NotOurTable { path: path.to_owned(), problem }),
    }
}

/// Sign that another program made table kv; `None` where our own mark is beside it.
fn stranger(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let marked = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'blob_recipe'";
    if connection.prepare(marked)?.exists([])? {
        return Ok(None);
    }
    // Generated columns too.
    let columns = "SELECT name FROM pragma_table_xinfo('kv') WHERE name NOT IN ('k', 'v')";
    let column = connection.query_row(columns, [], |row| row.get::<_, String>(0)).optional()?;
    if let Some(column) = column {
        return Ok(Some(format!("its table kv has a column {column}")));
    }
    let values = "SELECT k, typeof(v) FROM kv WHERE typeof(v) <> 'blob' LIMIT 1";
    let value = connection.query_row(values, [], |row| {
        Ok(format!("the value of key {} is {}", row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    });
    value.optional()
}

/// The bytes of a value; one that has none is named.
pub(crate) fn bytes_of<'a>(value: ValueRef<'a>, id: u64, path: &Path) -> Result<&'a [u8], Error> {
    match value {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => Ok(bytes),
        other => {
            let problem = format!("the value of key {id} is {}, not a blob", other.data_type());
            Err(Error::BadBlob { path: path.to_owned(), problem })
        }
    }
}
