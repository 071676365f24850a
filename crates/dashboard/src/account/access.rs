//! Access checks of the server: keys, sessions, passwords. Each request looks them up again, so
//! what was revoked, removed or has expired is refused from the next request on.

use std::time::Instant;

use engine::DatabaseUrl;
use parking_lot::Mutex;

use super::{
    Error, Password, SESSION_SECONDS, SessionToken, SetupToken, check_name, named, now, password,
};
use crate::database::SqlValue;
use crate::key::KeyHash;
use crate::metadata::MetadataDatabase;
use crate::name::is_name;

/// The names of the cookies of all databases begin with it.
pub(crate) const SESSION_COOKIE: &str = "crossover_session_";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The name of the account.
    pub name: String,
}

/// A program with a valid key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHolder {
    /// The name of the key.
    pub name: String,
}

/// The accounts, sessions and keys of a dashboard, as its server uses them.
#[derive(Debug)]
pub struct AccessControl {
    database: MetadataDatabase,
    setup: Mutex<Option<SetupToken>>,
    cookie: String,
}

impl AccessControl {
    pub async fn open(database: &DatabaseUrl) -> Result<Self, Error> {
        let metadata = MetadataDatabase::open(database).await?;
        let cookie = cookie(&identity(database, &metadata).await);
        Ok(Self { cookie, database: metadata, setup: Mutex::default() })
    }

    /// The start of the name of the cookie that holds a session's secret.
    #[must_use]
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// The holder of `key`, if it is valid now.
    pub async fn key_holder(&self, key: &KeyHash) -> Result<Option<KeyHolder>, Error> {
        let sql = "SELECT name FROM api_keys LEFT JOIN key_expiries ON key_id = id
            WHERE key_hash = $1 AND revoked_at IS NULL
            AND (expires_at IS NULL OR expires_at > $2)";
        let values = vec![key.as_str().into(), now().into()];
        let mut found = self.database.rows(sql, values).await?.into_iter().flatten();
        Ok(found.next().map(|name| KeyHolder { name: name.into_text() }))
    }

    /// Whether any key is valid now.
    pub async fn has_keys(&self) -> Result<bool, Error> {
        let count = "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL";
        Ok(self.count(count, Vec::new()).await? > 0)
    }

    /// Whether there is any account.
    pub async fn has_accounts(&self) -> Result<bool, Error> {
        Ok(self.count("SELECT count(*) FROM accounts", Vec::new()).await? > 0)
    }

    async fn count(&self, sql: &'static str, values: Vec<SqlValue<'_>>) -> Result<i64, Error> {
        let rows = self.database.rows(sql, values).await?;
        Ok(rows.iter().flatten().find_map(SqlValue::integer).unwrap_or(0))
    }

    /// The account of `session`, if it is valid now.
    pub async fn person(&self, session: &SessionToken) -> Result<Option<Person>, Error> {
        let find = "SELECT name FROM sessions JOIN accounts ON accounts.id = account_id
            WHERE token_hash = $1 AND expires_at > $2";
        let values = vec![session.hash().into(), now().into()];
        let mut found = self.database.rows(find, values).await?.into_iter().flatten();
        Ok(found.next().map(|name| Person { name: name.into_text() }))
    }

    /// Begins a session if the password is that of the account. It takes the same time whether
    /// there is such an account or not.
    pub async fn sign_in(&self, name: &str, password: &str) -> Result<Option<SessionToken>, Error> {
        let found = match is_name(name) {
            true => named(&self.database, name).await?,
            false => Vec::new(),
        };
        let account = found.into_iter().next().and_then(|row| <[SqlValue; 2]>::try_from(row).ok());
        let (id, stored) = match account {
            Some([id, hash]) => (Some(id), Some(hash.into_text())),
            None => (None, None),
        };
        let is_right = password::is_right(password.to_owned(), stored).await?;
        match id.filter(|_| is_right) {
            Some(id) => self.begin(id).await.map(Some),
            None => Ok(None),
        }
    }

    /// A new session; sessions long over go.
    async fn begin(&self, account: SqlValue<'static>) -> Result<SessionToken, Error> {
        let token = SessionToken::generate()?;
        let at = now();
        let insert = "INSERT INTO sessions (token_hash, account_id, created_at, expires_at)
            VALUES ($1, $2, $3, $4)";
        let expires = at.saturating_add(SESSION_SECONDS);
        let values = vec![token.hash().into(), account, at.into(), expires.into()];
        let forget = "DELETE FROM sessions WHERE expires_at <= $1";
        self.database.change(vec![(forget, vec![at.into()]), (insert, values)]).await?;
        Ok(token)
    }

    pub async fn sign_out(&self, session: &SessionToken) -> Result<(), Error> {
        let end = "DELETE FROM sessions WHERE token_hash = $1";
        self.database.change(vec![(end, vec![session.hash().into()])]).await?;
        Ok(())
    }

    /// The secret for the link by which the first account can be made; an earlier one is void.
    pub fn offer_first_account(&self) -> Result<SetupToken, Error> {
        let token = SetupToken::generate()?;
        *self.setup.lock() = Some(token.clone());
        Ok(token)
    }

    /// Makes the first account and signs its maker in.
    ///
    /// # Errors
    /// [`Error::LinkExpired`] if the secret is not the one offered, or another request was quicker;
    /// [`Error::BadName`], [`Error::BadPassword`], after which it holds still.
    pub async fn make_first_account(
        &self,
        secret: &str,
        name: &str,
        password: &str,
    ) -> Result<SessionToken, Error> {
        let holds = |offered: &SetupToken| offered.holds(secret, Instant::now());
        if !self.setup.lock().as_ref().is_some_and(holds) {
            return Err(Error::LinkExpired);
        }
        check_name(name)?;
        let hash = Password::chosen(password)?.hash().await?;
        let Some(taken) = self.setup.lock().take_if(|offered| holds(&*offered)) else {
            return Err(Error::LinkExpired);
        };
        let insert = "INSERT INTO accounts (id, name, password_hash, created_at)
            SELECT 1, $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM accounts)";
        let values = vec![name.into(), hash.as_str().into(), now().into()];
        match self.database.change(vec![(insert, values)]).await {
            Ok(counts) if counts.first() == Some(&1) => self.begin(SqlValue::Integer(1)).await,
            Ok(_) => Err(Error::LinkExpired),
            Err(error) => {
                // Nothing was made: the link must not be lost with it.
                *self.setup.lock() = Some(taken);
                Err(error.into())
            }
        }
    }
}

/// The identity of a database for all of its servers, whatever the way to reach it: the sockets of
/// a managed PostgreSQL are others after each start.
async fn identity(database: &DatabaseUrl, metadata: &MetadataDatabase) -> String {
    match database {
        DatabaseUrl::Sqlite(path) => {
            path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string()
        }
        DatabaseUrl::Postgres(url) => {
            let sql = "SELECT system_identifier::text, current_database()::text
                         FROM pg_control_system()";
            match metadata.rows(sql, Vec::new()).await {
                Ok(rows) => rows.into_iter().flatten().map(SqlValue::into_text).collect(),
                // Not every administrator lets every role ask.
                Err(_) => url.to_string(),
            }
        }
    }
}

/// A browser sends the cookies of a host to all of its ports: servers of different databases have
/// cookies of different names.
fn cookie(identity: &str) -> String {
    format!("{SESSION_COOKIE}{:08x}", xxhash_rust::xxh3::xxh3_64(identity.as_bytes()) >> 32)
}
