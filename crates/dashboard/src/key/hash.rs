//! A key and its hash. The key is 256 random bits, so a plain SHA-256 protects it: there is
//! nothing to guess that a slow hash would have to slow down.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::Error;

/// Recognisable in a file or a leak, as other services' keys are.
const PREFIX: &str = "crossover_";

/// A key in clear text. Not printed by accident: `Debug` hides it, only [`ApiKey::expose`] shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// A new key from the operating system's random numbers.
    pub fn generate() -> Result<Self, Error> {
        let mut random = [0; 32];
        getrandom::fill(&mut random)?;
        Ok(Self(format!("{PREFIX}{}", hex::encode(random))))
    }

    /// A key from a file, standard input or the environment; blanks and
    /// line ends around it do not count.
    pub fn given(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::BadKey);
        }
        Ok(Self(text.to_owned()))
    }

    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(&self.0)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(hidden)")
    }
}

/// SHA-256 of a key, in hexadecimal.
#[derive(Debug, Clone)]
pub struct KeyHash(String);

impl KeyHash {
    /// The hash of a presented key.
    #[must_use]
    pub fn of(presented: &str) -> Self {
        Self(hex::encode(Sha256::digest(presented)))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is `stored`, in a time that does not depend on where they differ.
    #[must_use]
    pub fn is(&self, stored: &str) -> bool {
        self.0.as_bytes().ct_eq(stored.as_bytes()).into()
    }
}
