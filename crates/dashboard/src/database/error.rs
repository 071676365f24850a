//! Errors of a database and of the wait for it.

use std::time::Duration;

use tokio_postgres::error::SqlState;

/// Reasons why a statement has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be opened or reached, or has no such setting.
    #[error(transparent)]
    Engine(Box<connect::Error>),
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("PostgreSQL: {}", postgres_message(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// No connection became free or could be made in time.
    #[error("no connection to PostgreSQL within {seconds} s: it is down or overloaded")]
    NoConnection { seconds: u64 },
    /// A small statement took too long.
    #[error("the database gave no answer in time: it is busy or down; try again later")]
    NoAnswer,
    /// The query took longer than the limit, and its work was stopped.
    #[error(
        "the query was stopped after {}; ask for a shorter period or fewer rows, or raise \
         --query-limit",
        seconds(*limit)
    )]
    TooSlow { limit: Duration },
    /// All connections were busy until the limit.
    #[error(
        "as many queries as run at once (--query-concurrency) kept this one waiting for {}; try again",
        seconds(*limit)
    )]
    NoPermit { limit: Duration },
    /// The work ended without a result.
    #[error("the work on the question broke off: {0}")]
    BrokenOff(String),
    /// A day that no date can be written for.
    #[error("the database holds a day out of range: {day} days after 1970-01-01")]
    DayOutOfRange { day: i32 },
}

impl From<connect::Error> for Error {
    fn from(error: connect::Error) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl Error {
    /// Whether PostgreSQL ended the connection, so that the same on a new one may work.
    pub(crate) fn is_connection_lost(&self) -> bool {
        let Self::Postgres(error) = self else { return false };
        error.is_closed() || matches!(error.code(), None | Some(&SqlState::ADMIN_SHUTDOWN))
    }

    /// Whether the database cannot be reached at the moment, so that trying again may help.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::NoConnection { .. } | Self::NoAnswer => true,
            Self::Engine(error) => matches!(**error, connect::Error::CannotConnect { .. }),
            // Without a code the server itself did not speak: the connection is gone.
            Self::Postgres(error) => error.is_closed() || error.code().is_none(),
            Self::Sqlite(error) => {
                error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
            }
            Self::TooSlow { .. }
            | Self::NoPermit { .. }
            | Self::BrokenOff(_)
            | Self::DayOutOfRange { .. } => false,
        }
    }
}

/// The server's own words: `tokio_postgres` itself only says "db error".
pub(crate) fn postgres_message(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |refusal| refusal.message().to_owned())
}

/// `10 s`, `1.5 s`
fn seconds(limit: Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}

/// Makes `?` turn the errors of both clients and of `engine` into the variant `Database` of an
/// error.
macro_rules! from_clients {
    ($error:ty) => {
        $crate::database::from_clients!($error: connect::Error);
        $crate::database::from_clients!($error: rusqlite::Error);
        $crate::database::from_clients!($error: tokio_postgres::Error);
    };
    ($error:ty: $client:ty) => {
        impl From<$client> for $error {
            fn from(error: $client) -> Self {
                Self::Database(error.into())
            }
        }
    };
}
pub(crate) use from_clients;
