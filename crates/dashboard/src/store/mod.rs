//! The store: a database of the dashboard, open for queries.

mod postgres;
mod sqlite;
mod sqlite_metrics;

use std::time::Duration;

use engine::{DatabaseUrl, Settings};

use crate::answer::{AnswerDesign, Designs, Error, QueryAnswer};
use crate::database::{self, CancelOnDrop, Deadline};
use crate::metadata::MetadataDatabase;
use crate::query::Query;
use crate::schema::find_totals;
use postgres::PostgresQueries;
use sqlite::SqliteQueries;

/// Options of a store.
#[derive(Debug, Clone)]
pub struct Options {
    /// Without one, totals answer while they match the data.
    pub design: Option<AnswerDesign>,
    /// SQLite pragmas or PostgreSQL session settings on top of our own, for an experiment.
    pub settings: Settings,
    /// Queries that run at the same time; further ones wait in order.
    pub connections: usize,
    /// The most that a query may take, its wait for a connection included; its work is stopped
    /// then.
    pub query_limit: Option<Duration>,
}

impl Default for Options {
    /// Four queries for each core, at least eight: enough that a few slow ones do not keep the
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

#[derive(Debug)]
pub struct DashboardStore {
    queries: Queries,
    /// Apart, so that `/healthz` answers while every query is a slow one.
    metadata: MetadataDatabase,
    designs: Designs,
    options: Options,
    engine: String,
    settings: Vec<(String, String)>,
}

/// Connections for queries.
#[derive(Debug)]
enum Queries {
    Sqlite(SqliteQueries),
    Postgres(Box<PostgresQueries>),
}

impl DashboardStore {
    /// Opens the database, applies the settings and checks that the schema is ours.
    pub async fn open(database: &DatabaseUrl, options: &Options) -> Result<Self, Error> {
        let metadata;
        let (queries, engine, settings) = match database {
            DatabaseUrl::Sqlite(path) => {
                metadata = MetadataDatabase::open(database).await?;
                let (queries, settings) = SqliteQueries::open(path, options).await?;
                let engine = format!("SQLite {}", connect::sqlite::version());
                (Queries::Sqlite(queries), engine, settings)
            }
            DatabaseUrl::Postgres(url) => {
                let (queries, version, settings) = PostgresQueries::open(url, options).await?;
                metadata = MetadataDatabase::open(database).await?;
                (Queries::Postgres(Box::new(queries)), format!("PostgreSQL {version}"), settings)
            }
        };
        let version = metadata.data_version().await?;
        let totals = metadata.rows(find_totals(metadata.dialect()), Vec::new()).await?;
        let designs = Designs::new(options.design, version, !totals.is_empty())?;
        Ok(Self { queries, metadata, designs, options: options.clone(), engine, settings })
    }

    /// The engine and its exact version, for example `SQLite 3.53.1` or `PostgreSQL 18.1`.
    #[must_use]
    pub fn engine(&self) -> &str {
        &self.engine
    }

    /// Settings read back when the store was opened: those asked for and those of our own that
    /// bear on the time of answers.
    #[must_use]
    pub fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// The design that answered last, or will answer first.
    #[must_use]
    pub fn design(&self) -> AnswerDesign {
        self.designs.now()
    }

    /// Counters of SQLite; PostgreSQL has statistics views for its own.
    pub(crate) fn sqlite_metrics(&self) -> Option<&sqlite_metrics::SqliteMetrics> {
        match &self.queries {
            Queries::Sqlite(queries) => Some(queries.metrics()),
            Queries::Postgres(_) => None,
        }
    }

    pub async fn answer(&self, query: Query) -> Result<QueryAnswer, Error> {
        let (deadline, _cancel) = self.deadline();
        self.answer_within(query, deadline).await
    }

    /// The deadline of a query that begins now.
    pub(crate) fn deadline(&self) -> (Deadline, CancelOnDrop) {
        Deadline::begin(self.options.query_limit)
    }

    /// Queries that run at the same time.
    pub(crate) fn concurrency(&self) -> usize {
        self.options.connections
    }

    pub(crate) async fn answer_within(
        &self,
        query: Query,
        deadline: Deadline,
    ) -> Result<QueryAnswer, Error> {
        match &self.queries {
            Queries::Sqlite(queries) => queries.answer(query, &self.designs, deadline).await,
            Queries::Postgres(queries) => queries.answer(query, &self.designs, deadline).await,
        }
    }

    /// The version of the data as a text, for comparison only.
    pub(crate) async fn data_version(&self) -> Result<String, database::Error> {
        Ok(self.metadata.data_version().await?.to_string())
    }

    /// Reads a row, which shows that the database answers.
    pub async fn check(&self) -> Result<(), Error> {
        self.metadata.rows("SELECT version FROM schema_version", Vec::new()).await?;
        Ok(())
    }
}
