//! Pages as the engines give them, in one snapshot with what they belong to.

use std::pin::pin;
use std::sync::Arc;

use deadpool_postgres::GenericClient;
use engine::SqliteCounters;
use futures_util::TryStreamExt as _;
use rusqlite::Connection;

use super::Summation;
use crate::answer::{Answer, AnswerWriter, Earlier};
use crate::query::{Period, Query};
use crate::rollup::dictionary::{Cache, Dictionary, Reader};
use crate::rollup::statements::PAGES;
use crate::schema::{DataVersion, Dialect, version_row};
use crate::statement::Design;
use crate::store::Error;
use crate::transaction::{self, Row};

/// The answer from the totals of a SQLite file, by a connection that is in a transaction; none
/// where the totals are not those of the data.
///
/// # Errors
/// A question at fault, or SQLite's.
pub(crate) fn sqlite(
    snapshot: &Connection,
    query: &Query,
    cache: &Cache,
    counters: &mut SqliteCounters,
) -> Result<Option<Answer>, Error> {
    let version = DataVersion::read_sqlite(snapshot)?;
    if !version.agrees() {
        return Ok(None);
    }
    let dictionary = match cache.get(version) {
        Some(dictionary) => dictionary,
        None => sqlite_dictionary(snapshot, version, cache)?,
    };
    let mut add_up = |period: Period| {
        let mut summation = Summation::new(query, &dictionary)?;
        let mut prepared = snapshot.prepare_cached(PAGES)?;
        for read in summation.reads(period) {
            let mut rows = prepared.query(read)?;
            while let Some(row) = rows.next()? {
                let row = Row::Sqlite(row);
                summation.add(row.small(0)?, row.bytes(1)?)?;
            }
        }
        counters.add_statement(&prepared);
        Ok::<_, Error>(summation)
    };
    let earlier = match earlier_period(query)? {
        Some(period) => Some((period, add_up(period)?)),
        None => None,
    };
    compose(query, earlier, add_up(query.period)?).map(Some)
}

fn sqlite_dictionary(
    snapshot: &Connection,
    version: DataVersion,
    cache: &Cache,
) -> Result<Arc<Dictionary>, Error> {
    let mut reader = Reader::default();
    for place in 0..Reader::STATEMENTS {
        let mut prepared = snapshot.prepare(&Reader::statement(place))?;
        let mut rows = prepared.query([])?;
        while let Some(row) = rows.next()? {
            reader.row(place, Row::Sqlite(row))?;
        }
    }
    let dictionary = Arc::new(reader.finish(version));
    cache.put(&dictionary);
    Ok(dictionary)
}

/// The answer from the totals of a PostgreSQL database, by a client that is in a transaction with
/// one snapshot; none where the totals are not those of the data.
///
/// # Errors
/// A question at fault, or PostgreSQL's.
pub(crate) async fn postgres(
    snapshot: &impl GenericClient,
    query: &Query,
    cache: &Cache,
) -> Result<Option<Answer>, Error> {
    let prepared = snapshot.prepare_cached(version_row(Dialect::Postgres)).await?;
    let version = snapshot.query_one(&prepared, &[]).await?;
    let version = DataVersion::from_row(Row::Postgres(&version))?;
    if !version.agrees() {
        return Ok(None);
    }
    let dictionary = match cache.get(version) {
        Some(dictionary) => dictionary,
        None => postgres_dictionary(snapshot, version, cache).await?,
    };
    let earlier = match earlier_period(query)? {
        Some(period) => Some((period, add_up(snapshot, query, period, &dictionary).await?)),
        None => None,
    };
    let present = add_up(snapshot, query, query.period, &dictionary).await?;
    let query = query.clone();
    // Hundreds of thousands of rows take a while: not on a thread that drives connections.
    let composed = tokio::task::spawn_blocking(move || compose(&query, earlier, present));
    composed.await.map_err(|error| Error::BrokenOff(error.to_string()))?.map(Some)
}

async fn add_up(
    snapshot: &impl GenericClient,
    query: &Query,
    period: Period,
    dictionary: &Arc<Dictionary>,
) -> Result<Summation, Error> {
    let mut summation = Summation::new(query, dictionary)?;
    let prepared = snapshot.prepare_cached(PAGES).await?;
    for read in summation.reads(period) {
        let mut rows = pin!(snapshot.query_raw(&prepared, read).await?);
        while let Some(row) = rows.try_next().await? {
            let row = Row::Postgres(&row);
            summation.add(row.small(0)?, row.bytes(1)?)?;
        }
    }
    Ok(summation)
}

async fn postgres_dictionary(
    snapshot: &impl GenericClient,
    version: DataVersion,
    cache: &Cache,
) -> Result<Arc<Dictionary>, Error> {
    let mut reader = Reader::default();
    for place in 0..Reader::STATEMENTS {
        let none: [i32; 0] = [];
        let mut rows = pin!(snapshot.query_raw(&Reader::statement(place), none).await?);
        while let Some(row) = rows.try_next().await? {
            reader.row(place, Row::Postgres(&row))?;
        }
    }
    let dictionary = Arc::new(reader.finish(version));
    cache.put(&dictionary);
    Ok(dictionary)
}

fn earlier_period(query: &Query) -> Result<Option<Period>, Error> {
    Ok(query.comparison.map(|comparison| comparison.earlier(query.period)).transpose()?)
}

/// The answer that sums make.
fn compose(
    query: &Query,
    earlier: Option<(Period, Summation)>,
    present: Summation,
) -> Result<Answer, Error> {
    let earlier = match earlier {
        Some((period, summation)) => {
            let mut rows = Earlier::new(query, period);
            let all = summation.finish(&mut |row| {
                rows.push(row);
                Ok(())
            })?;
            all.into_iter().for_each(|all| rows.set_total_articles(all));
            Some(rows)
        }
        None => None,
    };
    let mut writer = AnswerWriter::new(query.clone(), earlier)?;
    let all = present.finish(&mut |row| Ok(writer.push(row)?))?;
    all.into_iter().for_each(|all| writer.set_total_articles(all));
    Ok(writer.finish(Design::Rollup)?)
}

impl From<transaction::Error> for Error {
    fn from(error: transaction::Error) -> Self {
        match error {
            transaction::Error::Sqlite(error) => Self::Sqlite(error),
            transaction::Error::Postgres(error) => Self::Postgres(error),
        }
    }
}
