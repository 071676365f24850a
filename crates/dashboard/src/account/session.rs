//! Sessions: the secret in a browser's cookie, and the hash and CSRF token derived from it.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::Error;

/// The validity of a session after signing in.
pub const SESSION_SECONDS: i64 = 14 * 24 * 60 * 60;

/// The secret of a session: 256 random bits. The database has only its hash, so that a
/// backup signs no reader in.
#[derive(Clone)]
pub struct SessionToken(String);

impl SessionToken {
    pub(super) fn generate() -> Result<Self, Error> {
        let mut random = [0; 32];
        getrandom::fill(&mut random)?;
        Ok(Self(hex::encode(random)))
    }

    /// The content of a cookie, if it can be a session's secret at all.
    #[must_use]
    pub fn presented(text: &str) -> Option<Self> {
        let is_fit = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_fit.then(|| Self(text.to_owned()))
    }

    /// The secret itself, for the cookie.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(super) fn hash(&self) -> String {
        hex::encode(Sha256::digest(&self.0))
    }

    /// The token that a change has to bring along: the page reads it from an answer that no page
    /// of another site can read, while the cookie would come along by itself.
    #[must_use]
    pub fn csrf_token(&self) -> String {
        hex::encode(Sha256::digest(format!("csrf token of {}", self.0)))
    }

    /// Whether `presented` is that token, in a time that does not depend on where they differ.
    #[must_use]
    pub fn is_csrf_token(&self, presented: &str) -> bool {
        self.csrf_token().as_bytes().ct_eq(presented.as_bytes()).into()
    }
}

impl fmt::Debug for SessionToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionToken(hidden)")
    }
}
