//! Pools of PostgreSQL connections by deadpool: a lost connection is replaced by a new one, and
//! every new one gets the same session settings.

use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, PoolError, RecyclingMethod, Runtime,
};
use engine::{PostgresUrl, Settings};
use tokio_postgres::{Client, Config};

use super::Error;

/// The most that the making of a new connection may take.
const WAIT_SECONDS: u64 = 30;

/// Prepared statements of a connection. Each number of filter values is another one, and the server
/// keeps a plan of each.
const PREPARED_STATEMENTS: usize = 256;

/// Our own session settings, for the releases that know them.
///
/// - `plan_cache_mode` (12 and later): after five executions PostgreSQL may replace the plan made
///   for the values by a generic one. That guesses half a percent of the days, which is right for
///   a few days and wrong for a year.
/// - `default_transaction_read_only`: queries change nothing.
const SESSION: [(&str, &str); 2] =
    [("plan_cache_mode", "force_custom_plan"), ("default_transaction_read_only", "on")];

#[derive(Debug, Clone)]
pub(crate) struct PostgresPool {
    pool: deadpool_postgres::Pool,
    config: Config,
    url: PostgresUrl,
}

impl PostgresPool {
    /// A pool of at most `size` connections, each made when it is first needed.
    pub(crate) fn new(url: &PostgresUrl, settings: &Settings, size: usize) -> Result<Self, Error> {
        let config = connect::postgres::config(url)?;
        let manager = Manager::from_config(
            config.clone(),
            connect::postgres::tls(url)?,
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let settings = settings.clone();
        let limit = Some(Duration::from_secs(WAIT_SECONDS));
        let pool = deadpool_postgres::Pool::builder(manager)
            .max_size(size)
            .runtime(Runtime::Tokio1)
            .create_timeout(limit)
            .wait_timeout(None)
            .post_create(Hook::async_fn(move |client, _| {
                let settings = settings.clone();
                Box::pin(async move {
                    let applied = prepare_session(client, &settings).await;
                    applied.map(|_| ()).map_err(|error| HookError::message(error.to_string()))
                })
            }))
            .build()
            .map_err(|error| Error::BrokenOff(error.to_string()))?;
        Ok(Self { pool, config, url: url.clone() })
    }

    /// A connection, when its turn comes.
    pub(crate) async fn get(&self) -> Result<Object, Error> {
        let client = self.pool.get().await.map_err(|error| match error {
            PoolError::Timeout(_) => Error::NoConnection { seconds: WAIT_SECONDS },
            PoolError::Backend(error) => connect::postgres::explain(&self.config, &error).into(),
            other => Error::BrokenOff(other.to_string()),
        })?;
        if client.statement_cache.size() > PREPARED_STATEMENTS {
            client.statement_cache.clear();
        }
        Ok(client)
    }

    /// Drops the idle connections: one that was lost is rarely the only one.
    pub(crate) fn forget_idle(&self) {
        self.pool.retain(|_, _| false);
    }

    /// Cancels the work of a connection and closes it: a cancellation that arrives late must not hit
    /// the next query.
    pub(crate) async fn stop(&self, client: Object) {
        let client = Object::take(client);
        let cancelled = async {
            let tls = connect::postgres::tls(&self.url)?;
            Ok::<_, Error>(client.cancel_token().cancel_query(tls).await?)
        };
        if let Err(error) = cancelled.await {
            tracing::warn!("cannot stop a query in PostgreSQL: {error}");
        }
    }
}

/// Our own settings where the server has them, then those asked for; all as read back.
pub(crate) async fn prepare_session(
    client: &Client,
    settings: &Settings,
) -> Result<Vec<(String, String)>, Error> {
    let mut read_back = Vec::new();
    for (name, value) in SESSION {
        let set = "SELECT set_config(name, $2, false) FROM pg_settings WHERE name = $1";
        if let Some(row) = client.query_opt(set, &[&name, &value]).await? {
            read_back.push((name.to_owned(), row.try_get(0)?));
        }
    }
    let asked_for = connect::postgres::apply_session_settings(client, settings.iter()).await?;
    read_back.retain(|(name, _)| settings.get(name).is_none());
    read_back.extend(asked_for);
    Ok(read_back)
}
