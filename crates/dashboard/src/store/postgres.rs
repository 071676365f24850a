//! The dashboard in a PostgreSQL database: a pool of connections, statements prepared once for
//! each of them.

use std::pin::pin;

use deadpool_postgres::GenericClient;
use engine::PostgresUrl;
use futures_util::TryStreamExt as _;
use tokio_postgres::types::FromSqlOwned;
use tokio_postgres::{IsolationLevel, RowStream};

use super::postgres_pool::{Pool, prepare_session};
use super::{Error, Options, SIDE_CONNECTIONS, day_text};
use crate::answer::{Answer, AnswerWriter, Row};
use crate::query::{Count, Query, Refusal};
use crate::schema::{self, Dialect};
use crate::statement::{self, Design, Statement, daily};

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

    pub(super) fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// In a task of its own: an asker who goes away must not put a busy connection back into the
    /// pool, where the next question would wait for the rest of this one.
    pub(super) async fn answer(&self, query: Query) -> Result<Answer, Error> {
        let Design::Daily = self.design;
        let task = tokio::spawn(answer(self.questions.clone(), query));
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
async fn answer(pool: Pool, query: Query) -> Result<Answer, Error> {
    let mut client = pool.get().await?;
    if query.blog.is_none() && !needs_all_articles(&query) {
        return statements(&client, query).await;
    }
    let snapshot = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    let answer = statements(&snapshot, query).await?;
    snapshot.commit().await?;
    Ok(answer)
}

fn needs_all_articles(query: &Query) -> bool {
    query.count == Some(Count::Articles) && !query.grouping.partitions_articles()
}

async fn statements(client: &impl GenericClient, query: Query) -> Result<Answer, Error> {
    let blog_id = match &query.blog {
        None => None,
        Some(name) => {
            let found = only_value(client, &statement::blog_id(name, POSTGRES)).await?;
            Some(found.ok_or_else(|| Refusal::UnknownBlog { name: name.clone() })?)
        }
    };
    let mut writer = AnswerWriter::new(query.clone())?;
    let rows = run(client, &daily::rows(&query, blog_id, POSTGRES)).await?;
    write_rows(rows, &query, &mut writer).await?;
    if needs_all_articles(&query) {
        let all = daily::all_articles(&query, blog_id, POSTGRES);
        writer.set_total_articles(only_value(client, &all).await?.unwrap_or(0));
    }
    Ok(writer.finish()?)
}

async fn write_rows(
    rows: RowStream,
    query: &Query,
    writer: &mut AnswerWriter,
) -> Result<(), Error> {
    let key_is_day = statement::key_is_day(query.grouping);
    let has_label = statement::has_label(query.grouping);
    let metrics = 1 + usize::from(has_label);
    let mut rows = pin!(rows);
    while let Some(row) = rows.try_next().await? {
        let date;
        let key = if key_is_day {
            date = day_text(row.try_get(0)?)?;
            date.as_str()
        } else {
            row.try_get(0)?
        };
        writer.push(&Row {
            key,
            label: if has_label { row.try_get(1)? } else { key },
            pageviews: row.try_get(metrics)?,
            sessions: row.try_get(metrics + 1)?,
            engagement_seconds: row.try_get(metrics + 2)?,
            articles: query.count.map(|Count::Articles| row.try_get(metrics + 3)).transpose()?,
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
