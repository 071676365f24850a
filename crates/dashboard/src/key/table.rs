//! The table of the keys, in whichever engine holds it, for the one command that changes it.

use engine::DatabaseUrl;
use rusqlite::params_from_iter;
use tokio_postgres::types::ToSql;

use super::{Error, KeyHash, ListedKey};
use crate::schema::{self, Dialect};
use crate::statement::{Bound, Statement, key};

/// A connection to the database whose keys are to be changed.
pub(super) enum KeyTable {
    Sqlite(rusqlite::Connection),
    Postgres(tokio_postgres::Client),
}

impl KeyTable {
    pub(super) async fn open(database: &DatabaseUrl) -> Result<Self, Error> {
        match database {
            DatabaseUrl::Sqlite(path) => {
                let connection = engine::sqlite::open_existing(path)?;
                engine::sqlite::pragmas(&connection, [("busy_timeout", "5000")])?;
                schema::check_sqlite(&connection)?;
                Ok(Self::Sqlite(connection))
            }
            DatabaseUrl::Postgres(url) => {
                let client = engine::postgres::connect(url).await?;
                schema::check_postgres(&client).await?;
                Ok(Self::Postgres(client))
            }
        }
    }

    pub(super) async fn list(&self) -> Result<Vec<ListedKey>, Error> {
        let statement = key::list(self.dialect());
        match self {
            Self::Sqlite(connection) => {
                let mut prepared = connection.prepare(&statement.sql)?;
                let rows = prepared.query_map(params_from_iter(statement.bound()), |row| {
                    Ok(ListedKey {
                        name: row.get(0)?,
                        created_at: row.get(1)?,
                        revoked_at: row.get(2)?,
                    })
                })?;
                Ok(rows.collect::<Result<_, _>>()?)
            }
            Self::Postgres(client) => {
                let rows = client.query(&statement.sql, &[]).await?;
                rows.iter()
                    .map(|row| {
                        Ok(ListedKey {
                            name: row.try_get(0)?,
                            created_at: row.try_get(1)?,
                            revoked_at: row.try_get(2)?,
                        })
                    })
                    .collect()
            }
        }
    }

    pub(super) async fn add(&mut self, name: &str, hash: &KeyHash, at: i32) -> Result<(), Error> {
        self.execute(&key::add(name, hash.as_str(), at, self.dialect())).await
    }

    pub(super) async fn revoke(&mut self, name: &str, at: i32) -> Result<(), Error> {
        self.execute(&key::revoke(name, at, self.dialect())).await
    }

    async fn execute(&self, statement: &Statement) -> Result<(), Error> {
        match self {
            Self::Sqlite(connection) => {
                connection.execute(&statement.sql, params_from_iter(statement.bound()))?;
            }
            Self::Postgres(client) => {
                let bound: Vec<Bound<'_>> = statement.bound().collect();
                let values: Vec<&(dyn ToSql + Sync)> =
                    bound.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
                client.execute(&statement.sql, &values).await?;
            }
        }
        Ok(())
    }

    fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }
}
