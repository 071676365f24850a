//! The `rollup` design: totals kept in the database itself, so that a period of any length is
//! answered from a few rows for each article or key. Everything here follows from the facts:
//! totals can be made anew at any time, and be proved.

pub(crate) mod calendar;
mod connection;
pub(crate) mod definition;
mod fold;
mod statements;
mod verify;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::DatabaseUrl;
use indicatif::ProgressBar;
use tokio::runtime::Handle;

use crate::query::{Day, Period};
use crate::schema;
use calendar::Grain;
use connection::Connection;
use fold::{Article, Fact, Fold};

pub(crate) use definition::drop_totals;
pub use verify::{Difference, Verification};

/// Why totals cannot be made or proved.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be opened or reached.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// The database is not a dashboard's.
    #[error(transparent)]
    Schema(#[from] schema::Error),
    /// There are no tables of totals.
    #[error(
        "the database has no totals; make them with `crossover dashboard rollup rebuild`, or \
         serve it with --design daily"
    )]
    Missing,
    /// SQLite reported an error.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL reported an error.
    #[error("PostgreSQL: {}", schema::postgres_message(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The user stopped it; the database is as it was.
    #[error("interrupted: the totals are as they were")]
    Interrupted,
}

/// What the work on totals needs besides the database.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// Drives PostgreSQL's connection.
    pub runtime: &'a Handle,
    /// Days done, of those there are.
    pub progress: &'a ProgressBar,
    /// The user asked to stop.
    pub interrupted: &'a Arc<AtomicBool>,
}

impl Work<'_> {
    fn go_on(&self) -> Result<(), Error> {
        if self.interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Makes all totals anew from the facts, in one transaction. Not to be called from asynchronous
/// code: it blocks.
///
/// # Errors
/// [`Error`]; the totals are as they were then.
pub fn rebuild(target: &DatabaseUrl, work: Work<'_>) -> Result<(), Error> {
    in_transaction(target, work, |connection| {
        for statement in drop_totals().chain(definition::create(connection.dialect())) {
            connection.execute(&statement)?;
        }
        fill(connection, work)
    })?;
    settle(target, work)
}

/// Proves every total against the facts, each by a sum of its own. Blocks, as [`rebuild`].
///
/// # Errors
/// [`Error::Missing`] where there are no totals.
pub fn verify(target: &DatabaseUrl, work: Work<'_>) -> Result<Verification, Error> {
    in_transaction(target, work, |connection| verify::verify(connection, work))
}

/// Runs `use_it` in a transaction of a dashboard's database, and commits.
fn in_transaction<T>(
    target: &DatabaseUrl,
    work: Work<'_>,
    use_it: impl FnOnce(&Connection<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let outcome = match target {
        DatabaseUrl::Sqlite(path) => {
            let mut connection = engine::sqlite::open_existing(path)?;
            schema::check_sqlite(&connection)?;
            connection::interruptible(&mut connection, work.interrupted)?;
            let transaction = Connection::Sqlite(connection.transaction()?);
            let made = use_it(&transaction);
            made.and_then(|made| transaction.commit().map(|()| made))
        }
        DatabaseUrl::Postgres(url) => {
            let mut client = work.runtime.block_on(engine::postgres::connect(url))?;
            work.runtime.block_on(schema::check_postgres(&client))?;
            let transaction = work.runtime.block_on(client.transaction())?;
            let transaction = Connection::Postgres(transaction, work.runtime);
            let made = use_it(&transaction);
            made.and_then(|made| transaction.commit().map(|()| made))
        }
    };
    // Whatever broke first when the user asked to stop, stopping was the reason.
    work.go_on().and(outcome)
}

fn fill(connection: &Connection<'_>, work: Work<'_>) -> Result<(), Error> {
    work.progress.set_message("articles by day");
    connection.execute(&statements::fill_article_days())?;
    let Some(period) = days_with_traffic(connection)? else { return Ok(()) };
    let days = period.end().number() - period.start().number() + 1;
    work.progress.set_length(u64::try_from(days).unwrap_or_default());
    work.progress.set_message("totals");
    let mut fold = Fold::new(articles(connection)?);
    for month in Grain::Month.spans(period) {
        work.go_on()?;
        for (day, facts) in facts_by_day(connection, month)? {
            for (table, rows) in fold.day(day, &facts) {
                connection.insert(table, &rows)?;
            }
            work.progress.inc(1);
        }
    }
    for (table, rows) in fold.finish() {
        connection.insert(table, &rows)?;
    }
    Ok(())
}

/// Statistics for the planners, and PostgreSQL's visibility map.
fn settle(target: &DatabaseUrl, work: Work<'_>) -> Result<(), Error> {
    work.progress.set_message("statistics");
    match target {
        DatabaseUrl::Sqlite(path) => {
            engine::sqlite::open_existing(path)?.execute_batch("ANALYZE")?;
        }
        DatabaseUrl::Postgres(url) => work.runtime.block_on(async {
            let client = engine::postgres::connect(url).await?;
            for definition in &definition::TABLES {
                let vacuum = format!("VACUUM (ANALYZE) {}", definition.table.name());
                client.batch_execute(&vacuum).await?;
            }
            Ok::<_, Error>(())
        })?,
    }
    Ok(())
}

fn days_with_traffic(connection: &Connection<'_>) -> Result<Option<Period>, Error> {
    let mut days = Vec::new();
    connection.rows(statements::DAYS, &[], |row| days.extend_from_slice(row))?;
    let day = |number: Option<&i64>| Day::from_number(i32::try_from(*number?).ok()?);
    let ends = day(days.first()).zip(day(days.last()));
    Ok(ends.and_then(|(first, last)| Period::new(first, last).ok()))
}

fn articles(connection: &Connection<'_>) -> Result<HashMap<i32, Article>, Error> {
    let mut articles = HashMap::new();
    connection.rows(&statements::articles(), &[], |row| {
        let row: Vec<i32> = row.iter().filter_map(|value| i32::try_from(*value).ok()).collect();
        if let Some((id, values)) = row.split_first()
            && let Ok(values) = values.try_into()
        {
            articles.insert(*id, Article::from_values(values));
        }
    })?;
    Ok(articles)
}

fn facts_by_day(
    connection: &Connection<'_>,
    period: Period,
) -> Result<Vec<(Day, Vec<Fact>)>, Error> {
    let mut days: Vec<(Day, Vec<Fact>)> = Vec::new();
    let ends = [period.start().number(), period.end().number()];
    connection.rows(statements::FACTS, &ends, |row| {
        let Some(fact) = Fact::from_row(row) else { return };
        let Some(day) = Day::from_number(fact.day) else { return };
        match days.last_mut() {
            Some((last, facts)) if *last == day => facts.push(fact),
            _ => days.push((day, vec![fact])),
        }
    })?;
    Ok(days)
}
