//! Statements of an application from its SQL log: grouped by their text without values, each with sets
//! of its logged values, the ones sent too often within a request, and locks that were not had.

mod advice;
mod line;
mod naming;
mod reading;
mod shape;
mod taking;
mod value;

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use serde::Serialize;

pub use self::line::{LogEvent, LoggedSql, LoggingLibrary, read_events};
use self::reading::LogReading;
pub use self::shape::{QueryShape, parametrized};
use self::taking::Taking;
use crate::error::{Error, Result};
use crate::names::QuotedNames;
use crate::sql_file;
use crate::statement::MeasuredStatement;

/// A statement that one request sends more often is named.
const OFTEN: usize = 10;
/// At most this many statements of a log are tried, by total time.
const TAKEN_MAX: usize = 20;
/// Of a log without times, as many queries are timed once to find the most expensive, each at most so
/// long.
const TIMED_MAX: usize = 200;
const TIMED_AT_MOST: Duration = Duration::from_secs(2);

/// Facts of a log, beside the statements that are measured.
#[derive(Clone, Debug, Serialize)]
pub struct LogFacts {
    pub file: PathBuf,
    pub framework: Option<&'static str>,
    /// All statements, writes among them.
    pub statements: usize,
    /// Those that read: SELECT and WITH.
    pub queries: usize,
    /// Those whose values cannot be read.
    pub unreadable: usize,
    /// Distinct queries that were forgotten since they took least; one that came again counts again.
    pub not_kept: usize,
    /// Whether lines of requests (or transactions of SQLAlchemy) tell one request from the next.
    pub has_boundaries: bool,
    pub distinct: Vec<DistinctQuery>,
    /// Distinct queries beyond the number that is taken.
    pub beyond: usize,
    /// How the framework fetches with one query what a repeated one does.
    pub repetition_advice: Option<&'static str>,
    pub locked: usize,
    /// The framework's own settings against locks.
    pub locked_advice: Option<&'static str>,
}

/// A query that is the same but for its values.
#[derive(Clone, Debug, Serialize)]
pub struct DistinctQuery {
    /// Label in tables.
    pub name: String,
    /// Without values.
    pub text: String,
    pub count: usize,
    /// None where the log has no times.
    pub total_seconds: Option<f64>,
    /// How often the request that sent it most often did.
    pub most_in_a_request: usize,
    /// The slowest of them (the first where no times are known), with its values.
    #[serde(skip)]
    slowest: LoggedSql,
    /// A random sample of its calls.
    #[serde(skip)]
    calls: Vec<QueryShape>,
}

/// Reads a log and takes its queries as statements. Sets of values are drawn by `seed`.
pub fn read_log(
    path: &Path,
    seed: u64,
    connection: &mut Connection,
    known: &QuotedNames,
) -> Result<(Vec<MeasuredStatement>, LogFacts)> {
    sql_file::refuse_database("--sql-log", path, connection)?;
    let io = |error| Error::io("read", path)(error);
    let file = std::fs::File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::Usage(format!("--sql-log: there is no file {}", path.display()))
        }
        _ => io(error),
    })?;
    let mut reading = LogReading::new(path, seed);
    let lines = read_events(BufReader::new(file), |event| reading.note(event));
    let lines = lines.map_err(|error| Error::io("read", path)(error))?;
    let mut facts = reading.facts();
    if facts.distinct.is_empty() {
        return Err(nothing_found(&facts, lines));
    }
    rank(&mut facts.distinct, connection);
    let texts = facts.distinct.iter().take(TAKEN_MAX).map(|one| one.text.as_str());
    let names = naming::names(&texts.collect::<Vec<_>>());
    for (query, name) in facts.distinct.iter_mut().zip(names) {
        query.name = name;
    }
    facts.beyond = (facts.distinct.len() + facts.not_kept).saturating_sub(TAKEN_MAX);
    let taking = Taking { path, connection, known };
    taking.statements(facts)
}

/// The most expensive first: by the log's own times, otherwise by one execution each of the most
/// frequent.
fn rank(distinct: &mut [DistinctQuery], connection: &mut Connection) {
    let has_times = distinct.iter().any(|query| query.total_seconds.is_some());
    distinct.sort_by_key(|query| std::cmp::Reverse(query.count));
    let mut cost = |index: usize, query: &DistinctQuery| -> f64 {
        if has_times || index >= TIMED_MAX {
            return query.total_seconds.unwrap_or(0.0);
        }
        let text = query.slowest.text.as_deref().unwrap_or_default();
        query.count as f64 * crate::pilot::seconds_once(text, connection, TIMED_AT_MOST)
    };
    let mut costs: Vec<(f64, DistinctQuery)> = distinct
        .iter()
        .enumerate()
        .map(|(index, query)| (cost(index, query), query.clone()))
        .collect();
    costs.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(other.count.cmp(&one.count)));
    for (place, (_, query)) in distinct.iter_mut().zip(costs) {
        *place = query;
    }
}

fn nothing_found(facts: &LogFacts, lines: usize) -> Error {
    let found = match (facts.statements, facts.unreadable) {
        (0, 0) => "no line with a statement".to_owned(),
        (statements, unreadable) => format!(
            "{statements} statements, none of them a query with readable values ({unreadable} \
             cannot be read)"
        ),
    };
    Error::Usage(format!(
        "--sql-log {}: {lines} lines, {found}; expected are the lines of Django's logger \
         django.db.backends at DEBUG (`(0.001) SELECT ...; args=(...); alias=default`), of Rails' \
         log at :debug (`User Load (0.3ms)  SELECT ...`) or of SQLAlchemy's sqlalchemy.engine at \
         INFO (`INFO sqlalchemy.engine.Engine SELECT ...`)",
        facts.file.display()
    ))
}

impl LogFacts {
    /// Queries that one request sent more than [`OFTEN`] times, the most frequent first.
    pub fn repeated(&self) -> Vec<&DistinctQuery> {
        let mut repeated: Vec<&DistinctQuery> =
            self.distinct.iter().filter(|query| query.most_in_a_request > OFTEN).collect();
        repeated.sort_by_key(|query| std::cmp::Reverse(query.most_in_a_request));
        repeated
    }

    /// `one request`, or the words for what stands for it in this log.
    pub fn unit(&self) -> &'static str {
        match (self.has_boundaries, self.framework) {
            (false, _) => "a row, with no line of a request in the log",
            (true, Some("SQLAlchemy")) => "one request or transaction",
            (true, _) => "one request",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts_of(log: &str) -> LogFacts {
        let mut reading = LogReading::new(Path::new("app.log"), 1);
        line::events(log).into_iter().for_each(|event| reading.note(event));
        let mut facts = reading.facts();
        rank(&mut facts.distinct, &mut Connection::open_in_memory().unwrap());
        facts
    }

    fn django(id: usize) -> String {
        format!(
            "(0.00{}) SELECT \"n\" FROM \"c\" WHERE \"id\" = {id}; args=({id},); alias=default\n",
            id % 9
        )
    }

    #[test]
    fn repetition_is_counted_within_requests() {
        let request = "\"GET /a HTTP/1.1\" 200 1\n";
        let one = |count: usize| (0..count).map(django).collect::<String>() + request;
        let facts = facts_of(&[one(9), one(12), one(3)].concat());
        assert_eq!((facts.queries, facts.distinct.len()), (24, 1));
        assert_eq!(facts.repeated()[0].most_in_a_request, 12);
        let few = facts_of(&[one(9), one(8)].concat());
        assert!(few.repeated().is_empty());
    }

    #[test]
    fn without_requests_only_an_uninterrupted_run_counts() {
        let other = "(0.001) SELECT 1 FROM b; args=(); alias=default\n";
        let run: String = (0..11).map(django).collect();
        assert_eq!(facts_of(&run).repeated().len(), 1);
        let between: String = (0..11).map(|id| django(id) + other).collect();
        assert!(facts_of(&between).repeated().is_empty());
    }

    /// However many others came before: the log of a week ends with what was slow today.
    #[test]
    fn a_late_query_that_takes_most_is_found() {
        let cheap =
            |id: usize| format!("(0.001) SELECT {} FROM c{id}; args=(); alias=default\n", 1);
        let mut log: String = (0..45_000).map(cheap).collect();
        log.push_str("(5.000) SELECT 1 FROM late; args=(); alias=default\n");
        let facts = facts_of(&log);
        assert_eq!(facts.distinct[0].text, "SELECT ? FROM late");
        assert_eq!(facts.distinct.len() + facts.not_kept, 45_001);
    }

    #[test]
    fn the_largest_total_time_comes_first_with_its_slowest_values() {
        let log = "(0.001) SELECT 1 FROM a WHERE x = 1; args=(); alias=default\n\
                   (0.500) SELECT 1 FROM b WHERE x = 7; args=(); alias=default\n\
                   (0.900) SELECT 1 FROM b WHERE x = 8; args=(); alias=default\n";
        let facts = facts_of(log);
        assert_eq!(facts.distinct[0].text, "SELECT ? FROM b WHERE x = ?");
        let example = facts.distinct[0].slowest.text.as_deref();
        assert_eq!(example, Some("SELECT 1 FROM b WHERE x = 8"));
        assert!((facts.distinct[0].total_seconds.unwrap() - 1.4).abs() < 1e-9);
    }

    #[test]
    fn a_chain_of_exceptions_is_one_lock() {
        let chain = "sqlite3.OperationalError: database is locked\n\nThe above exception\n\
                     django.db.utils.OperationalError: database is locked\n";
        let facts = facts_of(&(django(1) + chain + chain));
        assert_eq!(facts.locked, 2);
        assert!(facts.locked_advice.unwrap().contains("\"transaction_mode\": \"IMMEDIATE\""));
        assert_eq!(facts_of(&django(1)).locked_advice, None);
    }
}
