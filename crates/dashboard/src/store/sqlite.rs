//! The dashboard in a SQLite file: WAL mode, connections that only read, statements prepared once
//! for each of them.

use std::path::Path;
use std::time::Duration;

use engine::SqliteCounters;
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::design::Designs;
use super::sqlite_metrics::SqliteMetrics;
use super::{Options, SIDE_CONNECTIONS, day_text, known_ids};
use crate::answer::{self, Answer, AnswerWriter, Design, Earlier, Error, Row, Sums};
use crate::database::{self, Dialect, Patience, SqlitePool as Pool, Transaction};
use crate::query::Query;
use crate::rollup;
use crate::schema::{self, DataVersion};
use crate::statement::{self, Conditions, RowColumns, Statement};

/// A SQLite file of the dashboard, open for questions.
#[derive(Debug)]
pub struct SqliteStore {
    questions: Pool,
    side: Pool,
    designs: Designs,
    engine: String,
    settings: Vec<(String, String)>,
    metrics: SqliteMetrics,
    query_limit: Option<Duration>,
    concurrency: usize,
}

impl SqliteStore {
    /// Opens the file, puts it into WAL mode if it may be written, and checks its schema.
    pub async fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let (path, options) = (path.to_owned(), options.clone());
        let work = move || {
            let connection = engine::sqlite::open_existing(&path)?;
            schema::check_sqlite(&connection)?;
            let version = DataVersion::read_sqlite(&connection)?;
            let has_totals = rollup::exists(&Transaction::Sqlite(&connection))?;
            let mode_is_asked_for = options.settings.get("journal_mode").is_some();
            if !mode_is_asked_for && !connection.is_readonly("main")? {
                engine::sqlite::pragmas(&connection, [("journal_mode", "wal")])?;
            }
            Ok(Self {
                settings: settings(&connection, &options.settings)?,
                questions: Pool::open(&path, &options.settings, options.connections)?,
                side: Pool::open(&path, &options.settings, SIDE_CONNECTIONS)?,
                designs: Designs::new(options.design, version, has_totals)?,
                engine: format!("SQLite {}", engine::sqlite::version()),
                metrics: SqliteMetrics::default(),
                query_limit: options.query_limit,
                concurrency: options.connections,
            })
        };
        let opened = tokio::task::spawn_blocking(work).await;
        opened.map_err(|error| database::Error::BrokenOff(error.to_string()))?
    }

    pub(super) fn engine(&self) -> &str {
        &self.engine
    }

    pub(super) fn design(&self) -> Design {
        self.designs.now()
    }

    pub(super) fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    pub(super) fn metrics(&self) -> &SqliteMetrics {
        &self.metrics
    }

    pub(super) fn query_limit(&self) -> Option<Duration> {
        self.query_limit
    }

    pub(super) fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// An asker who goes away takes his question with him.
    pub(super) async fn answer(&self, query: Query, patience: Patience) -> Result<Answer, Error> {
        let designs = self.designs.clone();
        let metrics = self.metrics.clone();
        let watch = patience.clone();
        let work = move |connection: &Connection| {
            let mut counters = SqliteCounters::default();
            let answer = answer(connection, query, &designs, &watch, &mut counters);
            counters.add(&SqliteCounters::take(connection)?);
            metrics.count(&counters);
            answer
        };
        self.questions.run_within(patience, work).await
    }

    pub(super) async fn check(&self) -> Result<(), Error> {
        let work = |connection: &Connection| number(connection, &statement::any_row(SQLITE));
        Ok(self.side.run(work).await.map(|_| ())?)
    }
}

const SQLITE: Dialect = Dialect::Sqlite;

/// Pragmas that bear on most answers' times, shown beside those asked for.
const SHOWN_PRAGMAS: [&str; 5] =
    ["journal_mode", "synchronous", "cache_size", "mmap_size", "page_size"];

/// The settings as every question's connection has them.
fn settings(
    connection: &Connection,
    asked_for: &engine::Settings,
) -> Result<Vec<(String, String)>, Error> {
    let mut settings = engine::sqlite::pragmas(connection, asked_for.iter())?;
    for name in SHOWN_PRAGMAS {
        if !settings.iter().any(|(known, _)| known == name) {
            let value: rusqlite::types::Value =
                connection.pragma_query_value(None, name, |row| row.get(0))?;
            settings.push((name.to_owned(), pragma_text(value)));
        }
    }
    Ok(settings)
}

fn pragma_text(value: rusqlite::types::Value) -> String {
    match value {
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        other => format!("{other:?}"),
    }
}

/// All statements of one question, in one read transaction: they see one snapshot.
fn answer(
    connection: &Connection,
    query: Query,
    designs: &Designs,
    patience: &Patience,
    counters: &mut SqliteCounters,
) -> Result<Answer, Error> {
    let snapshot = connection.unchecked_transaction()?;
    if designs.tries_totals() {
        let dictionary = designs.dictionary();
        let answer = answer::rollup::sqlite(&snapshot, &query, dictionary, patience, counters)?;
        if let Some(answer) = answer {
            snapshot.commit()?;
            designs.with_totals();
            return Ok(answer);
        }
        designs.without_totals(DataVersion::read_sqlite(&snapshot)?)?;
    }
    let conditions = conditions(connection, &query)?;
    let mut read = |period, each: &mut dyn FnMut(&Row<'_>) -> Result<(), Error>| {
        let rows = statement::answer::rows(&query, period, &conditions, SQLITE);
        read_rows(connection, &query, &rows, counters, each)?;
        if !query.counts_articles_across_rows() {
            return Ok::<_, Error>(None);
        }
        let all = statement::answer::all_articles(&query, period, &conditions, SQLITE);
        Ok(number(connection, &all)?)
    };
    let mut earlier = None;
    if let Some(comparison) = query.comparison {
        let period = comparison.earlier(query.period)?;
        let mut rows = Earlier::new(&query, period);
        let all = read(period, &mut |row| {
            rows.push(row);
            Ok(())
        })?;
        all.into_iter().for_each(|all| rows.set_total_articles(all));
        earlier = Some(rows);
    }
    let mut writer = AnswerWriter::new(query.clone(), earlier)?;
    let all = read(query.period, &mut |row| writer.push(row))?;
    all.into_iter().for_each(|all| writer.set_total_articles(all));
    snapshot.commit()?;
    writer.finish(Design::Daily)
}

/// The filters with their keys looked up.
fn conditions(connection: &Connection, query: &Query) -> Result<Conditions, Error> {
    let mut ids = Vec::new();
    for filter in &query.filters.values {
        let lookup = statement::ids(filter, SQLITE);
        let mut prepared = connection.prepare_cached(&lookup.sql)?;
        let found = prepared
            .query_map(params_from_iter(lookup.bound()), |row| Ok((row.get(0)?, row.get(1)?)))?;
        ids.push(known_ids(filter, found.collect::<Result<_, _>>()?)?);
    }
    Ok(Conditions::new(&query.filters, ids))
}

/// Hands every row of `statement` to `each`.
fn read_rows(
    connection: &Connection,
    query: &Query,
    statement: &Statement,
    counters: &mut SqliteCounters,
    each: &mut dyn FnMut(&Row<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let key_is_day = statement::key_is_day(query.grouping);
    let columns = RowColumns::of(query);
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    let mut rows = prepared.query(params_from_iter(statement.bound()))?;
    while let Some(row) = rows.next()? {
        let date;
        let key = if key_is_day {
            date = day_text(row.get(0)?)?;
            date.as_str()
        } else {
            text(row, 0)?
        };
        each(&Row {
            key,
            label: columns.label.map_or(Ok(key), |column| text(row, column))?,
            country: columns.country.map(|column| text(row, column)).transpose()?,
            sums: Sums {
                pageviews: row.get(columns.metrics)?,
                sessions: row.get(columns.metrics + 1)?,
                engagement_seconds: row.get(columns.metrics + 2)?,
                articles: columns.articles.map(|column| row.get(column)).transpose()?,
            },
            rows_read: row.get(columns.rows_read)?,
        })?;
    }
    drop(rows);
    counters.add_statement(&prepared);
    Ok(())
}

/// Borrowed from SQLite's own memory.
fn text<'a>(row: &'a rusqlite::Row<'_>, column: usize) -> Result<&'a str, Error> {
    let value = row.get_ref(column)?;
    let read = |error: FromSqlError| {
        rusqlite::Error::FromSqlConversionFailure(column, value.data_type(), error.into())
    };
    Ok(value.as_str().map_err(read)?)
}

/// The only number of the only row.
fn number(connection: &Connection, statement: &Statement) -> Result<Option<i64>, database::Error> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    Ok(prepared.query_row(params_from_iter(statement.bound()), |row| row.get(0)).optional()?)
}
