//! `postgres:18[pool=transaction:4]`: a pool of connections between clients and a server.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::{EngineSource, EngineSpec, Error};

/// Connections to the server that a pool may hold.
const SIZES: RangeInclusive<u16> = 1..=1000;

/// A pool that Crossover starts before a server of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolRequest {
    pub mode: PoolMode,
    /// Connections to the server at most.
    pub size: u16,
}

/// How long a client keeps a connection to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolMode {
    Session,
    Transaction,
}

impl PoolMode {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Transaction => "transaction",
        }
    }
}

impl FromStr for PoolRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mode, size) = text.split_once(':').unwrap_or((text, ""));
        let mode = match mode {
            "session" => PoolMode::Session,
            "transaction" => PoolMode::Transaction,
            "statement" => {
                return Err("statement pooling refuses transactions: write transaction or session"
                    .to_owned());
            }
            _ => return Err(format!("pool is MODE:SIZE, as transaction:4, not `{text}`")),
        };
        let wrong = || format!("the size of a pool is 1 to 1000, not `{size}`");
        let size = size.parse().ok().filter(|size| SIZES.contains(size)).ok_or_else(wrong)?;
        Ok(Self { mode, size })
    }
}

impl fmt::Display for PoolRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.mode.name(), self.size)
    }
}

impl EngineSpec {
    /// The pool before it, if it has one.
    pub fn pool(&self) -> Result<Option<PoolRequest>, Error> {
        let Some(text) = self.settings.get("pool") else { return Ok(None) };
        let wrong = |problem: String| Error::BadEngine { text: self.to_string(), problem };
        match self.source {
            EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => {
                text.parse().map(Some).map_err(wrong)
            }
            EngineSource::PostgresUrl(_) => {
                let problem = "Crossover starts pools before its own servers alone (postgres:18); for \
                               yours, name the address of its pool";
                Err(wrong(problem.to_owned()))
            }
            _ => Err(wrong("only PostgreSQL has a pool: leave it out".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(text: &str) -> Result<Option<PoolRequest>, String> {
        text.parse::<EngineSpec>().unwrap().pool().map_err(|error| error.to_string())
    }

    #[test]
    fn a_pool_has_a_mode_and_a_size() {
        let request = PoolRequest { mode: PoolMode::Transaction, size: 4 };
        assert_eq!(pool("postgres:18[pool=transaction:4,work_mem=1MB]"), Ok(Some(request)));
        let request = PoolRequest { mode: PoolMode::Session, size: 1000 };
        assert_eq!(pool("postgres[pool=session:1000]"), Ok(Some(request)));
        assert_eq!(pool("postgres:18"), Ok(None));
        let spec: EngineSpec = "postgres:18[pool=transaction:4]".parse().unwrap();
        assert_eq!(spec.engine_settings().count(), 0);
        assert_eq!(spec.to_string(), "postgres:18[pool=transaction:4]");
    }

    #[test]
    fn wrong_pools_are_refused() {
        for (text, said) in [
            ("postgres:18[pool=transaction]", "1 to 1000, not ``"),
            ("postgres:18[pool=transaction:0]", "1 to 1000, not `0`"),
            ("postgres:18[pool=session:1001]", "1 to 1000, not `1001`"),
            ("postgres:18[pool=statement:4]", "refuses transactions"),
            ("postgres:18[pool=4]", "MODE:SIZE"),
            ("sqlite[pool=session:4]", "only PostgreSQL"),
            ("postgresql://h/d[pool=session:4]", "address of its pool"),
        ] {
            let refused = pool(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }
}
