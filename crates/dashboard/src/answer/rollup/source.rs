//! Reading of pages and of their dictionary, in one snapshot with the data version.

use std::sync::Arc;

use super::Summation;
use crate::answer::{AnswerDesign, AnswerWriter, Earlier, Error, QueryAnswer};
use crate::database::{Deadline, Snapshot, SqlRow};
use crate::query::{Period, Query};
use crate::rollup::dictionary::{Cache, Dictionary, DictionaryReader};
use crate::rollup::statements::PAGES;
use crate::schema::DataVersion;

/// The answer from totals; none where the totals are not those of the data.
pub(crate) async fn answer<S: Snapshot>(
    snapshot: &S,
    query: &Query,
    cache: &Cache,
    deadline: &Deadline,
) -> Result<Option<QueryAnswer>, Error> {
    let version = DataVersion::read(snapshot).await?;
    if !version.agrees() {
        return Ok(None);
    }
    let dictionary = match cache.get(version) {
        Some(dictionary) => dictionary,
        None => read_dictionary(snapshot, version, cache).await?,
    };
    let earlier = match earlier_period(query)? {
        Some(period) => {
            Some((period, add_up(snapshot, query, period, &dictionary, deadline).await?))
        }
        None => None,
    };
    let present = add_up(snapshot, query, query.period, &dictionary, deadline).await?;
    let (query, deadline) = (query.clone(), deadline.clone());
    // Hundreds of thousands of rows take a while.
    let composed = snapshot.compute(move || compose(&query, earlier, present, &deadline));
    composed.await?.map(Some)
}

async fn add_up<S: Snapshot>(
    snapshot: &S,
    query: &Query,
    period: Period,
    dictionary: &Arc<Dictionary>,
    deadline: &Deadline,
) -> Result<Summation, Error> {
    let mut summation = Summation::new(query, dictionary)?;
    for read in summation.reads(period) {
        let each = |row: SqlRow<'_>| {
            deadline.check()?;
            Ok::<_, Error>(summation.add(row.small(0)?, row.bytes(1)?)?)
        };
        snapshot.rows(PAGES, &read.map(Into::into), each).await?;
    }
    Ok(summation)
}

async fn read_dictionary<S: Snapshot>(
    snapshot: &S,
    version: DataVersion,
    cache: &Cache,
) -> Result<Arc<Dictionary>, Error> {
    let mut reader = DictionaryReader::default();
    for place in 0..DictionaryReader::STATEMENTS {
        snapshot
            .rows(&DictionaryReader::statement(place), &[], |row| reader.row(place, row))
            .await?;
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
    deadline: &Deadline,
) -> Result<QueryAnswer, Error> {
    let earlier = match earlier {
        Some((period, summation)) => {
            let mut rows = Earlier::new(query, period);
            let all = summation.finish(deadline, &mut |row| {
                rows.push(row);
                Ok(())
            })?;
            all.into_iter().for_each(|all| rows.set_total_articles(all));
            Some(rows)
        }
        None => None,
    };
    let mut writer = AnswerWriter::new(query.clone(), earlier)?;
    let all = present.finish(deadline, &mut |row| writer.push(row))?;
    all.into_iter().for_each(|all| writer.set_total_articles(all));
    writer.finish(AnswerDesign::Rollup)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{self, SqliteSnapshot, ready};
    use crate::query::{Day, Grouping};
    use crate::schema::create_sqlite;

    /// SQLite itself stops only what takes it long, and reading a page does not.
    #[test]
    fn totals_are_not_added_up_after_cancellation() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = connect::sqlite::create(&folder.path().join("test.db")).unwrap();
        create_sqlite(&mut file).unwrap();
        let first: Day = "2021-01-01".parse().unwrap();
        let page = "INSERT INTO totals (kind, grain, day, content) VALUES (1, 2, ?, x'01')";
        file.execute(page, [first.number()]).unwrap();
        let period = [("start", "2021-01-01"), ("end", "2021-12-31")];
        let period = period.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let query = Query::parse(Grouping::Teams, &period).unwrap();
        let (deadline, cancel) = Deadline::begin(None);
        let ask =
            || ready(answer(&SqliteSnapshot::new(&file), &query, &Cache::default(), &deadline));
        assert!(ask().unwrap().is_some());
        drop(cancel);
        assert!(matches!(ask(), Err(Error::Database(database::Error::TooSlow { .. }))));
    }
}
