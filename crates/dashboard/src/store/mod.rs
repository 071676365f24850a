//! Where answers come from: one SQLite file or one PostgreSQL database behind the same few calls.

mod design;
pub(crate) mod patience;
mod postgres;
pub(crate) mod postgres_pool;
mod sqlite;
mod sqlite_metrics;
mod sqlite_pool;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

use engine::{DatabaseUrl, Settings};
use tokio_postgres::error::SqlState;

use crate::answer::{self, Answer};
use crate::query::{Day, Filter, Query, Refusal};
use crate::statement::Design;
use crate::{rollup, schema};
use patience::{Asker, Patience};

pub use postgres::PostgresStore;
pub use sqlite::SqliteStore;

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// How questions are answered; if it is not said, from totals as long as they are those of the
    /// data.
    pub design: Option<Design>,
    /// SQLite pragmas or PostgreSQL session settings on top of our own, for an experiment.
    pub settings: Settings,
    /// How many questions are answered at the same time; further ones wait in order.
    pub connections: usize,
    /// How long a question may take, its wait for a turn included; its work is stopped then.
    pub query_limit: Option<Duration>,
}

impl Default for Options {
    /// Four questions for each core, at least eight: enough that a few slow ones do not keep the
    /// quick ones waiting, few enough that they do not crowd each other out of the caches.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            design: None,
            settings: Settings::default(),
            connections: (4 * cores).max(8),
            query_limit: None,
        }
    }
}

/// Connections kept apart from those that answer questions, so that `/healthz` answers while every
/// question is a slow one.
const SIDE_CONNECTIONS: usize = 2;

/// An open database of the dashboard.
#[derive(Debug)]
pub enum Store {
    Sqlite(SqliteStore),
    Postgres(Box<PostgresStore>),
}

impl Store {
    /// Opens the database, applies the settings and checks that the schema is ours.
    pub async fn open(database: &DatabaseUrl, options: &Options) -> Result<Self, Error> {
        Ok(match database {
            DatabaseUrl::Sqlite(path) => Self::Sqlite(SqliteStore::open(path, options).await?),
            DatabaseUrl::Postgres(url) => {
                Self::Postgres(Box::new(PostgresStore::open(url, options).await?))
            }
        })
    }

    /// The engine and its exact version, for example `SQLite 3.53.1` or `PostgreSQL 18.1`.
    #[must_use]
    pub fn engine(&self) -> &str {
        match self {
            Self::Sqlite(store) => store.engine(),
            Self::Postgres(store) => store.engine(),
        }
    }

    /// Settings read back when the store was opened: those asked for and those of our own that
    /// bear on the time of answers.
    #[must_use]
    pub fn settings(&self) -> &[(String, String)] {
        match self {
            Self::Sqlite(store) => store.settings(),
            Self::Postgres(store) => store.settings(),
        }
    }

    /// How questions are answered at the moment.
    #[must_use]
    pub fn design(&self) -> Design {
        match self {
            Self::Sqlite(store) => store.design(),
            Self::Postgres(store) => store.design(),
        }
    }

    /// What SQLite counted while answering; PostgreSQL's own statistics views tell its part.
    pub(crate) fn sqlite_metrics(&self) -> Option<&sqlite_metrics::SqliteMetrics> {
        match self {
            Self::Sqlite(store) => Some(store.metrics()),
            Self::Postgres(_) => None,
        }
    }

    pub async fn answer(&self, query: Query) -> Result<Answer, Error> {
        let (patience, _asker) = self.patience();
        self.answer_within(query, patience).await
    }

    /// The patience of an asker who begins to wait now.
    pub(crate) fn patience(&self) -> (Patience, Asker) {
        Patience::begin(match self {
            Self::Sqlite(store) => store.query_limit(),
            Self::Postgres(store) => store.query_limit(),
        })
    }

    /// How many questions are answered at the same time.
    pub(crate) fn concurrency(&self) -> usize {
        match self {
            Self::Sqlite(store) => store.concurrency(),
            Self::Postgres(store) => store.concurrency(),
        }
    }

    /// Answers a question of somebody who has waited for a while.
    pub(crate) async fn answer_within(
        &self,
        query: Query,
        patience: Patience,
    ) -> Result<Answer, Error> {
        match self {
            Self::Sqlite(store) => store.answer(query, patience).await,
            Self::Postgres(store) => store.answer(query, patience).await,
        }
    }

    /// Reads one row, to see that the database answers.
    pub async fn check(&self) -> Result<(), Error> {
        match self {
            Self::Sqlite(store) => store.check().await,
            Self::Postgres(store) => store.check().await,
        }
    }
}

/// A stored day as the ISO date that an answer shows.
fn day_text(number: i32) -> Result<String, Error> {
    let day = Day::from_number(number).ok_or(Error::DayOutOfRange { day: number })?;
    Ok(day.to_string())
}

/// The ids of all keys of `filter`, of which `found` are there.
fn known_ids(filter: &Filter, found: HashMap<String, i32>) -> Result<Vec<i32>, Error> {
    let id = |key: &String| {
        let unknown = || Refusal::UnknownKey { name: filter.parameter(), key: key.clone() };
        found.get(key).copied().ok_or_else(unknown)
    };
    Ok(filter.keys.iter().map(id).collect::<Result<_, _>>()?)
}

/// Why a store cannot be opened or a question not be answered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The question is at fault.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database cannot be opened or reached, or has no such setting.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// The database is not a dashboard's.
    #[error(transparent)]
    Schema(#[from] schema::Error),
    /// The design needs totals, and there are none of this data.
    #[error(transparent)]
    Totals(rollup::Error),
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("PostgreSQL: {}", schema::postgres_message(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// No connection became free or could be made in time.
    #[error("no connection to PostgreSQL within {seconds} s: it is down or overloaded")]
    NoConnection { seconds: u64 },
    /// A small statement beside the questions took too long.
    #[error("the database gave no answer in time: it is busy or down; try again later")]
    NoAnswer,
    /// The question took longer than the limit, and its work was stopped.
    #[error(
        "the query was stopped after {}; ask for a shorter period or fewer rows, or raise \
         --query-limit",
        patience::seconds(*limit)
    )]
    TooSlow { limit: Duration },
    /// All turns were taken until the limit.
    #[error(
        "as many queries as run at once (--query-concurrency) kept this one waiting for {}; try again",
        patience::seconds(*limit)
    )]
    NoTurn { limit: Duration },
    /// The work on a question ended without a result.
    #[error("the work on the question broke off: {0}")]
    BrokenOff(String),
    /// A day that no date can be written for.
    #[error("the database holds a day out of range: {day} days after 1970-01-01")]
    DayOutOfRange { day: i32 },
    /// The answer cannot be written.
    #[error(transparent)]
    Answer(#[from] answer::Error),
}

impl From<rollup::Error> for Error {
    fn from(error: rollup::Error) -> Self {
        match error {
            rollup::Error::Database(error) => error.into(),
            error => Self::Totals(error),
        }
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
            Self::Engine(error) => matches!(error, engine::Error::CannotConnect { .. }),
            // Without a code the server itself did not speak: the connection is gone.
            Self::Postgres(error) => error.is_closed() || error.code().is_none(),
            Self::Sqlite(error) => {
                error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
            }
            _ => false,
        }
    }
}
