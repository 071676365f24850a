//! Small statements about accounts, keys and articles, on connections that no query can occupy.

use std::borrow::Cow;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use deadpool_postgres::Object;
use engine::{DatabaseUrl, Settings};
use rusqlite::{Connection, Transaction, TransactionBehavior, params_from_iter};
use tokio::time::Instant;
use tokio_postgres::types::ToSql;

use crate::database::{
    Error, PostgresPool, PostgresSnapshot, Snapshot, SqlDialect, SqlValue, SqlitePool,
    SqliteSnapshot, ready,
};
use crate::schema::{self, DataVersion};

/// PostgreSQL connections of each [`MetadataDatabase`].
const CONNECTIONS: usize = 2;

/// The most that a small statement may take, its wait for a connection included.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// A statement with its values; parameters are `$1`, `$2` in the order of the values.
pub(crate) type MetadataChange<'a> = (&'static str, Vec<SqlValue<'a>>);

/// The values of a row.
pub(crate) type MetadataRow = Vec<SqlValue<'static>>;

/// A dashboard's database, open for small statements. Clones share the connections.
#[derive(Debug, Clone)]
pub(crate) enum MetadataDatabase {
    Sqlite {
        reader: SqlitePool,
        /// Apart: it may have to wait for an import, and look-ups do not wait with it.
        writer: SqlitePool,
    },
    Postgres(Box<PostgresPool>),
}

impl MetadataDatabase {
    /// Opens the database and checks that it is a dashboard's.
    pub(crate) async fn open(database: &DatabaseUrl) -> Result<Self, schema::Error> {
        match database {
            DatabaseUrl::Sqlite(path) => {
                let reader = open_sqlite(path)?;
                schema::check_sqlite(&reader)?;
                let writer = open_sqlite(path)?;
                Ok(Self::Sqlite {
                    reader: SqlitePool::of(vec![reader]),
                    writer: SqlitePool::of(vec![writer]),
                })
            }
            DatabaseUrl::Postgres(url) => {
                let pool = PostgresPool::new(url, &Settings::default(), CONNECTIONS)?;
                let client = pool.get().await?;
                let inner: &tokio_postgres::Client = &client;
                schema::check_postgres(inner).await?;
                drop(client);
                Ok(Self::Postgres(Box::new(pool)))
            }
        }
    }

    pub(crate) fn dialect(&self) -> SqlDialect {
        match self {
            Self::Sqlite { .. } => SqlDialect::Sqlite,
            Self::Postgres(_) => SqlDialect::Postgres,
        }
    }

    pub(crate) async fn rows(
        &self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<SqlValue<'_>>,
    ) -> Result<Vec<MetadataRow>, Error> {
        self.rows_by(Instant::now() + LIMIT, sql.into(), values).await
    }

    async fn rows_by(
        &self,
        end: Instant,
        sql: Cow<'static, str>,
        values: Vec<SqlValue<'_>>,
    ) -> Result<Vec<MetadataRow>, Error> {
        let values = owned(values);
        match self {
            Self::Sqlite { reader, .. } => {
                let work = move |connection: &Connection| {
                    ready(records(&SqliteSnapshot::new(connection), &sql, &values))
                };
                by(end, reader.run(work)).await?
            }
            Self::Postgres(pool) => {
                let pool = pool.clone();
                in_task(async move {
                    match postgres_rows(&pool, end, &sql, &values).await {
                        Err(error) if error.is_connection_lost() => {
                            pool.forget_idle();
                            postgres_rows(&pool, end, &sql, &values).await
                        }
                        done => done,
                    }
                })
                .await
            }
        }
    }

    /// Makes the changes, all or nothing; the number of rows that each of them changed.
    pub(crate) async fn change(&self, changes: Vec<MetadataChange<'_>>) -> Result<Vec<u64>, Error> {
        let end = Instant::now() + LIMIT;
        let changes: Vec<_> = changes.into_iter().map(|(sql, it)| (sql, owned(it))).collect();
        match self {
            Self::Sqlite { writer, .. } => {
                let work = move |connection: &Connection| sqlite_change(connection, &changes);
                by(end, writer.run(work)).await?
            }
            Self::Postgres(pool) => {
                let pool = pool.clone();
                in_task(async move { postgres_change(&pool, end, &changes).await }).await
            }
        }
    }

    pub(crate) async fn data_version(&self) -> Result<DataVersion, Error> {
        let rows = self.rows(schema::version_row(self.dialect()), Vec::new()).await?;
        Ok(rows.first().map(|row| DataVersion::from_values(row)).unwrap_or_default())
    }
}

fn owned(values: Vec<SqlValue<'_>>) -> MetadataRow {
    values.into_iter().map(SqlValue::into_owned).collect()
}

/// A connection that also writes, if the file allows it.
fn open_sqlite(path: &Path) -> Result<Connection, Error> {
    let connection = connect::sqlite::open_existing(path)?;
    connect::sqlite::pragmas(&connection, [("busy_timeout", "5000"), ("trusted_schema", "off")])?;
    Ok(connection)
}

async fn records(
    snapshot: &impl Snapshot,
    sql: &str,
    values: &[SqlValue<'_>],
) -> Result<Vec<MetadataRow>, Error> {
    let mut records = Vec::new();
    let each = |row: crate::database::SqlRow<'_>| {
        records.push(row.values()?);
        Ok::<_, Error>(())
    };
    snapshot.rows(sql, values, each).await?;
    Ok(records)
}

fn sqlite_change(
    connection: &Connection,
    changes: &[MetadataChange<'_>],
) -> Result<Vec<u64>, Error> {
    // At once the writer: a transaction that becomes one later may find that it must not.
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let mut counts = Vec::new();
    for (sql, values) in changes {
        let count = transaction.execute(sql, params_from_iter(values))?;
        counts.push(count.try_into().unwrap_or(u64::MAX));
    }
    transaction.commit()?;
    Ok(counts)
}

async fn postgres_rows(
    pool: &PostgresPool,
    end: Instant,
    sql: &str,
    values: &[SqlValue<'_>],
) -> Result<Vec<MetadataRow>, Error> {
    let client = by(end, pool.get()).await??;
    let done = by(end, records(&PostgresSnapshot(&client), sql, values)).await;
    give_up_if_late(pool, client, done)
}

async fn postgres_change(
    pool: &PostgresPool,
    end: Instant,
    changes: &[MetadataChange<'_>],
) -> Result<Vec<u64>, Error> {
    let mut client = by(end, pool.get()).await??;
    let work = async {
        let transaction = client.build_transaction().read_only(false).start().await?;
        let mut counts = Vec::new();
        for (sql, values) in changes {
            let values: Vec<&(dyn ToSql + Sync)> =
                values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
            counts.push(transaction.execute(*sql, &values).await?);
        }
        transaction.commit().await?;
        Ok::<_, Error>(counts)
    };
    let done = by(end, work).await;
    give_up_if_late(pool, client, done)
}

/// A connection that is still at work must not go back into the pool.
fn give_up_if_late<T>(
    pool: &PostgresPool,
    client: Object,
    done: Result<Result<T, Error>, Error>,
) -> Result<T, Error> {
    done.unwrap_or_else(|late| {
        let pool = pool.clone();
        tokio::spawn(async move { pool.stop(client).await });
        Err(late)
    })
}

/// The result of `work`, if it is there by `end`.
pub(crate) async fn by<T>(end: Instant, work: impl Future<Output = T>) -> Result<T, Error> {
    tokio::time::timeout_at(end, work).await.map_err(|_| Error::NoAnswer)
}

/// Runs `work` to its end even if the caller is dropped: the connection would go back into the
/// pool while it is busy.
async fn in_task<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::spawn(work).await;
    done.map_err(|error| Error::BrokenOff(error.to_string()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_late_look_up_says_so_and_the_next_one_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        schema::create_sqlite(&mut connect::sqlite::create(&path).unwrap()).unwrap();
        let metadata = MetadataDatabase::open(&DatabaseUrl::Sqlite(path)).await.unwrap();
        let MetadataDatabase::Sqlite { reader, .. } = &metadata else { panic!("no file") };
        let busy = reader.permit().await.unwrap();
        let sql = "SELECT count(*) FROM articles";
        let soon = Instant::now() + Duration::from_millis(20);
        let error = metadata.rows_by(soon, sql.into(), Vec::new()).await.unwrap_err();
        assert!(matches!(error, Error::NoAnswer) && error.is_unavailable(), "{error}");
        drop(busy);
        assert_eq!(metadata.rows(sql, Vec::new()).await.unwrap(), [[SqlValue::Integer(0)]]);
    }
}
