//! The parameters of a PostgreSQL URL: those that crate engine handles, and those that are the
//! client library's to judge.

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::PostgresUrl;
use crate::{Error, nearest};

/// Parameters that crate engine handles itself, see `tls`.
const OWN: [&str; 3] = ["sslmode", "sslrootcert", "port"];

/// libpq's `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsMode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl TlsMode {
    const NAMES: [(&str, Self); 6] = [
        ("disable", Self::Disable),
        ("allow", Self::Allow),
        ("prefer", Self::Prefer),
        ("require", Self::Require),
        ("verify-ca", Self::VerifyCa),
        ("verify-full", Self::VerifyFull),
    ];

    pub(crate) fn of(
        url: &PostgresUrl,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        let given = url.parameter("sslmode").map(str::to_owned);
        let Some(name) = given.or_else(|| environment("PGSSLMODE")) else {
            return Ok(Self::Prefer);
        };
        let known = Self::NAMES.into_iter().find(|(known, _)| *known == name);
        known.map(|(_, mode)| mode).ok_or_else(|| Error::BadPostgresUrl {
            problem: format!(
                "sslmode `{name}`{}: use disable, allow, prefer, require, verify-ca or verify-full",
                nearest(&name, Self::NAMES.map(|(known, _)| known))
            ),
        })
    }

    /// `allow` is treated as `prefer`: encrypted where the server offers it.
    pub(crate) fn for_client(self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Allow | Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => SslMode::Require,
        }
    }
}

/// The parameters after `?` as the client library reads them, without those of our own.
pub(crate) fn parameters_config(url: &PostgresUrl) -> Result<Config, Error> {
    TlsMode::of(url, &|_| None)?;
    let own = |key: &str| OWN.contains(&key);
    let bare = PostgresUrl {
        parameters: url.parameters.iter().filter(|(key, _)| !own(key)).cloned().collect(),
        ..PostgresUrl::default()
    };
    bare.expose().parse().map_err(|error: tokio_postgres::Error| Error::BadPostgresUrl {
        problem: std::error::Error::source(&error)
            .map_or_else(|| error.to_string(), ToString::to_string),
    })
}
