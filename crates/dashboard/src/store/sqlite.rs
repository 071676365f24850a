//! The dashboard in a SQLite file: WAL mode, connections that only read, statements prepared once
//! for each of them.

use std::path::Path;

use engine::SqliteCounters;
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::sqlite_metrics::SqliteMetrics;
use super::sqlite_pool::Pool;
use super::{Error, Options, SIDE_CONNECTIONS, day_text};
use crate::answer::{Answer, AnswerWriter, Row};
use crate::query::{Count, Query, Refusal};
use crate::schema::{self, Dialect};
use crate::statement::{self, Design, Statement, daily};

/// A SQLite file of the dashboard, open for questions.
#[derive(Debug)]
pub struct SqliteStore {
    questions: Pool,
    side: Pool,
    design: Design,
    engine: String,
    settings: Vec<(String, String)>,
    metrics: SqliteMetrics,
}

impl SqliteStore {
    /// Opens the file, puts it into WAL mode if it may be written, and checks its schema.
    ///
    /// # Errors
    /// A file that is none of ours, a setting that SQLite does not have or take.
    pub async fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let (path, options) = (path.to_owned(), options.clone());
        let work = move || {
            let connection = engine::sqlite::open_existing(&path)?;
            schema::check_sqlite(&connection)?;
            let mode_is_asked_for = options.settings.get("journal_mode").is_some();
            if !mode_is_asked_for && !connection.is_readonly("main")? {
                engine::sqlite::pragmas(&connection, [("journal_mode", "wal")])?;
            }
            Ok(Self {
                settings: settings(&connection, &options.settings)?,
                questions: Pool::open(&path, &options.settings, options.connections)?,
                side: Pool::open(&path, &options.settings, SIDE_CONNECTIONS)?,
                design: options.design,
                engine: format!("SQLite {}", engine::sqlite::version()),
                metrics: SqliteMetrics::default(),
            })
        };
        let opened = tokio::task::spawn_blocking(work).await;
        opened.map_err(|error| Error::BrokenOff(error.to_string()))?
    }

    pub(super) fn engine(&self) -> &str {
        &self.engine
    }

    pub(super) fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    pub(super) fn metrics(&self) -> &SqliteMetrics {
        &self.metrics
    }

    pub(super) async fn answer(&self, query: Query) -> Result<Answer, Error> {
        let Design::Daily = self.design;
        let metrics = self.metrics.clone();
        let work = move |connection: &Connection| {
            let mut counters = SqliteCounters::default();
            let answer = answer(connection, query, &mut counters);
            counters.add(&SqliteCounters::take(connection)?);
            metrics.count(&counters);
            answer
        };
        self.questions.run(work).await
    }

    pub(super) async fn key_hashes(&self) -> Result<Vec<String>, Error> {
        self.side.run(|connection| texts(connection, &statement::key::valid_hashes(SQLITE))).await
    }

    pub(super) async fn check(&self) -> Result<(), Error> {
        let work = |connection: &Connection| number(connection, &statement::any_row(SQLITE));
        self.side.run(work).await.map(|_| ())
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
    counters: &mut SqliteCounters,
) -> Result<Answer, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let blog_id = match &query.blog {
        None => None,
        Some(name) => {
            let found = number(connection, &statement::blog_id(name, SQLITE))?;
            Some(found.ok_or_else(|| Refusal::UnknownBlog { name: name.clone() })?)
        }
    };
    let mut writer = AnswerWriter::new(query.clone())?;
    let rows = daily::rows(&query, blog_id, SQLITE);
    write_rows(connection, &query, &rows, &mut writer, counters)?;
    if query.count == Some(Count::Articles) && !query.grouping.partitions_articles() {
        let all = number(connection, &daily::all_articles(&query, blog_id, SQLITE))?;
        writer.set_total_articles(all.map_or(0, i64::from));
    }
    snapshot.commit()?;
    Ok(writer.finish()?)
}

fn write_rows(
    connection: &Connection,
    query: &Query,
    statement: &Statement,
    writer: &mut AnswerWriter,
    counters: &mut SqliteCounters,
) -> Result<(), Error> {
    let key_is_day = statement::key_is_day(query.grouping);
    let has_label = statement::has_label(query.grouping);
    let metrics = 1 + usize::from(has_label);
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
        writer.push(&Row {
            key,
            label: if has_label { text(row, 1)? } else { key },
            pageviews: row.get(metrics)?,
            sessions: row.get(metrics + 1)?,
            engagement_seconds: row.get(metrics + 2)?,
            articles: query.count.map(|Count::Articles| row.get(metrics + 3)).transpose()?,
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
fn number(connection: &Connection, statement: &Statement) -> Result<Option<i32>, Error> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    Ok(prepared.query_row(params_from_iter(statement.bound()), |row| row.get(0)).optional()?)
}

fn texts(connection: &Connection, statement: &Statement) -> Result<Vec<String>, Error> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    let rows = prepared.query_map(params_from_iter(statement.bound()), |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
