//! The tables of people and of the ends of keys. They are made when the first of their rows is
//! written, so a dashboard whose askers are only programs has none of them, and a database of an
//! earlier release needs no upgrade for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::DatabaseUrl;

use crate::schema::Dialect;
use crate::side::{Change, Record, SideDatabase, Value};
use crate::store::Error;

/// The names of the tables.
pub(crate) const TABLES: [&str; 3] = ["accounts", "sessions", "key_expiries"];

/// What makes them, in the same order. Both engines take it as it stands. Times are seconds since
/// 1970-01-01; of a token only the SHA-256 is kept, of a password only what argon2 makes of it.
pub(crate) const CREATE: [&str; 3] = [
    "CREATE TABLE IF NOT EXISTS accounts (
        id integer NOT NULL PRIMARY KEY,
        name varchar(64) NOT NULL UNIQUE,
        password_hash varchar(255) NOT NULL,
        created_at bigint NOT NULL)",
    "CREATE TABLE IF NOT EXISTS sessions (
        token_hash varchar(64) NOT NULL PRIMARY KEY,
        account_id integer NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        created_at bigint NOT NULL,
        expires_at bigint NOT NULL)",
    "CREATE TABLE IF NOT EXISTS key_expiries (
        key_id integer NOT NULL PRIMARY KEY REFERENCES api_keys (id),
        expires_at bigint NOT NULL)",
];

/// A database, open for what concerns its askers. Clones share the connections.
#[derive(Debug, Clone)]
pub(crate) struct AccessTables {
    side: SideDatabase,
    /// Whether the tables have been seen: they never go again.
    is_made: Arc<AtomicBool>,
}

impl AccessTables {
    /// Opens the database and checks that it is a dashboard's.
    pub(crate) async fn open(database: &DatabaseUrl) -> Result<Self, Error> {
        Ok(Self { side: SideDatabase::open(database).await?, is_made: Arc::default() })
    }

    /// Whether the tables are there.
    pub(crate) async fn is_made(&self) -> Result<bool, Error> {
        if self.is_made.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let find = match self.side.dialect() {
            Dialect::Sqlite => "SELECT count(*) FROM sqlite_schema WHERE name = $1",
            Dialect::Postgres => "SELECT count(to_regclass($1::text))",
        };
        let found = self.side.rows(find, vec![TABLES[0].into()]).await?;
        let is_made = found.iter().flatten().any(|count| *count == Value::Number(1));
        self.is_made.store(is_made, Ordering::Relaxed);
        Ok(is_made)
    }

    /// The rows that a statement gives.
    pub(crate) async fn rows(
        &self,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<Record>, Error> {
        self.side.rows(sql, values).await
    }

    /// Makes the tables if need be, and the changes, all or nothing. How many rows each changed.
    pub(crate) async fn change(&self, changes: Vec<Change>) -> Result<Vec<u64>, Error> {
        let tables = CREATE.into_iter().map(|create| (create, Vec::new()));
        let all = tables.chain(changes).collect();
        let counts = self.side.change(all).await?;
        self.is_made.store(true, Ordering::Relaxed);
        Ok(counts.into_iter().skip(CREATE.len()).collect())
    }

    /// The database without the care for the tables: for changes that need none of them.
    pub(crate) fn side(&self) -> &SideDatabase {
        &self.side
    }

    /// A text that is another one whenever the data may be.
    pub(crate) async fn data_version(&self) -> Result<String, Error> {
        self.side.data_version().await
    }
}
