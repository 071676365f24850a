//! Statements of an application from its SQL log: grouped by their text without values, the ones
//! sent too often within a request, and locks that were not had.

mod advice;
mod line;
mod value;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::Serialize;

use self::line::{Framework, LogEvent, LoggedSql, events};
use crate::error::{Error, Result};
use crate::names::{self, QuotedNames};
use crate::sql_file;
use crate::statement::MeasuredStatement;

/// A statement that one request sends more often is named.
const OFTEN: usize = 10;
/// At most this many statements of a log are tried, by total time.
const TAKEN_MAX: usize = 20;

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
    /// As it is called in tables.
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
    example: LoggedSql,
}

/// Reads a log and takes its queries as statements.
pub fn read_log(
    path: &Path,
    connection: &mut Connection,
    known: &QuotedNames,
) -> Result<(Vec<MeasuredStatement>, LogFacts)> {
    let bytes = sql_file::read_bytes("--sql-log", path, connection)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut facts = facts(path, &events(&text));
    if facts.distinct.is_empty() {
        return Err(nothing_found(&facts, text.lines().count()));
    }
    facts.beyond = facts.distinct.len().saturating_sub(TAKEN_MAX);
    let mut statements = Vec::new();
    let mut last = None;
    for query in facts.distinct.iter().take(TAKEN_MAX) {
        let text = query.example.text.as_deref().unwrap_or_default();
        match sql_file::one(path, query.example.line, text, connection, known) {
            Ok(statement) => {
                statements.push(MeasuredStatement { name: query.name.clone(), ..statement });
            }
            Err(error) => last = Some(error),
        }
    }
    match (statements.is_empty(), last) {
        (true, Some(error)) => {
            Err(Error::UselessLog { log: path.display().to_string(), source: Box::new(error) })
        }
        _ => Ok((statements, facts)),
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

/// A log's queries by total time, the longest first; by number where no times are known.
fn facts(path: &Path, events: &[LogEvent]) -> LogFacts {
    let mut facts = LogFacts {
        file: path.to_owned(),
        framework: None,
        statements: 0,
        queries: 0,
        unreadable: 0,
        has_boundaries: events.contains(&LogEvent::Boundary),
        distinct: Vec::new(),
        beyond: 0,
        repetition_advice: None,
        locked: 0,
        locked_advice: None,
    };
    let mut frameworks: BTreeMap<Framework, usize> = BTreeMap::new();
    let mut locked: BTreeMap<&str, usize> = BTreeMap::new();
    let mut in_request = Requests::default();
    for event in events {
        let one = match event {
            LogEvent::Boundary => {
                in_request.end(&mut facts.distinct);
                continue;
            }
            LogEvent::Locked(name) => {
                *locked.entry(name).or_default() += 1;
                continue;
            }
            LogEvent::Statement(one) => one,
        };
        facts.statements += 1;
        *frameworks.entry(one.framework).or_default() += 1;
        if !is_query(&one.raw) {
            continue;
        }
        facts.queries += 1;
        let Some(text) = &one.text else {
            facts.unreadable += 1;
            continue;
        };
        let place = note(&mut facts.distinct, one, without_values(text));
        in_request.add(place, facts.has_boundaries, &mut facts.distinct);
    }
    in_request.end(&mut facts.distinct);
    // A chain of exceptions has one error under several names.
    facts.locked = locked.values().copied().max().unwrap_or(0);
    let framework = frameworks.iter().max_by_key(|(_, count)| **count).map(|(one, _)| *one);
    facts.framework = framework.map(advice::name);
    facts.repetition_advice = framework.map(advice::against_repetition);
    facts.locked_advice = framework.filter(|_| facts.locked > 0).map(advice::against_locks);
    let weight = |query: &DistinctQuery| (query.total_seconds.unwrap_or(0.0), query.count);
    facts.distinct.sort_by(|a, b| {
        let ((seconds_a, count_a), (seconds_b, count_b)) = (weight(a), weight(b));
        seconds_b.total_cmp(&seconds_a).then(count_b.cmp(&count_a))
    });
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    for (place, query) in facts.distinct.iter_mut().enumerate() {
        query.name = format!("{stem} {}", place + 1);
    }
    facts
}

/// Adds one to the query that it is; its place.
fn note(distinct: &mut Vec<DistinctQuery>, one: &LoggedSql, text: String) -> usize {
    let Some(place) = distinct.iter().position(|query| query.text == text) else {
        distinct.push(DistinctQuery {
            name: String::new(),
            text,
            count: 1,
            total_seconds: one.seconds,
            most_in_a_request: 0,
            example: one.clone(),
        });
        return distinct.len() - 1;
    };
    let query = &mut distinct[place];
    query.count += 1;
    if let (Some(total), Some(seconds)) = (&mut query.total_seconds, one.seconds) {
        *total += seconds;
    }
    if one.seconds > query.example.seconds {
        query.example = one.clone();
    }
    place
}

/// How often each query was sent since the last boundary. Without any, an uninterrupted run of the
/// same query is counted, since nothing tells one request from the next.
#[derive(Default)]
struct Requests {
    counts: BTreeMap<usize, usize>,
    last: Option<usize>,
}

impl Requests {
    fn add(&mut self, place: usize, has_boundaries: bool, distinct: &mut [DistinctQuery]) {
        if !has_boundaries && self.last != Some(place) {
            self.end(distinct);
        }
        self.last = Some(place);
        *self.counts.entry(place).or_default() += 1;
    }

    fn end(&mut self, distinct: &mut [DistinctQuery]) {
        for (place, count) in std::mem::take(&mut self.counts) {
            let query = &mut distinct[place];
            query.most_in_a_request = query.most_in_a_request.max(count);
        }
    }
}

fn is_query(text: &str) -> bool {
    let first = ::sql::tokens(text).first().map_or("", |token| token.text).to_uppercase();
    matches!(first.as_str(), "SELECT" | "WITH")
}

/// Literals become `?`, lists of them one, blanks single.
fn without_values(text: &str) -> String {
    use ::sql::TokenKind::{Blob, Number, Text};
    let mut words: Vec<&str> = Vec::new();
    for token in ::sql::tokens(text) {
        let is_value = matches!(token.kind, Blob | Number | Text);
        let word = if is_value { "?" } else { token.text };
        if word == "?" && words.ends_with(&["?", ","]) {
            words.pop();
            continue;
        }
        words.push(word);
    }
    let mut shown = String::new();
    for (place, word) in words.iter().enumerate() {
        let before = place.checked_sub(1).map_or("", |before| words[before]);
        let close = matches!(*word, "," | ")" | "." | ";") || matches!(before, "(" | "." | "");
        let is_name = before.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_call = *word == "(" && is_name && !names::is_grammar(&before.to_lowercase());
        if !(close || is_call) {
            shown.push(' ');
        }
        shown.push_str(word);
    }
    shown
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
        facts(Path::new("app.log"), &events(log))
    }

    fn django(id: usize) -> String {
        format!(
            "(0.00{}) SELECT \"n\" FROM \"c\" WHERE \"id\" = {id}; args=({id},); alias=default\n",
            id % 9
        )
    }

    #[test]
    fn queries_that_differ_in_values_are_one() {
        let expected = "SELECT a.b, count(*) FROM \"t\" WHERE x IN (?) AND y = ?";
        for text in [
            "SELECT a.b, count(*)  FROM \"t\"\nWHERE x IN (1, 2, 3) AND y = 'z'",
            "SELECT a.b, count( * ) FROM \"t\" WHERE x IN ('q') AND y = 2.5",
        ] {
            assert_eq!(without_values(text), expected);
        }
        assert_eq!(without_values("SELECT 1 FROM a JOIN b ON (a.x = b.y)"), {
            "SELECT ? FROM a JOIN b ON (a.x = b.y)"
        });
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

    #[test]
    fn the_largest_total_time_comes_first_with_its_slowest_values() {
        let log = "(0.001) SELECT 1 FROM a WHERE x = 1; args=(); alias=default\n\
                   (0.500) SELECT 1 FROM b WHERE x = 7; args=(); alias=default\n\
                   (0.900) SELECT 1 FROM b WHERE x = 8; args=(); alias=default\n";
        let facts = facts_of(log);
        assert_eq!(facts.distinct[0].text, "SELECT ? FROM b WHERE x = ?");
        let example = facts.distinct[0].example.text.as_deref();
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
