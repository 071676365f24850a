//! Where answers come from: one SQLite file or one PostgreSQL database behind the same few calls.

mod design;
mod postgres;
mod sqlite;
mod sqlite_metrics;

use std::collections::HashMap;
use std::time::Duration;

use engine::{DatabaseUrl, Settings};

use crate::answer::{Answer, Design, Error};
use crate::database::{self, Asker, Patience};
use crate::query::{Day, Filter, Query, Refusal};

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
    let day = Day::from_number(number).ok_or(database::Error::DayOutOfRange { day: number })?;
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
