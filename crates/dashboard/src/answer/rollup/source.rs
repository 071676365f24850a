//! Pages as the engines give them, in one snapshot with what they belong to.

use std::pin::pin;
use std::sync::Arc;

use deadpool_postgres::GenericClient;
use engine::SqliteCounters;
use futures_util::TryStreamExt as _;
use rusqlite::Connection;

use super::Summation;
use crate::answer::{Answer, AnswerWriter, Design, Earlier, Error};
use crate::database::{self, Dialect, Patience, Row};
use crate::query::{Period, Query};
use crate::rollup::dictionary::{Cache, Dictionary, Reader};
use crate::rollup::statements::PAGES;
use crate::schema::{DataVersion, version_row};

/// The answer from the totals of a SQLite file, by a connection that is in a transaction; none
/// where the totals are not those of the data.
pub(crate) fn sqlite(
    snapshot: &Connection,
    query: &Query,
    cache: &Cache,
    patience: &Patience,
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
                patience.check()?;
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
    compose(query, earlier, add_up(query.period)?, patience).map(Some)
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
pub(crate) async fn postgres(
    snapshot: &impl GenericClient,
    query: &Query,
    cache: &Cache,
    patience: &Patience,
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
        Some(period) => {
            Some((period, add_up(snapshot, query, period, &dictionary, patience).await?))
        }
        None => None,
    };
    let present = add_up(snapshot, query, query.period, &dictionary, patience).await?;
    let (query, patience) = (query.clone(), patience.clone());
    // Hundreds of thousands of rows take a while: not on a thread that drives connections.
    let work = move || compose(&query, earlier, present, &patience);
    let composed = tokio::task::spawn_blocking(work);
    composed.await.map_err(|error| database::Error::BrokenOff(error.to_string()))?.map(Some)
}

async fn add_up(
    snapshot: &impl GenericClient,
    query: &Query,
    period: Period,
    dictionary: &Arc<Dictionary>,
    patience: &Patience,
) -> Result<Summation, Error> {
    let mut summation = Summation::new(query, dictionary)?;
    let prepared = snapshot.prepare_cached(PAGES).await?;
    for read in summation.reads(period) {
        let mut rows = pin!(snapshot.query_raw(&prepared, read).await?);
        while let Some(row) = rows.try_next().await? {
            patience.check()?;
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
    patience: &Patience,
) -> Result<Answer, Error> {
    let earlier = match earlier {
        Some((period, summation)) => {
            let mut rows = Earlier::new(query, period);
            let all = summation.finish(patience, &mut |row| {
                rows.push(row);
                Ok(())
            })?;
            all.into_iter().for_each(|all| rows.set_total_articles(all));
            Some(rows)
        }
        None => None,
    };
    let mut writer = AnswerWriter::new(query.clone(), earlier)?;
    let all = present.finish(patience, &mut |row| writer.push(row))?;
    all.into_iter().for_each(|all| writer.set_total_articles(all));
    writer.finish(Design::Rollup)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Day, Grouping};
    use crate::schema::create_sqlite;

    /// SQLite itself stops only what takes it long, and reading a page does not.
    #[test]
    fn totals_are_not_added_up_for_somebody_who_has_gone() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = engine::sqlite::create(&folder.path().join("test.db")).unwrap();
        create_sqlite(&mut file).unwrap();
        let first: Day = "2021-01-01".parse().unwrap();
        let page = "INSERT INTO totals (kind, grain, day, content) VALUES (1, 2, ?, x'01')";
        file.execute(page, [first.number()]).unwrap();
        let period = [("start", "2021-01-01"), ("end", "2021-12-31")];
        let period = period.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let query = Query::parse(Grouping::Teams, &period).unwrap();
        let (patience, asker) = Patience::begin(None);
        let ask = || {
            let mut counters = SqliteCounters::default();
            sqlite(&file, &query, &Cache::default(), &patience, &mut counters)
        };
        assert!(ask().unwrap().is_some());
        drop(asker);
        assert!(matches!(ask(), Err(Error::Database(database::Error::TooSlow { .. }))));
    }
}
