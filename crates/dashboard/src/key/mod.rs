//! API keys: random, shown once, stored only as a hash, revoked by name.

mod hash;
mod table;
#[cfg(test)]
mod tests;

use engine::DatabaseUrl;
use serde::Serialize;

pub use hash::{Key, KeyHash};

use crate::schema;
use table::KeyTable;

/// A key as it is listed: never the key itself, nor its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedKey {
    /// Its name.
    pub name: String,
    /// Seconds since 1970-01-01.
    pub created_at: i32,
    /// Seconds since 1970-01-01; absent while the key is valid.
    pub revoked_at: Option<i32>,
}

/// The longest name of a key, as the schema has it.
const LONGEST_NAME_CHARACTERS: usize = 64;

/// Makes a new key, stores its hash under `name` and gives the key: the only time it is seen.
///
/// # Errors
/// [`Error::BadName`], [`Error::NameTaken`], or what the database says.
pub async fn add(database: &DatabaseUrl, name: &str) -> Result<Key, Error> {
    let is_long = name.chars().count() > LONGEST_NAME_CHARACTERS;
    if name.trim() != name || name.is_empty() || is_long || name.contains(char::is_control) {
        return Err(Error::BadName { name: name.to_owned() });
    }
    let mut table = KeyTable::open(database).await?;
    if table.list().await?.iter().any(|listed| listed.name == name) {
        return Err(Error::NameTaken { name: name.to_owned() });
    }
    let key = Key::generate()?;
    table.add(name, &key.hash(), now()).await?;
    Ok(key)
}

/// All keys, revoked ones too, in the order in which they were made.
///
/// # Errors
/// What the database says.
pub async fn list(database: &DatabaseUrl) -> Result<Vec<ListedKey>, Error> {
    KeyTable::open(database).await?.list().await
}

/// Revokes a key; a running server refuses it from its next request on.
///
/// # Errors
/// [`Error::NoSuchKey`], [`Error::RevokedBefore`], or what the database says.
pub async fn revoke(database: &DatabaseUrl, name: &str) -> Result<(), Error> {
    let mut table = KeyTable::open(database).await?;
    let keys = table.list().await?;
    match keys.iter().find(|listed| listed.name == name) {
        None => {
            let suggestion = engine::nearest(name, keys.iter().map(|listed| listed.name.as_str()));
            Err(Error::NoSuchKey { name: name.to_owned(), suggestion })
        }
        Some(listed) if listed.revoked_at.is_some() => {
            Err(Error::RevokedBefore { name: name.to_owned() })
        }
        Some(_) => table.revoke(name, now()).await,
    }
}

/// Seconds since 1970-01-01; the column ends in 2038, and so do the times in it.
fn now() -> i32 {
    i32::try_from(jiff::Timestamp::now().as_second()).unwrap_or(i32::MAX)
}

/// Why keys cannot be made, listed or revoked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that cannot be used.
    #[error(
        "{name:?} cannot be the name of a key: 1 to {LONGEST_NAME_CHARACTERS} characters, no \
         blanks at its ends, no control characters"
    )]
    BadName {
        /// The name as written.
        name: String,
    },
    /// Names are used once, for revoked keys too.
    #[error("there is a key {name:?} already; choose another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Nothing of that name.
    #[error("there is no key {name:?}{suggestion}; `crossover dashboard key list` shows them")]
    NoSuchKey {
        /// The name as written.
        name: String,
        /// ` (did you mean ...?)` or nothing.
        suggestion: String,
    },
    /// Done before.
    #[error("the key {name:?} is revoked already")]
    RevokedBefore {
        /// The name.
        name: String,
    },
    /// A key given by file or environment that cannot be one.
    #[error("the key is empty or holds blanks or control characters: one line, only the key")]
    BadKey,
    /// The operating system gave no random bytes.
    #[error("no random bytes for a new key: {0}")]
    NoRandomness(#[from] getrandom::Error),
    /// The database cannot be opened or reached.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// The database is not a dashboard's.
    #[error(transparent)]
    Schema(#[from] schema::Error),
    /// SQLite reported an error.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL reported an error.
    #[error("PostgreSQL: {}", schema::postgres_message(.0))]
    Postgres(#[from] tokio_postgres::Error),
}
