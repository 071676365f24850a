//! A database beside the questions: the small statements about its askers and its articles, the
//! same text for both engines, on connections that no question can occupy.

mod value;

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Object;
use engine::{DatabaseUrl, Settings};
use rusqlite::{Connection, params_from_iter};
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_postgres::types::ToSql;

pub(crate) use value::Value;

use crate::database::{Dialect, Error, PostgresPool as Pool};
use crate::schema;

/// PostgreSQL connections for each use beside the questions.
const CONNECTIONS: usize = 2;

/// A small statement that needs longer, its wait for a connection included, is given up.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// A statement with its values; parameters are `$1`, `$2` in the order of the values.
pub(crate) type Change = (&'static str, Vec<Value>);

/// A row of a result.
pub(crate) type Record = Vec<Value>;

/// A database, open for small statements. Clones share the connections.
#[derive(Debug, Clone)]
pub(crate) enum SideDatabase {
    Sqlite {
        reader: Arc<Mutex<Connection>>,
        /// Apart: it may have to wait for an import, and nobody's look-up waits with it.
        writer: Arc<Mutex<Connection>>,
    },
    Postgres(Box<Pool>),
}

impl SideDatabase {
    /// Opens the database and checks that it is a dashboard's.
    pub(crate) async fn open(database: &DatabaseUrl) -> Result<Self, schema::Error> {
        match database {
            DatabaseUrl::Sqlite(path) => {
                let reader = open_sqlite(path)?;
                schema::check_sqlite(&reader)?;
                let writer = open_sqlite(path)?;
                Ok(Self::Sqlite {
                    reader: Arc::new(Mutex::new(reader)),
                    writer: Arc::new(Mutex::new(writer)),
                })
            }
            DatabaseUrl::Postgres(url) => {
                let pool = Pool::new(url, &Settings::default(), CONNECTIONS)?;
                let client = pool.get().await?;
                let inner: &tokio_postgres::Client = &client;
                schema::check_postgres(inner).await?;
                drop(client);
                Ok(Self::Postgres(Box::new(pool)))
            }
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite { .. } => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// The rows that a statement gives.
    pub(crate) async fn rows(
        &self,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<Record>, Error> {
        self.rows_by(Instant::now() + LIMIT, sql, values).await
    }

    async fn rows_by(
        &self,
        deadline: Instant,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<Record>, Error> {
        match self {
            Self::Sqlite { reader, .. } => {
                let work = move |connection: &mut Connection| sqlite_rows(connection, sql, &values);
                by(deadline, in_background(reader, work)).await?
            }
            Self::Postgres(pool) => {
                let pool = pool.clone();
                in_task(async move {
                    match postgres_rows(&pool, deadline, sql, &values).await {
                        Err(error) if error.is_connection_lost() => {
                            pool.forget_idle();
                            postgres_rows(&pool, deadline, sql, &values).await
                        }
                        done => done,
                    }
                })
                .await
            }
        }
    }

    /// Makes the changes, all or nothing. How many rows each of them changed.
    pub(crate) async fn change(&self, changes: Vec<Change>) -> Result<Vec<u64>, Error> {
        let deadline = Instant::now() + LIMIT;
        match self {
            Self::Sqlite { writer, .. } => {
                let work = move |connection: &mut Connection| sqlite_change(connection, &changes);
                by(deadline, in_background(writer, work)).await?
            }
            Self::Postgres(pool) => {
                let pool = pool.clone();
                in_task(async move { postgres_change(&pool, deadline, &changes).await }).await
            }
        }
    }

    /// A text that is another one whenever the data, or the totals of it, may be.
    pub(crate) async fn data_version(&self) -> Result<String, Error> {
        let version = schema::version_row(self.dialect());
        let numbers = self.rows(version, Vec::new()).await?.into_iter().flatten();
        Ok(numbers.map(Value::into_text).collect::<Vec<_>>().join("-"))
    }
}

/// A connection that also writes, if the file allows it.
fn open_sqlite(path: &Path) -> Result<Connection, Error> {
    let connection = engine::sqlite::open_existing(path)?;
    engine::sqlite::pragmas(&connection, [("busy_timeout", "5000"), ("trusted_schema", "off")])?;
    Ok(connection)
}

fn sqlite_rows(connection: &Connection, sql: &str, values: &[Value]) -> Result<Vec<Record>, Error> {
    let mut prepared = connection.prepare_cached(&numbered(sql))?;
    let columns = prepared.column_count();
    let rows = prepared.query_map(params_from_iter(values), |row| {
        (0..columns).map(|column| row.get(column)).collect::<Result<Vec<Value>, _>>()
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn sqlite_change(connection: &mut Connection, changes: &[Change]) -> Result<Vec<u64>, Error> {
    // At once the writer: a transaction that becomes one later may find that it must not.
    let behaviour = rusqlite::TransactionBehavior::Immediate;
    let transaction = connection.transaction_with_behavior(behaviour)?;
    let mut counts = Vec::new();
    for (sql, values) in changes {
        let count = transaction.execute(&numbered(sql), params_from_iter(values))?;
        counts.push(count.try_into().unwrap_or(u64::MAX));
    }
    transaction.commit()?;
    Ok(counts)
}

async fn postgres_rows(
    pool: &Pool,
    deadline: Instant,
    sql: &'static str,
    values: &[Value],
) -> Result<Vec<Record>, Error> {
    let client = by(deadline, pool.get()).await??;
    let work = async {
        let prepared = client.prepare_cached(sql).await?;
        let found = client.query(&prepared, &references(values)).await?;
        let record =
            |row: &tokio_postgres::Row| (0..row.len()).map(|column| row.try_get(column)).collect();
        let records: Result<Vec<Record>, tokio_postgres::Error> =
            found.iter().map(record).collect();
        Ok::<_, Error>(records?)
    };
    let done = by(deadline, work).await;
    give_up_if_late(pool, client, done)
}

async fn postgres_change(
    pool: &Pool,
    deadline: Instant,
    changes: &[Change],
) -> Result<Vec<u64>, Error> {
    let mut client = by(deadline, pool.get()).await??;
    let work = async {
        let transaction = client.build_transaction().read_only(false).start().await?;
        let mut counts = Vec::new();
        for (sql, values) in changes {
            counts.push(transaction.execute(*sql, &references(values)).await?);
        }
        transaction.commit().await?;
        Ok::<_, Error>(counts)
    };
    let done = by(deadline, work).await;
    give_up_if_late(pool, client, done)
}

/// A connection that is still at work must not go back into the pool.
fn give_up_if_late<T>(
    pool: &Pool,
    client: Object,
    done: Result<Result<T, Error>, Error>,
) -> Result<T, Error> {
    done.unwrap_or_else(|late| {
        let pool = pool.clone();
        tokio::spawn(async move { pool.stop(client).await });
        Err(late)
    })
}

/// What `work` ends with.
pub(crate) async fn by<T>(deadline: Instant, work: impl Future<Output = T>) -> Result<T, Error> {
    tokio::time::timeout_at(deadline, work).await.map_err(|_| Error::NoAnswer)
}

/// To its end, also when the asker goes away meanwhile: the connection would else go back into the
/// pool while it is busy.
async fn in_task<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::spawn(work).await;
    done.map_err(|error| Error::BrokenOff(error.to_string()))?
}

/// `?1` for `$1`: SQLite would take the latter for a name.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

fn references(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// On a thread that may wait for a disk, when the connection is free.
async fn in_background<T: Send + 'static>(
    connection: &Arc<Mutex<Connection>>,
    work: impl FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let mut connection = connection.clone().lock_owned().await;
    let done = tokio::task::spawn_blocking(move || work(&mut connection)).await;
    done.map_err(|error| Error::BrokenOff(error.to_string()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_look_up_that_is_not_made_in_time_says_so_and_the_next_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        schema::create_sqlite(&mut engine::sqlite::create(&path).unwrap()).unwrap();
        let side = SideDatabase::open(&DatabaseUrl::Sqlite(path)).await.unwrap();
        let SideDatabase::Sqlite { reader, .. } = &side else { panic!("no file") };
        let busy = reader.clone().lock_owned().await;
        let sql = "SELECT count(*) FROM articles";
        let soon = Instant::now() + Duration::from_millis(20);
        let error = side.rows_by(soon, sql, Vec::new()).await.unwrap_err();
        assert!(matches!(error, Error::NoAnswer) && error.is_unavailable(), "{error}");
        drop(busy);
        assert_eq!(side.rows(sql, Vec::new()).await.unwrap(), [[Value::Number(0)]]);
    }
}
