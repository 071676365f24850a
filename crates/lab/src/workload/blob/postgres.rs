//! Blobs in PostgreSQL: a table like SQLite's, its column `bytea`, kept out of line and not
//! compressed, since random bytes cannot be. Values travel in binary form.

use connect::postgres::thin::{
    BoundParameter, PreparedStatement, ThinConnection, ThinError, WaitLimits,
};
use engine::PostgresUrl;

use super::session_error::SessionError;

/// Object ids of the parameters' types (pg_type.dat of PostgreSQL).
const BIGINT: u32 = 20;
const BYTEA: u32 = 17;

/// The table. EXTERNAL: PostgreSQL would try to compress each value first, without gain.
const TABLE: &str = "CREATE TABLE kv (k bigint PRIMARY KEY, v bytea NOT NULL); \
                     ALTER TABLE kv ALTER COLUMN v SET STORAGE EXTERNAL";

/// A session with prepared statements.
pub(super) struct PostgresBlobs<'a> {
    connection: ThinConnection<'a>,
    read: PreparedStatement,
    update: PreparedStatement,
    begin: PreparedStatement,
    commit: PreparedStatement,
}

impl<'a> PostgresBlobs<'a> {
    pub(super) fn connect(
        url: &PostgresUrl,
        read_only: bool,
        limits: WaitLimits<'a>,
    ) -> Result<Self, SessionError> {
        let settings: &[(&str, &str)] =
            if read_only { &[("default_transaction_read_only", "on")] } else { &[] };
        let mut connection =
            ThinConnection::connect(url, settings, limits).map_err(SessionError::of)?;
        let mut prepare =
            |sql: &str, types: &[u32]| connection.prepare(sql, types).map_err(|error| told(&error));
        let read = prepare("SELECT v FROM kv WHERE k = $1", &[BIGINT])?;
        let update = prepare("UPDATE kv SET v = $2 WHERE k = $1", &[BIGINT, BYTEA])?;
        let (begin, commit) = (prepare("BEGIN", &[])?, prepare("COMMIT", &[])?);
        Ok(Self { connection, read, update, begin, commit })
    }

    pub(super) fn read(
        &mut self,
        id: u64,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, SessionError> {
        let key = id.to_be_bytes();
        let rows = self
            .connection
            .execute_binary(&self.read, &[BoundParameter::Binary(&key)], |row| {
                if let Some(Some(bytes)) = row.values().next() {
                    visit(bytes);
                }
            })
            .map_err(|error| told(&error))?;
        Ok(rows == 1)
    }

    pub(super) fn update(&mut self, id: u64, bytes: &[u8]) -> Result<bool, SessionError> {
        let key = id.to_be_bytes();
        let parameters = [BoundParameter::Binary(&key), BoundParameter::Binary(bytes)];
        let changed = self
            .connection
            .execute_binary(&self.update, &parameters, |_| {})
            .map_err(|error| told(&error))?;
        Ok(changed == 1)
    }

    pub(super) fn begin(&mut self) -> Result<(), SessionError> {
        let done = self.connection.execute(&self.begin, &[], |_| {});
        done.map(drop).map_err(|error| told(&error))
    }

    pub(super) fn commit(&mut self) -> Result<(), SessionError> {
        let done = self.connection.execute(&self.commit, &[], |_| {});
        done.map(drop).map_err(|error| told(&error))
    }

    pub(super) fn checkpoint(&mut self) -> Result<(), SessionError> {
        self.connection.query("CHECKPOINT", |_| {}).map_err(|error| told(&error))
    }
}

/// Makes the table and fills it with `blobs`, in one transaction: a table that is there is whole.
pub(super) fn fill(
    url: &PostgresUrl,
    limits: WaitLimits<'_>,
    count: u64,
    mut blob: impl FnMut(u64, &mut Vec<u8>),
) -> Result<(), SessionError> {
    let mut connection = ThinConnection::connect(url, &[], limits).map_err(SessionError::of)?;
    let failed = |error: ThinError| told(&error);
    connection.query("BEGIN", |_| {}).map_err(failed)?;
    connection.query(TABLE, |_| {}).map_err(failed)?;
    let insert = connection
        .prepare("INSERT INTO kv (k, v) VALUES ($1, $2)", &[BIGINT, BYTEA])
        .map_err(failed)?;
    let mut bytes = Vec::new();
    for id in 1..=count {
        blob(id, &mut bytes);
        let key = id.to_be_bytes();
        let parameters = [BoundParameter::Binary(&key), BoundParameter::Binary(&bytes)];
        connection.execute(&insert, &parameters, |_| {}).map_err(failed)?;
    }
    connection.query("COMMIT", |_| {}).map_err(failed)?;
    // ANALYZE, and hint bits set by the VACUUM, so that the first readers do not write.
    connection.query("VACUUM ANALYZE kv", |_| {}).map_err(failed)?;
    connection.query("CHECKPOINT", |_| {}).map_err(failed)
}

/// Whether the table is there, and so filled.
pub(super) fn is_filled(url: &PostgresUrl, limits: WaitLimits<'_>) -> Result<bool, SessionError> {
    let mut connection = ThinConnection::connect(url, &[], limits).map_err(SessionError::of)?;
    let mut filled = false;
    connection
        .query("SELECT 1 FROM pg_class WHERE relname = 'kv' AND relkind = 'r'", |_| filled = true)
        .map_err(|error| told(&error))?;
    Ok(filled)
}

/// Bytes of the table with its index and what is kept out of line, and the folder of the database
/// below the data directory.
pub(super) fn facts(
    url: &PostgresUrl,
    limits: WaitLimits<'_>,
) -> Result<(u64, String), SessionError> {
    let mut connection = ThinConnection::connect(url, &[], limits).map_err(SessionError::of)?;
    let mut facts = (0, String::new());
    connection
        .query(
            "SELECT pg_total_relation_size('kv'), oid FROM pg_database \
              WHERE datname = current_database()",
            |row| {
                let mut values = row
                    .values()
                    .map(|value| String::from_utf8_lossy(value.unwrap_or_default()).into_owned());
                let bytes = values.next().and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
                facts = (bytes, format!("base/{}", values.next().unwrap_or_default()));
            },
        )
        .map_err(|error| told(&error))?;
    Ok(facts)
}

fn told(error: &ThinError) -> SessionError {
    SessionError(error.to_string())
}
