//! Queries of a PostgreSQL database: a pool of connections, statements prepared once for each of
//! them.

use std::time::Duration;

use deadpool_postgres::Object;
use engine::PostgresUrl;
use tokio_postgres::IsolationLevel;

use super::Options;
use crate::answer::{Designs, Error, QueryAnswer, answer};
use crate::database::{self, Deadline, PostgresPool, PostgresSnapshot, prepare_session};
use crate::query::Query;

/// The time between two looks whether the caller still waits.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct PostgresQueries {
    pool: PostgresPool,
}

impl PostgresQueries {
    /// Connects once to check the settings, then makes the pool. Also the version of the server
    /// and the settings, as read back.
    pub async fn open(
        url: &PostgresUrl,
        options: &Options,
    ) -> Result<(Self, String, Vec<(String, String)>), Error> {
        let client = connect::postgres::connect(url).await?;
        let settings = prepare_session(&client, &options.settings).await?;
        let version: String = client.query_one("SHOW server_version", &[]).await?.get(0);
        let number = version.split_whitespace().next().unwrap_or_default().to_owned();
        let pool = PostgresPool::new(url, &options.settings, options.connections)?;
        Ok((Self { pool }, number, settings))
    }

    /// Answers in a task of its own: if the caller is dropped, a busy connection must not go back
    /// into the pool, where the next query would wait for the rest of this one.
    pub async fn answer(
        &self,
        query: Query,
        designs: &Designs,
        deadline: Deadline,
    ) -> Result<QueryAnswer, Error> {
        let (pool, designs) = (self.pool.clone(), designs.clone());
        let task = tokio::spawn(async move {
            match attempt(&pool, query.clone(), &designs, &deadline).await {
                Err(error) if error.is_connection_lost() => {
                    pool.forget_idle();
                    attempt(&pool, query, &designs, &deadline).await
                }
                done => done,
            }
        });
        task.await.map_err(|error| database::Error::BrokenOff(error.to_string()))?
    }
}

/// Answers, and stops the server's work at the deadline.
async fn attempt(
    pool: &PostgresPool,
    query: Query,
    designs: &Designs,
    deadline: &Deadline,
) -> Result<QueryAnswer, Error> {
    let mut client = deadline.permit(pool.get()).await??;
    let over = async {
        while !deadline.is_over() {
            tokio::select! {
                () = deadline.end() => {}
                () = tokio::time::sleep(LOOK_INTERVAL) => {}
            }
        }
    };
    let answer = tokio::select! {
        answer = on_snapshot(&mut client, query, designs, deadline) => answer,
        () = over => Err(deadline.stopped().into()),
    };
    if matches!(answer, Err(Error::Database(database::Error::TooSlow { .. }))) {
        pool.stop(client).await;
    }
    answer
}

/// One statement sees one snapshot anyway; several share one by a transaction.
async fn on_snapshot(
    client: &mut Object,
    query: Query,
    designs: &Designs,
    deadline: &Deadline,
) -> Result<QueryAnswer, Error> {
    let is_one_statement = !designs.tries_totals()
        && query.filters.values.is_empty()
        && query.comparison.is_none()
        && !query.states
        && !query.counts_articles_across_rows();
    if is_one_statement {
        return answer(&PostgresSnapshot(&*client), query, designs, deadline).await;
    }
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    let answer = answer(&PostgresSnapshot(&transaction), query, designs, deadline).await?;
    transaction.commit().await?;
    Ok(answer)
}
