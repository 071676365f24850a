//! Passwords and their argon2 hashes. Hashing is slow on purpose, so it runs on threads of its own,
//! a few at a time, and never delays queries.

use std::fmt;
use std::sync::LazyLock;

use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use tokio::sync::Semaphore;

use super::Error;

/// A shorter password is guessed too soon (NIST SP 800-63B asks for 8 and no rules besides).
pub(super) const LEAST_CHARACTERS: usize = 10;

/// A longer one is not a password.
pub(super) const MOST_CHARACTERS: usize = 200;

/// A new password in clear text. Not printed by accident: `Debug` hides it.
#[derive(Clone)]
pub struct Password(String);

impl Password {
    /// A chosen password, in which every blank counts.
    pub fn chosen(text: &str) -> Result<Self, Error> {
        let is_fit = (LEAST_CHARACTERS..=MOST_CHARACTERS).contains(&text.chars().count());
        if is_fit { Ok(Self(text.to_owned())) } else { Err(Error::BadPassword) }
    }

    /// As stored: argon2id with a salt of its own, 19 MiB and two passes, which is what
    /// OWASP's cheat sheet on password storage asks for and the crate's default.
    pub(super) async fn hash(self) -> Result<String, Error> {
        let mut salt = [0; 16];
        getrandom::fill(&mut salt)?;
        with_hashing_permit(move || hash(&self.0, salt)).await
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password(hidden)")
    }
}

/// Whether `presented` is the password of which `stored` was made. Without `stored` the answer is
/// no, after the same work: the time must not tell whether there is an account.
pub(super) async fn is_right(presented: String, stored: Option<String>) -> Result<bool, Error> {
    with_hashing_permit(move || {
        let known = stored.is_some();
        let stored = match stored {
            Some(stored) => stored,
            None => STAND_IN.clone()?,
        };
        let stored = PasswordHash::new(&stored).map_err(|error| Error::Hash(error.to_string()))?;
        let verified = Argon2::default().verify_password(presented.as_bytes(), &stored);
        Ok(verified.is_ok() && known)
    })
    .await
}

/// Made of no secret: nothing is ever let in by it.
static STAND_IN: LazyLock<Result<String, Unusable>> = LazyLock::new(|| {
    hash("a password without an account", [7; 16]).map_err(|error| Unusable(error.to_string()))
});

/// The reason why there is no stand-in, kept for every caller.
#[derive(Clone)]
struct Unusable(String);

impl From<Unusable> for Error {
    fn from(unusable: Unusable) -> Self {
        Self::Hash(unusable.0)
    }
}

fn hash(password: &str, salt: [u8; 16]) -> Result<String, Error> {
    let failed = |error: argon2::password_hash::Error| Error::Hash(error.to_string());
    let salt = SaltString::encode_b64(&salt).map_err(failed)?;
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt).map_err(failed)?;
    Ok(hash.to_string())
}

/// Half of the processors may hash, the others answer queries.
async fn with_hashing_permit<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    static TURNS: LazyLock<Semaphore> = LazyLock::new(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Semaphore::new((cores / 2).max(1))
    });
    let _turn = TURNS.acquire().await.map_err(|error| Error::Hash(error.to_string()))?;
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::Hash(error.to_string()))?
}
