//! `dashboard init`: the empty schema in a new file or in an existing database.

use engine::DatabaseUrl;
use tokio::runtime::Handle;

use crate::database::{self, from_clients};
use crate::new_file::{self, NewFile};
use crate::schema::{self, create_postgres, create_sqlite};

/// Makes the whole empty schema: in a new SQLite file, in an existing one without our tables, or
/// in a PostgreSQL database without them. Not to be called from asynchronous code: it blocks.
pub fn initialise(target: &DatabaseUrl, runtime: &Handle) -> Result<(), Error> {
    match target {
        DatabaseUrl::Sqlite(path) if path.exists() => {
            Ok(create_sqlite(&mut connect::sqlite::create(path)?)?)
        }
        DatabaseUrl::Sqlite(path) => {
            let file = NewFile::begin(path, false)?;
            create_sqlite(&mut connect::sqlite::create(file.path())?)?;
            file.finish()?;
            Ok(())
        }
        DatabaseUrl::Postgres(url) => runtime.block_on(async {
            Ok(create_postgres(&mut connect::postgres::connect(url).await?).await?)
        }),
    }
}

/// Reasons why a database did not get the schema; it is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Schema(#[from] schema::Error),
    #[error(transparent)]
    Database(#[from] database::Error),
    #[error(transparent)]
    NewFile(#[from] new_file::Error),
}

from_clients!(Error);
