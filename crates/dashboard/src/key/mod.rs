//! API keys: random, shown once, stored only as a hash, revoked by name, with an optional end.

mod hash;
#[cfg(test)]
mod tests;

use std::time::Duration;

use engine::DatabaseUrl;
use serde::Serialize;

pub use hash::{ApiKey, KeyHash};

use crate::database::SqlValue;
use crate::metadata::{MetadataChange, MetadataDatabase, MetadataRow};
use crate::name::{LONGEST_NAME_CHARACTERS, is_name};
use crate::{database, schema};

/// A key as listed: never the key itself, nor its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedKey {
    pub name: String,
    /// Seconds since 1970-01-01.
    pub created_at: i64,
    /// Seconds since 1970-01-01; absent if the key is valid until it is revoked.
    pub expires_at: Option<i64>,
    /// Seconds since 1970-01-01; absent unless it was revoked.
    pub revoked_at: Option<i64>,
}

/// Makes a new key, stores its hash under `name` and gives the key: the only time it is seen.
/// With `valid` it is refused after that time.
pub async fn add(
    database: &DatabaseUrl,
    name: &str,
    valid: Option<Duration>,
) -> Result<ApiKey, Error> {
    if !is_name(name) {
        return Err(Error::BadName { name: name.to_owned() });
    }
    let database = MetadataDatabase::open(database).await?;
    let keys = listed(&database).await?;
    if keys.iter().any(|listed| listed.name == name) {
        return Err(Error::NameTaken { name: name.to_owned() });
    }
    let key = ApiKey::generate()?;
    let insert = "INSERT INTO api_keys (id, name, key_hash, created_at)
        SELECT coalesce(max(id), 0) + 1, $1, $2, $3 FROM api_keys";
    let hash = key.hash();
    let values = vec![name.into(), hash.as_str().into(), jiff::Timestamp::now().as_second().into()];
    let mut changes: Vec<MetadataChange<'_>> = vec![(insert, values)];
    if let Some(valid) = valid {
        let expire = "INSERT INTO key_expiries (key_id, expires_at)
            SELECT id, $1 FROM api_keys WHERE name = $2";
        let seconds = i64::try_from(valid.as_secs()).unwrap_or(i64::MAX);
        let expires_at = jiff::Timestamp::now().as_second().saturating_add(seconds);
        changes.push((expire, vec![expires_at.into(), name.into()]));
    }
    database.change(changes).await?;
    Ok(key)
}

/// All keys, revoked ones too, in the order in which they were made.
pub async fn list(database: &DatabaseUrl) -> Result<Vec<ListedKey>, Error> {
    listed(&MetadataDatabase::open(database).await?).await
}

async fn listed(database: &MetadataDatabase) -> Result<Vec<ListedKey>, Error> {
    let list = "SELECT name, created_at, expires_at, revoked_at
        FROM api_keys LEFT JOIN key_expiries ON key_id = id ORDER BY id";
    let rows = database.rows(list, Vec::new()).await?;
    let key = |row: MetadataRow| match <[SqlValue; 4]>::try_from(row) {
        Ok([name, created_at, expires_at, revoked_at]) => Some(ListedKey {
            name: name.into_text(),
            created_at: created_at.integer()?,
            expires_at: expires_at.integer(),
            revoked_at: revoked_at.integer(),
        }),
        Err(_) => None,
    };
    Ok(rows.into_iter().filter_map(key).collect())
}

/// Revokes a key; a running server refuses it from its next request on.
pub async fn revoke(database: &DatabaseUrl, name: &str) -> Result<(), Error> {
    let database = MetadataDatabase::open(database).await?;
    let keys = listed(&database).await?;
    match keys.iter().find(|listed| listed.name == name) {
        None => {
            let suggestion = engine::nearest(name, keys.iter().map(|listed| listed.name.as_str()));
            Err(Error::NoSuchKey { name: name.to_owned(), suggestion })
        }
        Some(listed) if listed.revoked_at.is_some() => {
            Err(Error::RevokedBefore { name: name.to_owned() })
        }
        Some(_) => {
            let revoke = "UPDATE api_keys SET revoked_at = $1 WHERE name = $2";
            database
                .change(vec![(
                    revoke,
                    vec![jiff::Timestamp::now().as_second().into(), name.into()],
                )])
                .await?;
            Ok(())
        }
    }
}

/// Why keys cannot be made, listed or revoked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that cannot be used.
    #[error(
        "{name:?} cannot be the name of a key: 1 to {LONGEST_NAME_CHARACTERS} characters, no \
         blanks at its ends, no control characters"
    )]
    BadName { name: String },
    /// Names are used once, for revoked keys too.
    #[error("there is a key {name:?} already; choose another name")]
    NameTaken { name: String },
    #[error("there is no key {name:?}{suggestion}; `crossover dashboard key list` shows them")]
    NoSuchKey {
        name: String,
        /// ` (did you mean ...?)` or nothing.
        suggestion: String,
    },
    #[error("the key {name:?} is revoked already")]
    RevokedBefore { name: String },
    /// A key given by file or environment that cannot be one.
    #[error("the key is empty or holds blanks or control characters: one line, only the key")]
    BadKey,
    /// The operating system gave no random bytes.
    #[error("no random bytes for a new key: {0}")]
    NoRandomness(#[from] getrandom::Error),
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The database is not a dashboard's.
    #[error(transparent)]
    Schema(#[from] schema::Error),
}
