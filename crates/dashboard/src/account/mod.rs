//! Accounts: their passwords (stored as argon2 hashes), their sessions, and the link for the first
//! of them.

mod access;
mod first;
mod password;
mod session;
#[cfg(test)]
mod tests;

use engine::DatabaseUrl;
use serde::Serialize;

pub(crate) use access::SESSION_COOKIE;
pub use access::{AccessControl, KeyHolder, Person};
pub use first::SetupToken;
pub use password::Password;
pub use session::{SESSION_SECONDS, SessionToken};

use crate::database::SqlValue;
use crate::metadata::{MetadataDatabase, MetadataRow};
use crate::name::{LONGEST_NAME_CHARACTERS, is_name};
use crate::{database, schema};

/// A row of the list of accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedAccount {
    pub name: String,
    /// Seconds since 1970-01-01.
    pub created_at: i64,
    /// Sessions that are valid now.
    pub sessions: i64,
}

pub async fn add(database: &DatabaseUrl, name: &str, password: Password) -> Result<(), Error> {
    check_name(name)?;
    let database = MetadataDatabase::open(database).await?;
    if !named(&database, name).await?.is_empty() {
        return Err(Error::NameTaken { name: name.to_owned() });
    }
    let values = vec![name.into(), password.hash().await?.into(), now().into()];
    database.change(vec![(ADD, values)]).await?;
    Ok(())
}

pub async fn list(database: &DatabaseUrl) -> Result<Vec<ListedAccount>, Error> {
    listed(&MetadataDatabase::open(database).await?).await
}

/// Removes an account and ends its sessions.
pub async fn remove(database: &DatabaseUrl, name: &str) -> Result<(), Error> {
    let (database, id) = find(database, name).await?;
    let remove = "DELETE FROM accounts WHERE id = $1";
    database.change(vec![(END_SESSIONS, vec![id.clone()]), (remove, vec![id])]).await?;
    Ok(())
}

/// Gives an account another password and ends its sessions.
pub async fn set_password(
    database: &DatabaseUrl,
    name: &str,
    password: Password,
) -> Result<(), Error> {
    let (database, id) = find(database, name).await?;
    let set = "UPDATE accounts SET password_hash = $1 WHERE id = $2";
    let values = vec![password.hash().await?.into(), id.clone()];
    database.change(vec![(set, values), (END_SESSIONS, vec![id])]).await?;
    Ok(())
}

const ADD: &str = "INSERT INTO accounts (id, name, password_hash, created_at)
    SELECT coalesce(max(id), 0) + 1, $1, $2, $3 FROM accounts";

const END_SESSIONS: &str = "DELETE FROM sessions WHERE account_id = $1";

async fn listed(database: &MetadataDatabase) -> Result<Vec<ListedAccount>, Error> {
    let list = "SELECT name, created_at, (SELECT count(*) FROM sessions
            WHERE account_id = accounts.id AND expires_at > $1)
        FROM accounts";
    let rows = database.rows(list, vec![now().into()]).await?;
    let mut accounts: Vec<_> = rows
        .into_iter()
        .filter_map(|row| match <[SqlValue; 3]>::try_from(row) {
            Ok([name, created_at, sessions]) => Some(ListedAccount {
                name: name.into_text(),
                created_at: created_at.integer()?,
                sessions: sessions.integer()?,
            }),
            Err(_) => None,
        })
        .collect();
    // Here, not by the engines: each of them has an order of its own.
    accounts.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(accounts)
}

/// Id and hash of the password of the account of that name, if there is one.
async fn named(
    database: &MetadataDatabase,
    name: &str,
) -> Result<Vec<MetadataRow>, database::Error> {
    let find = "SELECT id, password_hash FROM accounts WHERE name = $1";
    database.rows(find, vec![name.into()]).await
}

async fn find(
    database: &DatabaseUrl,
    name: &str,
) -> Result<(MetadataDatabase, SqlValue<'static>), Error> {
    let database = MetadataDatabase::open(database).await?;
    let found = match is_name(name) {
        true => named(&database, name).await?,
        false => Vec::new(),
    };
    if let Some(id) = found.into_iter().flatten().next() {
        return Ok((database, id));
    }
    let accounts = listed(&database).await?;
    let names = accounts.iter().map(|account| account.name.as_str());
    let suggestion = engine::nearest(name, names);
    Err(Error::NoSuchAccount { name: name.to_owned(), suggestion })
}

fn check_name(name: &str) -> Result<(), Error> {
    if is_name(name) { Ok(()) } else { Err(Error::BadName { name: name.to_owned() }) }
}

/// Seconds since 1970-01-01.
fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// Why an account cannot be made, changed or used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that cannot be used.
    #[error(
        "{} cannot be the name of an account: 1 to {LONGEST_NAME_CHARACTERS} characters, no \
         blanks at its ends, no control characters",
        crate::query::quoted(name)
    )]
    BadName { name: String },
    /// A password that cannot be used.
    #[error(
        "a password has {} to {} characters; a few words are easy to remember",
        password::LEAST_CHARACTERS,
        password::MOST_CHARACTERS
    )]
    BadPassword,
    /// Another account has this name.
    #[error("there is an account {name:?} already; choose another name")]
    NameTaken { name: String },
    #[error(
        "there is no account {name:?}{suggestion}; `crossover dashboard account list` shows them"
    )]
    NoSuchAccount {
        name: String,
        /// ` (did you mean ...?)` or nothing.
        suggestion: String,
    },
    /// The link for the first account does not hold.
    #[error(
        "the link for the first account is wrong, used or older than an hour; start the server \
         again for a new one, or make an account with `crossover dashboard account add NAME`"
    )]
    LinkExpired,
    /// Argon2 refused, or what is stored is not a hash.
    #[error("cannot hash the password: {0}")]
    Hash(String),
    /// The operating system gave no random bytes.
    #[error("no random bytes: {0}")]
    NoRandomness(#[from] getrandom::Error),
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The database is not a dashboard's.
    #[error(transparent)]
    Schema(#[from] schema::Error),
}
