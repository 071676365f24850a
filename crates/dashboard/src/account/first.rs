//! The link for the first account: a secret in the server's memory, valid for an hour and once.

use std::fmt;
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq as _;

use super::Error;

/// The validity of the link.
const VALID: Duration = Duration::from_secs(60 * 60);

/// The secret in the link.
#[derive(Clone)]
pub struct SetupToken {
    secret: String,
    made: Instant,
}

impl SetupToken {
    pub(super) fn generate() -> Result<Self, Error> {
        let mut random = [0; 32];
        getrandom::fill(&mut random)?;
        Ok(Self { secret: hex::encode(random), made: Instant::now() })
    }

    /// The secret itself, for the link.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.secret
    }

    /// Whether `presented` is it, and in time.
    pub(super) fn holds(&self, presented: &str, at: Instant) -> bool {
        let is_same: bool = self.secret.as_bytes().ct_eq(presented.as_bytes()).into();
        is_same && at.saturating_duration_since(self.made) < VALID
    }
}

impl fmt::Debug for SetupToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SetupToken(hidden)")
    }
}
