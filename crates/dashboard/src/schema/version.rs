//! The version of the schema that a database has, read first of all.

use rusqlite::{Connection, OptionalExtension as _};
use tokio_postgres::GenericClient;

use super::{Error, VERSION};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaVersion {
    /// It has no table `schema_version`.
    Absent,
    /// The table has no row.
    Unknown,
    /// A version of the dashboard's schema.
    Known(i32),
}

impl SchemaVersion {
    /// Whether a database of this version can be used without an upgrade.
    pub(super) fn require_this_version(self) -> Result<(), Error> {
        match self {
            Self::Known(found) if found < VERSION => Err(Error::Older { found }),
            Self::Known(found) if found > VERSION => Err(Error::Newer { found }),
            Self::Unknown => Err(Error::NoVersion),
            Self::Known(_) | Self::Absent => Ok(()),
        }
    }
}

/// The highest, should there be several rows.
const SELECT: &str = "SELECT max(version) FROM schema_version";

/// The version of a SQLite database.
pub fn of_sqlite(connection: &Connection) -> Result<SchemaVersion, Error> {
    let find = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'";
    if connection.query_row(find, [], |_| Ok(())).optional()?.is_none() {
        return Ok(SchemaVersion::Absent);
    }
    let found: Option<i32> = connection.query_row(SELECT, [], |row| row.get(0))?;
    Ok(found.map_or(SchemaVersion::Unknown, SchemaVersion::Known))
}

/// The version of a PostgreSQL database.
pub async fn of_postgres(client: &impl GenericClient) -> Result<SchemaVersion, Error> {
    let find = "SELECT to_regclass('schema_version') IS NOT NULL";
    let is_there: bool = client.query_one(find, &[]).await?.get(0);
    if !is_there {
        return Ok(SchemaVersion::Absent);
    }
    let found: Option<i32> = client.query_one(SELECT, &[]).await?.get(0);
    Ok(found.map_or(SchemaVersion::Unknown, SchemaVersion::Known))
}
