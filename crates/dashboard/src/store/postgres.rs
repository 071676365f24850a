//! The dashboard in a PostgreSQL database: a pool of connections, statements prepared once for
//! each of them.

use std::pin::pin;

use deadpool_postgres::GenericClient;
use engine::PostgresUrl;
use futures_util::TryStreamExt as _;
use tokio_postgres::types::FromSqlOwned;
use tokio_postgres::{IsolationLevel, RowStream};

use super::postgres_pool::{Pool, prepare_session};
use super::{Error, Options, SIDE_CONNECTIONS, day_text, known_ids, require_totals};
use crate::answer::{Answer, AnswerWriter, Earlier, Row, Sums};
use crate::query::{Period, Query};
use crate::schema::{self, Dialect};
use crate::statement::{self, Conditions, Design, RowColumns, Statement};

/// A PostgreSQL database of the dashboard, open for questions.
#[derive(Debug)]
pub struct PostgresStore {
    questions: Pool,
    side: Pool,
    design: Design,
    engine: String,
    settings: Vec<(String, String)>,
}

impl PostgresStore {
    /// Connects once to check the settings and the schema, then makes the pools.
    ///
    /// # Errors
    /// A server that cannot be reached, a schema that is not ours, a setting that the server does
    /// not have or a session may not change.
    pub async fn open(url: &PostgresUrl, options: &Options) -> Result<Self, Error> {
        let client = engine::postgres::connect(url).await?;
        let settings = prepare_session(&client, &options.settings).await?;
        schema::check_postgres(&client).await?;
        require_totals(options.design, schema::has_totals_postgres(&client).await?)?;
        let version: String = client.query_one("SHOW server_version", &[]).await?.get(0);
        let number = version.split_whitespace().next().unwrap_or_default();
        Ok(Self {
            settings,
            questions: Pool::new(url, &options.settings, options.connections)?,
            side: Pool::new(url, &options.settings, SIDE_CONNECTIONS)?,
            design: options.design,
            engine: format!("PostgreSQL {number}"),
        })
    }

    pub(super) fn engine(&self) -> &str {
        &self.engine
    }

    pub(super) fn design(&self) -> Design {
        self.design
    }

    pub(super) fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// In a task of its own: an asker who goes away must not put a busy connection back into the
    /// pool, where the next question would wait for the rest of this one.
    pub(super) async fn answer(&self, query: Query) -> Result<Answer, Error> {
        let task = tokio::spawn(answer(self.questions.clone(), query, self.design));
        task.await.map_err(|error| Error::BrokenOff(error.to_string()))?
    }

    pub(super) async fn key_hashes(&self) -> Result<Vec<String>, Error> {
        let client = self.side.get().await?;
        let rows = run(&client, &statement::key::valid_hashes(POSTGRES)).await?;
        Ok(rows.and_then(|row| async move { row.try_get(0) }).try_collect().await?)
    }

    pub(super) async fn check(&self) -> Result<(), Error> {
        let client = self.side.get().await?;
        let found: Option<i32> = only_value(&client, &statement::any_row(POSTGRES)).await?;
        found.map(|_| ()).ok_or(schema::Error::Empty.into())
    }
}

const POSTGRES: Dialect = Dialect::Postgres;

/// One statement sees one snapshot anyway; several share one by a transaction.
async fn answer(pool: Pool, query: Query, design: Design) -> Result<Answer, Error> {
    let mut client = pool.get().await?;
    let is_one_statement = query.filters.values.is_empty()
        && query.comparison.is_none()
        && !query.counts_articles_across_rows();
    if is_one_statement {
        return statements(&client, query, design).await;
    }
    let snapshot = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    let answer = statements(&snapshot, query, design).await?;
    snapshot.commit().await?;
    Ok(answer)
}

async fn statements(
    client: &impl GenericClient,
    query: Query,
    design: Design,
) -> Result<Answer, Error> {
    let conditions = conditions(client, &query).await?;
    let mut earlier = None;
    if let Some(comparison) = query.comparison {
        let period = comparison.earlier(query.period)?;
        let mut rows = Earlier::new(&query, period);
        let push = |row: &Row<'_>| {
            rows.push(row);
            Ok(())
        };
        read_rows(client, &query, period, (&conditions, design), push).await?;
        if query.counts_articles_across_rows() {
            rows.set_total_articles(
                all_articles(client, &query, period, (&conditions, design)).await?,
            );
        }
        earlier = Some(rows);
    }
    let mut writer = AnswerWriter::new(query.clone(), earlier)?;
    let push = |row: &Row<'_>| Ok(writer.push(row)?);
    read_rows(client, &query, query.period, (&conditions, design), push).await?;
    if query.counts_articles_across_rows() {
        writer.set_total_articles(
            all_articles(client, &query, query.period, (&conditions, design)).await?,
        );
    }
    Ok(writer.finish()?)
}

/// The filters with their keys looked up.
async fn conditions(client: &impl GenericClient, query: &Query) -> Result<Conditions, Error> {
    let mut ids = Vec::new();
    for filter in &query.filters.values {
        let found = run(client, &statement::ids(filter, POSTGRES)).await?;
        let found = found.and_then(|row| async move { Ok((row.try_get(0)?, row.try_get(1)?)) });
        ids.push(known_ids(filter, found.try_collect().await?)?);
    }
    Ok(Conditions::new(&query.filters, ids))
}

async fn all_articles(
    client: &impl GenericClient,
    query: &Query,
    period: Period,
    (conditions, design): (&Conditions, Design),
) -> Result<i64, Error> {
    let all = statement::answer::all_articles(query, period, conditions, design, POSTGRES);
    Ok(only_value(client, &all).await?.unwrap_or(0))
}

/// Hands every row of the period to `each`.
async fn read_rows(
    client: &impl GenericClient,
    query: &Query,
    period: Period,
    (conditions, design): (&Conditions, Design),
    mut each: impl FnMut(&Row<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let statement = statement::answer::rows(query, period, conditions, design, POSTGRES);
    let key_is_day = statement::key_is_day(query.grouping);
    let columns = RowColumns::of(query);
    let mut rows = pin!(run(client, &statement).await?);
    while let Some(row) = rows.try_next().await? {
        let date;
        let key = if key_is_day {
            date = day_text(row.try_get(0)?)?;
            date.as_str()
        } else {
            row.try_get(0)?
        };
        each(&Row {
            key,
            label: columns.label.map_or(Ok(key), |column| row.try_get(column))?,
            country: columns.country.map(|column| row.try_get(column)).transpose()?,
            sums: Sums {
                pageviews: row.try_get(columns.metrics)?,
                sessions: row.try_get(columns.metrics + 1)?,
                engagement_seconds: row.try_get(columns.metrics + 2)?,
                articles: columns.articles.map(|column| row.try_get(column)).transpose()?,
            },
            rows_read: row.try_get(columns.rows_read)?,
        })?;
    }
    Ok(())
}

/// Runs a statement, prepared once for each connection.
async fn run(client: &impl GenericClient, statement: &Statement) -> Result<RowStream, Error> {
    let prepared = client.prepare_cached(&statement.sql).await?;
    Ok(client.query_raw(&prepared, statement.bound()).await?)
}

/// The only value of the only row.
async fn only_value<T: FromSqlOwned>(
    client: &impl GenericClient,
    statement: &Statement,
) -> Result<Option<T>, Error> {
    let mut rows = pin!(run(client, statement).await?);
    let mut value = None;
    // Read to the end: the connection is free for the next statement only then.
    while let Some(row) = rows.try_next().await? {
        value = Some(row.try_get(0)?);
    }
    Ok(value)
}
