//! Parameters of a URL for the client library, which knows three of libpq's six values of `sslmode`.

use engine::{PostgresUrl, check_parameter};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::Error;

/// Parameters of this crate itself: see `tls`; a port alone belongs to the environment's host.
const OWN: [&str; 3] = ["sslmode", "sslrootcert", "port"];

/// libpq's `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TlsMode {
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

    pub(super) fn of(
        url: &PostgresUrl,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        let given = url.parameter("sslmode").map(str::to_owned);
        let Some(name) = given.or_else(|| environment("PGSSLMODE")) else {
            return Ok(Self::Prefer);
        };
        check_parameter("sslmode", &name)?;
        let known = Self::NAMES.into_iter().find(|(known, _)| *known == name);
        Ok(known.map_or(Self::Prefer, |(_, mode)| mode))
    }

    /// `allow` is treated as `prefer`: encrypted where the server offers it.
    pub(super) fn for_client(self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Allow | Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => SslMode::Require,
        }
    }
}

/// The parameters after `?` as the client library reads them, without those of our own.
pub(super) fn parameters_config(url: &PostgresUrl) -> Result<Config, Error> {
    let bare = url.parameters_alone(|key| !OWN.contains(&key));
    bare.expose().parse().map_err(|error: tokio_postgres::Error| {
        let problem = std::error::Error::source(&error)
            .map_or_else(|| error.to_string(), ToString::to_string);
        super::bad_url(problem)
    })
}
