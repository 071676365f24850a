//! Errors, each with the remedy, and the failures of a transaction.

use connect::postgres::thin::ThinError;
use load::LoadError;
use serde::{Deserialize, Serialize};

/// Errors that keep tables from being filled or checked, or a load from being offered at all.
/// Failures inside a load are counted there, see [`Failure`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Options that go with nothing.
    #[error("{0}")]
    Options(String),
    /// A table of that name belongs to another program.
    #[error(
        "{place} has a table {table} that is not of this program's making: {difference}; it is \
         left unchanged: use another database, or remove it yourself"
    )]
    ForeignTable { place: String, table: String, difference: String },
    /// The tables are ours, but not those asked for.
    #[error("{place} has tables of {found}, not {wanted}: remove them, or fill them again")]
    OtherTables {
        place: String,
        /// The options that they were filled with.
        found: String,
        wanted: String,
    },
    #[error("{place} has no table {table}: fill it first")]
    NotFilled { place: String, table: String },
    /// The rows are not what they must be after this mix.
    #[error("{place}, table {table}: {difference}")]
    Invariant {
        place: String,
        table: String,
        /// The value found, and the one expected.
        difference: String,
    },
    /// A client could not connect; nothing was measured.
    #[error("client {client} of {clients}: {cause}")]
    Connect {
        /// From 1.
        client: usize,
        clients: usize,
        /// The cause and the remedy.
        cause: Box<connect::Error>,
    },
    /// The engine refused, or was lost, before the load began or outside of one.
    #[error("{place}: {problem}")]
    Engine { place: String, problem: String },
    #[error(transparent)]
    Engines(#[from] connect::Error),
    /// A thread could not be started, or sockets not be waited for.
    #[error(transparent)]
    Load(LoadError),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Interrupted => Self::Interrupted,
            error => Self::Load(error),
        }
    }
}

impl Error {
    /// A mistake in the command line, a plan, a URL or a setting: exit code 2.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Options(_) | Self::ForeignTable { .. } => true,
            Self::Engines(error) => error.is_usage(),
            Self::Connect { cause, .. } => cause.is_usage(),
            _ => false,
        }
    }
}

/// Why a transaction came to nothing. The first four are tried again, a thousand times, and are
/// failures only after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The engine chose it as the victim of a deadlock.
    Deadlock,
    /// It could not be serialised with others.
    Serialization,
    /// The row that it had deleted and inserts again was inserted by another in between: possible
    /// under READ COMMITTED, and tried again by sysbench too.
    DuplicateKey,
    /// A lock was not granted within the engine's limit.
    LockTimeout,
    /// The connection broke: the server has gone, or was restarted. The client ends.
    Lost,
    /// No answer in time. The client ends.
    TimedOut,
    /// The engine has no more room. The client ends.
    DiskFull,
    /// It was under way when the load was over, and was cancelled or not tried again
    /// ([`crate::LoadOptions::grace`]): no failure of the engine's.
    CutOff,
    Refused,
}

impl Failure {
    /// Whether the transaction is worth another try.
    #[must_use]
    pub fn is_retried(self) -> bool {
        matches!(
            self,
            Self::Deadlock | Self::Serialization | Self::DuplicateKey | Self::LockTimeout
        )
    }

    /// Whether the client cannot go on.
    #[must_use]
    pub fn ends_client(self) -> bool {
        matches!(self, Self::Lost | Self::TimedOut | Self::DiskFull)
    }
}

/// The kind of failure that a refusal of PostgreSQL's, or an end of its connection, is to a
/// transaction.
pub(crate) fn failure_of(error: &ThinError) -> Failure {
    match error {
        ThinError::Server { severity, .. } if severity == "FATAL" || severity == "PANIC" => {
            Failure::Lost
        }
        ThinError::Server { code, .. } => match code.as_str() {
            "40P01" => Failure::Deadlock,
            "40001" => Failure::Serialization,
            "23505" => Failure::DuplicateKey,
            "55P03" => Failure::LockTimeout,
            "53100" => Failure::DiskFull,
            "57014" => Failure::CutOff,
            _ => Failure::Refused,
        },
        ThinError::TimedOut(_) => Failure::TimedOut,
        _ => Failure::Lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_tried_again_and_fatal_errors_end_the_client() {
        let refused = |severity: &str, code: &str| {
            failure_of(&ThinError::Server {
                severity: severity.to_owned(),
                code: code.to_owned(),
                message: String::new(),
                detail: String::new(),
                position: None,
            })
        };
        for (code, failure) in [
            ("40P01", Failure::Deadlock),
            ("40001", Failure::Serialization),
            ("23505", Failure::DuplicateKey),
            ("55P03", Failure::LockTimeout),
        ] {
            assert_eq!(refused("ERROR", code), failure);
            assert!(failure.is_retried() && !failure.ends_client());
        }
        // https://www.postgresql.org/docs/current/errcodes-appendix.html
        assert_eq!(refused("ERROR", "53100"), Failure::DiskFull);
        assert_eq!(refused("ERROR", "57014"), Failure::CutOff);
        assert_eq!(refused("PANIC", "53100"), Failure::Lost);
        assert_eq!(refused("FATAL", "57P01"), Failure::Lost);
        assert_eq!(refused("ERROR", "42P01"), Failure::Refused);
        assert!(Failure::DiskFull.ends_client() && Failure::Lost.ends_client());
        assert!(!Failure::Refused.ends_client() && !Failure::Refused.is_retried());
    }
}
