//! The dashboard in a PostgreSQL database: a pool of connections, statements prepared once for
//! each of them.

use std::pin::pin;
use std::time::Duration;

use deadpool_postgres::{GenericClient, Object};
use engine::PostgresUrl;
use futures_util::TryStreamExt as _;
use tokio_postgres::types::FromSqlOwned;
use tokio_postgres::{IsolationLevel, RowStream};

use super::design::Designs;
use super::{Options, SIDE_CONNECTIONS, day_text, known_ids};
use crate::answer::{self, Answer, AnswerWriter, Design, Earlier, Error, Row, Sums};
use crate::database::{self, Dialect, Patience, PostgresPool as Pool, prepare_session};
use crate::query::{Period, Query};
use crate::schema::{self, DataVersion};
use crate::statement::{self, Conditions, RowColumns, Statement};

/// A PostgreSQL database of the dashboard, open for questions.
#[derive(Debug)]
pub struct PostgresStore {
    questions: Pool,
    side: Pool,
    designs: Designs,
    engine: String,
    settings: Vec<(String, String)>,
    query_limit: Option<Duration>,
    concurrency: usize,
}

impl PostgresStore {
    /// Connects once to check the settings and the schema, then makes the pools.
    pub async fn open(url: &PostgresUrl, options: &Options) -> Result<Self, Error> {
        let client = engine::postgres::connect(url).await?;
        let settings = prepare_session(&client, &options.settings).await?;
        schema::check_postgres(&client).await?;
        let data = DataVersion::read_postgres(&client).await?;
        let find = "SELECT to_regclass('totals') IS NOT NULL";
        let has_totals = client.query_one(find, &[]).await?.try_get(0)?;
        let version: String = client.query_one("SHOW server_version", &[]).await?.get(0);
        let number = version.split_whitespace().next().unwrap_or_default();
        Ok(Self {
            settings,
            questions: Pool::new(url, &options.settings, options.connections)?,
            side: Pool::new(url, &options.settings, SIDE_CONNECTIONS)?,
            designs: Designs::new(options.design, data, has_totals)?,
            engine: format!("PostgreSQL {number}"),
            query_limit: options.query_limit,
            concurrency: options.connections,
        })
    }

    pub(super) fn engine(&self) -> &str {
        &self.engine
    }

    pub(super) fn design(&self) -> Design {
        self.designs.now()
    }

    pub(super) fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    pub(super) fn query_limit(&self) -> Option<Duration> {
        self.query_limit
    }

    pub(super) fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// In a task of its own: an asker who goes away must not put a busy connection back into the
    /// pool, where the next question would wait for the rest of this one.
    pub(super) async fn answer(&self, query: Query, patience: Patience) -> Result<Answer, Error> {
        let task = tokio::spawn(answer_within(
            self.questions.clone(),
            query,
            self.designs.clone(),
            patience,
        ));
        task.await.map_err(|error| database::Error::BrokenOff(error.to_string()))?
    }

    pub(super) async fn check(&self) -> Result<(), Error> {
        let client = self.side.get().await?;
        let found: Option<i32> = only_value(&client, &statement::any_row(POSTGRES)).await?;
        found.map(|_| ()).ok_or(schema::Error::Empty.into())
    }
}

const POSTGRES: Dialect = Dialect::Postgres;

/// How often is looked whether the asker is still there.
const LOOK: Duration = Duration::from_millis(100);

/// Answers; where the server has ended the connection meanwhile, on a new one.
async fn answer_within(
    pool: Pool,
    query: Query,
    designs: Designs,
    patience: Patience,
) -> Result<Answer, Error> {
    match attempt(&pool, query.clone(), &designs, &patience).await {
        Err(error) if error.is_connection_lost() => {
            pool.forget_idle();
            attempt(&pool, query, &designs, &patience).await
        }
        done => done,
    }
}

/// Answers, and stops the server's work when the patience is over.
async fn attempt(
    pool: &Pool,
    query: Query,
    designs: &Designs,
    patience: &Patience,
) -> Result<Answer, Error> {
    let mut client = patience.turn(pool.get()).await??;
    let over = async {
        while !patience.is_over() {
            tokio::select! {
                () = patience.end() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    };
    let answer = tokio::select! {
        answer = answer(&mut client, query, designs, patience) => answer,
        () = over => Err(patience.stopped().into()),
    };
    if matches!(answer, Err(Error::Database(database::Error::TooSlow { .. }))) {
        pool.stop(client).await;
    }
    answer
}

/// One statement sees one snapshot anyway; several share one by a transaction.
async fn answer(
    client: &mut Object,
    query: Query,
    designs: &Designs,
    patience: &Patience,
) -> Result<Answer, Error> {
    let is_one_statement = !designs.tries_totals()
        && query.filters.values.is_empty()
        && query.comparison.is_none()
        && !query.counts_articles_across_rows();
    if is_one_statement {
        return statements(&*client, query).await;
    }
    let snapshot = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    if designs.tries_totals() {
        let dictionary = designs.dictionary();
        let answer = answer::rollup::postgres(&snapshot, &query, dictionary, patience).await?;
        if let Some(answer) = answer {
            snapshot.commit().await?;
            designs.with_totals();
            return Ok(answer);
        }
        designs.without_totals(DataVersion::read_postgres(&*snapshot).await?)?;
    }
    let answer = statements(&snapshot, query).await?;
    snapshot.commit().await?;
    Ok(answer)
}

async fn statements(client: &impl GenericClient, query: Query) -> Result<Answer, Error> {
    let conditions = conditions(client, &query).await?;
    let mut earlier = None;
    if let Some(comparison) = query.comparison {
        let period = comparison.earlier(query.period)?;
        let mut rows = Earlier::new(&query, period);
        let push = |row: &Row<'_>| {
            rows.push(row);
            Ok(())
        };
        read_rows(client, &query, period, &conditions, push).await?;
        if query.counts_articles_across_rows() {
            rows.set_total_articles(all_articles(client, &query, period, &conditions).await?);
        }
        earlier = Some(rows);
    }
    let mut writer = AnswerWriter::new(query.clone(), earlier)?;
    let push = |row: &Row<'_>| writer.push(row);
    read_rows(client, &query, query.period, &conditions, push).await?;
    if query.counts_articles_across_rows() {
        writer.set_total_articles(all_articles(client, &query, query.period, &conditions).await?);
    }
    writer.finish(Design::Daily)
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
    conditions: &Conditions,
) -> Result<i64, Error> {
    let all = statement::answer::all_articles(query, period, conditions, POSTGRES);
    Ok(only_value(client, &all).await?.unwrap_or(0))
}

/// Hands every row of the period to `each`.
async fn read_rows(
    client: &impl GenericClient,
    query: &Query,
    period: Period,
    conditions: &Conditions,
    mut each: impl FnMut(&Row<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let statement = statement::answer::rows(query, period, conditions, POSTGRES);
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
