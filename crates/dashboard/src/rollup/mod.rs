//! The `rollup` design: totals kept in the database itself, so that a period of any length is
//! answered from a few totals for each article or key. They follow from the facts, so they can be
//! rebuilt and verified at any time.

pub(crate) mod calendar;
pub(crate) mod definition;
pub(crate) mod dictionary;
mod fold;
pub(crate) mod maintain;
pub(crate) mod page;
pub(crate) mod statements;
mod verify;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::DatabaseUrl;
use indicatif::ProgressBar;
use rusqlite::config::DbConfig;
use tokio::runtime::Handle;

use crate::database::{
    self, CommandConnection, CommandTransaction, SqlDialect, SqlValue, from_clients,
    stop_when_interrupted,
};
use crate::imported_days::{self, DayState};
use crate::query::{Day, Period};
use crate::schema::{self, create_totals, find_totals};
use calendar::Grain;
use definition::grain_number;
use fold::{Blogs, DayTotals, Fold, Page};
use page::{PageEntry, TotalSums};

pub use verify::{TotalsDifference, TotalsVerification};

/// Why totals cannot be made, proved or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database is not a dashboard's.
    #[error(transparent)]
    Schema(#[from] schema::Error),
    #[error(
        "the database has no totals; make them with `crossover dashboard rollup rebuild`, or \
         serve it with --design daily"
    )]
    Missing,
    /// The totals are those of other data.
    #[error(
        "the data was changed by another program than crossover since its totals were made; make \
         them again with `crossover dashboard rollup rebuild`, or serve it with --design daily"
    )]
    Stale,
    /// A page of totals cannot be read.
    #[error(
        "the totals of {day} are damaged; make them again with `crossover dashboard rollup rebuild`"
    )]
    Damaged {
        /// The first day of the span.
        day: i32,
    },
    /// An engine reported an error.
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The user stopped it; the database is unchanged.
    #[error("interrupted: the totals are unchanged")]
    Interrupted,
}

from_clients!(Error);

/// The surroundings of a command's work: runtime, progress, interruption.
#[derive(Debug, Clone, Copy)]
pub struct CommandWork<'a> {
    pub runtime: &'a Handle,
    /// Days done, of those there are.
    pub progress: &'a ProgressBar,
    /// The user asked to stop.
    pub interrupted: &'a Arc<AtomicBool>,
}

impl CommandWork<'_> {
    fn go_on(&self) -> Result<(), Error> {
        go_on(self.interrupted)
    }
}

fn go_on(interrupted: &AtomicBool) -> Result<(), Error> {
    if interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// Rebuilds all totals from the facts, in one transaction. Not to be called from asynchronous
/// code: it blocks.
///
/// # Errors
/// [`Error`]; the totals are unchanged then.
pub fn rebuild(target: &DatabaseUrl, work: CommandWork<'_>) -> Result<(), Error> {
    connected(target, work, |it| it.write(|transaction| rebuild_in(transaction, work)))?;
    if let DatabaseUrl::Postgres(url) = target {
        work.progress.set_message("statistics");
        work.runtime.block_on(async {
            let client = connect::postgres::connect(url).await?;
            client.batch_execute("VACUUM (ANALYZE) totals").await.map_err(Error::from)
        })?;
    }
    Ok(())
}

/// Rebuilds the totals, if there is a table for them and they are not those of the data.
pub(crate) fn renew(target: &DatabaseUrl, work: CommandWork<'_>) -> Result<(), Error> {
    let renew = |transaction: &CommandTransaction<'_>| match exists(transaction)? {
        true => rebuild_if_stale(transaction, work),
        false => Ok(()),
    };
    connected(target, work, |it| it.write(renew))
}

/// Verifies every total against the facts, each by a sum of its own, in one state of the database
/// that others go on changing. Blocks, as [`rebuild`].
///
/// # Errors
/// [`Error::Missing`] where there are no totals.
pub fn verify(target: &DatabaseUrl, work: CommandWork<'_>) -> Result<TotalsVerification, Error> {
    connected(target, work, |it| it.read(|transaction| verify::verify(transaction, work)))
}

/// Runs `use_it` with a connection to a dashboard's database.
fn connected<T>(
    target: &DatabaseUrl,
    work: CommandWork<'_>,
    use_it: impl FnOnce(&mut CommandConnection<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut connection = CommandConnection::open(target, work.runtime)?;
    schema::check(&connection)?;
    if let Some(connection) = connection.sqlite() {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        stop_when_interrupted(connection, work.interrupted)?;
    }
    let outcome = use_it(&mut connection);
    // Whatever broke first when the user asked to stop, stopping was the reason.
    work.go_on().and(outcome)
}

/// Whether the table of totals is there.
pub(crate) fn exists(transaction: &CommandTransaction<'_>) -> Result<bool, database::Error> {
    let find = find_totals(transaction.dialect());
    Ok(transaction.integer(find, &[])? == Some(1))
}

/// Makes the table of totals, empty.
pub(crate) fn make(transaction: &CommandTransaction<'_>) -> Result<(), database::Error> {
    create_totals(transaction.dialect())
        .iter()
        .try_for_each(|statement| transaction.batch(statement))
}

/// Rebuilds all totals unless they are those of the data, in the caller's transaction.
pub(crate) fn rebuild_if_stale(
    transaction: &CommandTransaction<'_>,
    work: CommandWork<'_>,
) -> Result<(), Error> {
    let agree = maintain::version(transaction)?.agrees() && exists(transaction)?;
    if agree { Ok(()) } else { rebuild_in(transaction, work) }
}

fn rebuild_in(transaction: &CommandTransaction<'_>, work: CommandWork<'_>) -> Result<(), Error> {
    if !exists(transaction)? {
        make(transaction)?;
    }
    refill(transaction, work)
}

/// Refills the table of totals, in the caller's transaction.
pub(crate) fn refill(
    transaction: &CommandTransaction<'_>,
    work: CommandWork<'_>,
) -> Result<(), Error> {
    transaction.batch("DELETE FROM totals")?;
    fill(transaction, work.progress, work.interrupted)
}

/// Fills the empty table with the totals of all facts, and notes that they agree. Days whose facts
/// another program wrote are complete as far as is known.
pub(crate) fn fill(
    transaction: &CommandTransaction<'_>,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<(), Error> {
    lock(transaction)?;
    if let Some(period) = days_with_traffic(transaction)? {
        let days = period.end().number() - period.start().number() + 1;
        progress.set_position(0);
        progress.set_length(u64::try_from(days).unwrap_or_default());
        progress.set_message("totals");
        let blogs = blogs(transaction)?;
        let (mut fold, mut found) = (Fold::new(), Vec::new());
        for month in Grain::Month.spans(period) {
            go_on(interrupted)?;
            for (day, facts) in facts_by_day(transaction, month)? {
                let totals = DayTotals::new(facts, &blogs);
                let blogs = totals.blogs_with_facts().into_iter();
                found.extend(blogs.map(|blog| (blog, day, DayState::Complete)));
                for page in fold.day(day, &totals) {
                    write_page(transaction, &page)?;
                }
                progress.inc(1);
            }
        }
        for page in fold.finish() {
            write_page(transaction, &page)?;
        }
        imported_days::mark_unknown(transaction, found.into_iter())?;
    }
    transaction.execute(statements::TOTALS_AGREE, &[])?;
    Ok(())
}

/// SQLite's transaction has been the only writer since it began.
fn lock(transaction: &CommandTransaction<'_>) -> Result<(), database::Error> {
    match transaction.dialect() {
        SqlDialect::Sqlite => Ok(()),
        SqlDialect::Postgres => transaction.integer(statements::LOCK, &[]).map(|_| ()),
    }
}

/// Writes a page, or removes it where no total is left.
fn write_page(
    transaction: &CommandTransaction<'_>,
    (kind, grain, day, entries): &Page,
) -> Result<(), database::Error> {
    let key = [kind.number().into(), grain_number(*grain).into(), day.number().into()];
    if entries.is_empty() {
        transaction.execute(statements::REMOVE_PAGE, &key)?;
    } else {
        let content = page::encode(entries);
        let [kind, grain, day] = key;
        let values = [kind, grain, day, SqlValue::Bytes(content.into())];
        transaction.execute(statements::WRITE_PAGE, &values)?;
    }
    Ok(())
}

fn days_with_traffic(transaction: &CommandTransaction<'_>) -> Result<Option<Period>, Error> {
    let mut ends = None;
    transaction.rows(statements::DAYS, &[], |row| {
        let day = |place| -> Result<Option<Day>, database::Error> {
            let number = row.optional_integer(place)?;
            Ok(number.and_then(|number| Day::from_number(i32::try_from(number).ok()?)))
        };
        ends = day(0)?.zip(day(1)?);
        Ok::<_, Error>(())
    })?;
    Ok(ends.and_then(|(first, last)| Period::new(first, last).ok()))
}

fn blogs(transaction: &CommandTransaction<'_>) -> Result<Blogs, database::Error> {
    let mut blogs = Blogs::new();
    transaction.rows(statements::ARTICLES, &[], |row| {
        blogs.insert(row.small(0)?, row.small(1)?);
        Ok::<_, database::Error>(())
    })?;
    Ok(blogs)
}

/// The facts of each day of a period that has any, in the order of their key.
fn facts_by_day(
    transaction: &CommandTransaction<'_>,
    period: Period,
) -> Result<Vec<(Day, Vec<PageEntry>)>, database::Error> {
    let mut days: Vec<(Day, Vec<PageEntry>)> = Vec::new();
    let ends = [period.start().number().into(), period.end().number().into()];
    transaction.rows(statements::FACTS, &ends, |row| {
        let Some(day) = Day::from_number(row.small(0)?) else { return Ok(()) };
        let metrics = [row.integer(3)?, row.integer(4)?, row.integer(5)?];
        let sums = TotalSums { facts: 1, metrics };
        let fact = PageEntry { key: (row.small(1)?, row.small(2)?), sums };
        match days.last_mut() {
            Some((last, facts)) if *last == day => facts.push(fact),
            _ => days.push((day, vec![fact])),
        }
        Ok::<_, database::Error>(())
    })?;
    Ok(days)
}
