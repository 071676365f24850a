//! `dashboard upgrade`: numbered steps from the schema of an older program to this one's, each in
//! one transaction. The only way back is the backup that is made first.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use engine::DatabaseUrl;
use rusqlite::{Connection, TransactionBehavior};

use crate::backup;
use crate::database::postgres_message;
use crate::rollup::{self, CommandWork};
use crate::schema::version::{self, SchemaVersion};
use crate::schema::{self, Declarations, VERSION};

/// A step from the version before to `to`. Its statements are those that its own program would
/// have used, so they never follow a later definition; the last one stores the version.
struct UpgradeStep {
    to: i32,
    sqlite: &'static str,
    postgres: &'static str,
}

/// One step for each version but the first: a new version cannot be compiled without its step.
const STEPS: [UpgradeStep; VERSION as usize - 1] = [
    UpgradeStep {
        to: 2,
        sqlite: include_str!("to_2.sqlite.sql"),
        postgres: include_str!("to_2.postgres.sql"),
    },
    UpgradeStep { to: 3, sqlite: include_str!("to_3.sql"), postgres: include_str!("to_3.sql") },
    UpgradeStep {
        to: 4,
        sqlite: include_str!("to_4.sqlite.sql"),
        postgres: include_str!("to_4.postgres.sql"),
    },
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgraded {
    pub from: i32,
    /// The copy of the SQLite file before the upgrade; none if there was nothing to do.
    pub backup: Option<PathBuf>,
}

/// Upgrades a dashboard's database to this program's schema. Killed at any time, it leaves a
/// database of one version or the next, and goes on when it is called again. Blocks.
///
/// # Errors
/// [`Error`]; no step is done in part.
pub fn upgrade(target: &DatabaseUrl, work: CommandWork<'_>) -> Result<Upgraded, Error> {
    let upgraded = match target {
        DatabaseUrl::Sqlite(path) => upgrade_sqlite(path, work)?,
        DatabaseUrl::Postgres(url) => upgrade_postgres(url, work)?,
    };
    // A file as found has no totals; it is repaired before it is served.
    let has_totals = match target {
        DatabaseUrl::Sqlite(path) => declarations(path)? == Declarations::Own,
        DatabaseUrl::Postgres(_) => true,
    };
    if has_totals {
        rollup::renew(target, work).map_err(|error| Error::Totals(Box::new(error)))?;
    }
    Ok(upgraded)
}

fn upgrade_sqlite(path: &Path, work: CommandWork<'_>) -> Result<Upgraded, Error> {
    let mut connection = connect::sqlite::open_existing(path)?;
    connect::sqlite::pragmas(&connection, [("busy_timeout", "10000")])?;
    let from = known(version::of_sqlite(&connection)?)?;
    if from == VERSION {
        return Ok(Upgraded { from, backup: None });
    }
    let copy = free_name(path, from);
    backup::sqlite(path, &copy, work.progress, work.interrupted)
        .map_err(|error| Error::Backup(Box::new(error)))?;
    for step in &STEPS {
        go_on(work)?;
        work.progress.set_message(format!("to version {}", step.to));
        step_sqlite(&mut connection, step)?;
    }
    Ok(Upgraded { from, backup: Some(copy) })
}

fn declarations(path: &Path) -> Result<Declarations, Error> {
    Ok(schema::sqlite_declarations(&connect::sqlite::open_existing(path)?)?)
}

/// Does the step unless another program was quicker.
fn step_sqlite(connection: &mut Connection, step: &UpgradeStep) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if known(version::of_sqlite(&transaction)?)? < step.to {
        transaction.execute_batch(step.sqlite)?;
        transaction.commit()?;
    }
    Ok(())
}

fn upgrade_postgres(url: &engine::PostgresUrl, work: CommandWork<'_>) -> Result<Upgraded, Error> {
    work.runtime.block_on(async {
        let mut client = connect::postgres::connect(url).await?;
        let from = known(version::of_postgres(&client).await?)?;
        for step in &STEPS {
            go_on(work)?;
            let transaction = client.transaction().await?;
            // Another program may be at the same work.
            transaction.batch_execute("LOCK TABLE schema_version").await?;
            if known(version::of_postgres(&transaction).await?)? < step.to {
                work.progress.set_message(format!("to version {}", step.to));
                transaction.batch_execute(step.postgres).await?;
                transaction.commit().await?;
            }
        }
        schema::check_postgres(&client).await?;
        Ok(Upgraded { from, backup: None })
    })
}

/// The version to begin from.
fn known(version: SchemaVersion) -> Result<i32, Error> {
    match version {
        SchemaVersion::Known(found) if found > VERSION => {
            Err(schema::Error::Newer { found }.into())
        }
        SchemaVersion::Known(found) => Ok(found),
        SchemaVersion::Unknown => Err(schema::Error::NoVersion.into()),
        SchemaVersion::Absent => Err(schema::Error::Empty.into()),
    }
}

fn go_on(work: CommandWork<'_>) -> Result<(), Error> {
    if work.interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// `dashboard.version-2.db` for `dashboard.db`, with a number if that name is taken.
fn free_name(path: &Path, version: i32) -> PathBuf {
    let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let name = |suffix: String| {
        let mut name = path.with_extension(format!("version-{version}{suffix}"));
        if !extension.is_empty() {
            let mut whole = name.into_os_string();
            whole.push(format!(".{extension}"));
            name = whole.into();
        }
        name
    };
    let numbered = (2..).map(|number| name(format!("-{number}")));
    let mut names = std::iter::once(name(String::new())).chain(numbered);
    names.find(|name| name.symlink_metadata().is_err()).unwrap_or_else(|| name(String::new()))
}

/// Why a database was not upgraded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The copy that is made first failed.
    #[error("nothing was changed, since no backup could be made: {0}")]
    Backup(Box<backup::Error>),
    /// The user asked to stop.
    #[error("interrupted; run `crossover dashboard upgrade` again to go on")]
    Interrupted,
    /// The database cannot be opened or reached.
    #[error(transparent)]
    Engine(Box<connect::Error>),
    /// The database is not a dashboard's, or a newer one's.
    #[error(transparent)]
    Schema(#[from] schema::Error),
    /// SQLite refused a step, which was rolled back.
    #[error("SQLite: {0}; this step left the database unchanged")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL refused a step, which was rolled back.
    #[error("PostgreSQL: {}; this step left the database unchanged", postgres_message(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The schema is upgraded, but the totals could not be made.
    #[error(
        "the schema is upgraded, but its totals are not made: {0}; make them with `crossover \
         dashboard rollup rebuild`"
    )]
    Totals(Box<rollup::Error>),
}

impl From<connect::Error> for Error {
    fn from(error: connect::Error) -> Self {
        Self::Engine(Box::new(error))
    }
}
