//! Transactions of an application's log: grouped by their texts without values, each with sets of its
//! logged values, so that keys come as often as the application has them.

use std::collections::{BTreeMap, HashMap};
use std::io::BufReader;
use std::path::PathBuf;

use migrate::SourceSchema;
use plan::{Given, TransactionBegin};
use record::NotMeasured;
use rusqlite::Connection;
use sql::{TokenKind, tokens};

use super::WriteTransaction;
use super::busiest::{busiest_rate, seconds_of};
use super::fresh::{FreshValues, with_fresh_values};
use super::headroom::ExpectedRate;
use super::written::{TransactionWord, writes};
use crate::error::{Error, Result};
use crate::names::QuotedNames;
use crate::sql_file::refuse_database;
use crate::sql_log::{LogEvent, LoggedSql, LoggingLibrary, QueryShape, parametrized, read_events};

/// Calls of one transaction that are kept to draw sets of values from, the first ones.
const CALLS_KEPT: usize = 256;
/// Distinct transactions that are measured, the most frequent ones.
const TAKEN_MAX: usize = 10;

/// Transactions of a log.
#[derive(Default)]
pub struct LoggedTransactions {
    pub transactions: Vec<WriteTransaction>,
    pub left_out: Vec<NotMeasured>,
    /// The rate in the busiest minute, where lines have times.
    pub busiest: Option<ExpectedRate>,
}

/// Reads the write transactions of logs, as of several processes; they are tried on `connection`.
pub fn read_logs(
    paths: &[PathBuf],
    connection: &Connection,
    schema: &SourceSchema,
    names: &QuotedNames,
) -> Result<LoggedTransactions> {
    let mut reading = TransactionReading::default();
    let mut seconds = Vec::new();
    for path in paths {
        refuse_database("--sql-log", path, connection)?;
        let open = || std::fs::File::open(path).map(BufReader::new);
        let lines = open().and_then(|log| {
            read_events(log, |event| reading.note(event))?;
            Ok(reading.end_of_log())
        });
        let ended = lines.and_then(|lines| seconds_of(open()?, &lines));
        seconds.extend(ended.map_err(Error::io("read", path))?);
    }
    let all: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let all = all.join(", ");
    if reading.distinct.is_empty() {
        return Err(Error::Usage(format!(
            "--sql-log {all}: no write transaction with readable values among {} statements; leave --writes \
             out to measure its queries",
            reading.statements
        )));
    }
    let busiest = busiest_rate(seconds).map(|per_second| ExpectedRate {
        per_second,
        from: Some(match paths.len() {
            1 => format!("{all} has in its busiest minute"),
            _ => format!("{all} have in their busiest minute"),
        }),
    });
    let mut found = LoggedTransactions { busiest, ..LoggedTransactions::default() };
    reading.distinct.sort_by_key(|one| std::cmp::Reverse(one.count));
    let mut taken = 0;
    let beyond = reading.distinct.len().saturating_sub(TAKEN_MAX);
    for (number, one) in (1..).zip(reading.distinct.iter().take(TAKEN_MAX)) {
        let name = format!("transaction {number} of the log");
        match one.transaction(connection, schema, names, &mut taken) {
            Ok(transaction) => found.transactions.push(WriteTransaction { name, ..transaction }),
            Err(why) => found.left_out.push(NotMeasured { name, place: None, why }),
        }
    }
    if reading.unreadable > 0 {
        let name = notation::counted(reading.unreadable, "transaction");
        let why = "some of its values cannot be read; the busiest minute counts it".to_owned();
        found.left_out.push(NotMeasured { name, place: None, why });
    }
    if beyond > 0 {
        let name = notation::counted(beyond, "further transaction");
        let why = format!("only the {TAKEN_MAX} most frequent of the log are measured");
        found.left_out.push(NotMeasured { name, place: None, why });
    }
    Ok(found)
}

/// A transaction that is the same but for its values.
struct DistinctTransaction {
    count: u64,
    begin: TransactionBegin,
    is_several: bool,
    calls: Vec<QueryShape>,
}

impl DistinctTransaction {
    /// With sets of its values; a sentence where it cannot be measured.
    fn transaction(
        &self,
        connection: &Connection,
        schema: &SourceSchema,
        names: &QuotedNames,
        taken: &mut i64,
    ) -> std::result::Result<WriteTransaction, String> {
        let Some(first) = self.calls.first() else { return Err("it has no call".to_owned()) };
        let alike: Vec<&QueryShape> = self.calls.iter().filter(|one| one.is_like(first)).collect();
        let found = parametrized(&alike).ok_or("its values cannot be written in a plan")?;
        let (text, sets) = (names.quoted(&found.0), found.1);
        let FreshValues { text, parameters } =
            with_fresh_values(&text, &sets, schema, connection, taken)?;
        let sets = only_bound(&text, sets);
        for statement in text.split(";\n") {
            connection.prepare(statement).map_err(|error| format!("SQLite: {error}"))?;
        }
        Ok(WriteTransaction {
            text,
            parameters,
            sets,
            is_several: self.is_several,
            begin: if self.is_several { self.begin } else { TransactionBegin::Immediate },
            executions: Some(self.count),
            is_logged: true,
            ..WriteTransaction::default()
        })
    }
}

/// The sets without the values that fresh ones have replaced.
fn only_bound(text: &str, mut sets: Vec<BTreeMap<String, Given>>) -> Vec<BTreeMap<String, Given>> {
    let bound: Vec<&str> = tokens(text)
        .into_iter()
        .filter(|token| token.kind == TokenKind::Parameter)
        .map(|token| &token.text[1..])
        .collect();
    for set in &mut sets {
        set.retain(|name, _| bound.contains(&name.as_str()));
    }
    sets.retain(|set| !set.is_empty());
    sets
}

#[derive(Default)]
struct TransactionReading {
    distinct: Vec<DistinctTransaction>,
    places: HashMap<String, usize>,
    open: Option<(TransactionBegin, Vec<LoggedSql>)>,
    /// Lines at which write transactions ended.
    ended_at: Vec<usize>,
    statements: usize,
    /// Write transactions with values that cannot be read.
    unreadable: u64,
}

impl TransactionReading {
    /// The lines at which its write transactions ended; one that is open was cut off.
    fn end_of_log(&mut self) -> Vec<usize> {
        self.open = None;
        std::mem::take(&mut self.ended_at)
    }

    fn note(&mut self, event: LogEvent) {
        match event {
            LogEvent::Statement(one) => self.statement(one),
            LogEvent::Ended { line, committed } => {
                let ended = self.open.take();
                if let Some((begin, all)) = ended.filter(|_| committed) {
                    self.add(begin, all, line);
                }
            }
            LogEvent::Boundary | LogEvent::Locked(_) => {}
        }
    }

    fn statement(&mut self, one: LoggedSql) {
        self.statements += 1;
        match (TransactionWord::of(&one.raw), &mut self.open) {
            (Some(TransactionWord::Begin(begin)), _) => self.open = Some((begin, Vec::new())),
            (Some(TransactionWord::Rollback), open) => *open = None,
            (None, Some((_, all))) if savepoint(&one.raw) == Some(SavepointWord::Begin) => {
                all.push(one);
            }
            (None, Some((_, all))) if savepoint(&one.raw) == Some(SavepointWord::RollbackTo) => {
                undo_to_savepoint(all);
            }
            (Some(TransactionWord::Commit), open) => {
                if let Some((begin, all)) = open.take() {
                    self.add(begin, all, one.line);
                }
            }
            (None, _) if is_passed_over(&one.raw) => {}
            (None, Some((_, all))) => all.push(one),
            // What SQLAlchemy logs as BEGIN is not sent: the driver begins before the first write.
            (None, open @ None) if one.library == LoggingLibrary::SqlAlchemy => {
                *open = Some((TransactionBegin::Deferred, vec![one]));
            }
            (None, None) => {
                let line = one.line;
                self.add(TransactionBegin::Immediate, vec![one], line);
            }
        }
    }

    /// Counts a transaction that writes.
    fn add(&mut self, begin: TransactionBegin, mut all: Vec<LoggedSql>, line: usize) {
        all.retain(|one| savepoint(&one.raw).is_none());
        // Python's driver sends BEGIN before the first write: what is read before is not part of it.
        while all
            .first()
            .is_some_and(|one| one.library == LoggingLibrary::SqlAlchemy && !writes(&one.raw))
        {
            all.remove(0);
        }
        if !all.iter().any(|one| writes(&one.raw)) {
            return;
        }
        self.ended_at.push(line);
        let texts: Option<Vec<&str>> = all.iter().map(|one| one.text.as_deref()).collect();
        // Values that cannot be read: the transaction counts as one of the rate alone.
        let Some(texts) = texts else {
            self.unreadable += 1;
            return;
        };
        let trimmed: Vec<&str> =
            texts.iter().map(|text| text.trim().trim_end_matches(';')).collect();
        let shape = QueryShape::of(&trimmed.join(";\n"));
        let place = *self.places.entry(shape.group.clone()).or_insert_with(|| {
            let is_several = all.len() > 1;
            let calls = Vec::new();
            self.distinct.push(DistinctTransaction { count: 0, begin, is_several, calls });
            self.distinct.len() - 1
        });
        let distinct = &mut self.distinct[place];
        distinct.count += 1;
        if distinct.calls.len() < CALLS_KEPT {
            distinct.calls.push(shape);
        }
    }
}

#[derive(PartialEq)]
enum SavepointWord {
    Begin,
    RollbackTo,
}

fn savepoint(text: &str) -> Option<SavepointWord> {
    let words = tokens(text);
    match words.first()? {
        first if first.is_word("savepoint") => Some(SavepointWord::Begin),
        first if first.is_word("rollback") && words.iter().any(|word| word.is_word("to")) => {
            Some(SavepointWord::RollbackTo)
        }
        _ => None,
    }
}

/// Leaves out what was undone: all since the last savepoint.
fn undo_to_savepoint(all: &mut Vec<LoggedSql>) {
    let is_begin = |one: &LoggedSql| savepoint(&one.raw) == Some(SavepointWord::Begin);
    if let Some(place) = all.iter().rposition(is_begin) {
        all.truncate(place + 1);
    }
}

/// Savepoints within a transaction, and settings.
fn is_passed_over(text: &str) -> bool {
    let word = tokens(text).first().map_or("", |token| token.text).to_ascii_uppercase();
    matches!(word.as_str(), "SAVEPOINT" | "RELEASE" | "PRAGMA" | "ROLLBACK")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = "CREATE TABLE orders(id INTEGER PRIMARY KEY, day TEXT, n INTEGER); \
        CREATE TABLE mails(id INTEGER PRIMARY KEY, mail TEXT UNIQUE, kind TEXT)";

    fn read(log: &str) -> Result<LoggedTransactions> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.log");
        std::fs::write(&path, log).unwrap();
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let schema = migrate::schema(&connection).unwrap();
        read_logs(&[path], &connection, &schema, &QuotedNames::of(&schema))
    }

    #[test]
    fn transactions_of_django_keep_their_order_and_their_keys() {
        let one = |minute: u32, id: u32| {
            format!(
                "2026-11-28 10:{minute:02}:05 (0.000) BEGIN; args=None; alias=default\n\
                 (0.001) SELECT n FROM orders WHERE id = {id}; args=({id},); alias=default\n\
                 (0.001) UPDATE orders SET n = {n} WHERE id = {id}; args=({n}, {id}); alias=default\n\
                 (0.000) COMMIT; args=None; alias=default\n",
                n = id * 3
            )
        };
        let reads = "(0.000) BEGIN; args=None; alias=default\n\
                     (0.001) SELECT n FROM orders; args=(); alias=default\n\
                     (0.000) COMMIT; args=None; alias=default\n";
        let log = [one(1, 7), one(1, 7), one(2, 8), reads.to_owned()].concat();
        let found = read(&log).unwrap();
        let [only] = &found.transactions[..] else { unreachable!("{:?}", found.left_out) };
        let text = "SELECT n FROM orders WHERE id = :v1;\nUPDATE orders SET n = :v2 WHERE id = :v3";
        assert_eq!((only.text.as_str(), only.executions), (text, Some(3)));
        assert_eq!((only.is_several, only.begin), (true, TransactionBegin::Deferred));
        let keys: Vec<&Given> = only.sets.iter().map(|set| &set["v1"]).collect();
        assert_eq!(keys, [7, 7, 8].map(Given::Integer).each_ref());
        assert!((found.busiest.unwrap().per_second - 2.0 / 60.0).abs() < 1e-9);
    }

    #[test]
    fn half_transactions_are_left_out_and_unique_values_are_fresh() {
        let log = "(0.000) BEGIN; args=None; alias=default\n\
                   (0.001) INSERT INTO orders (day, n) VALUES ('a', 1); args=(); alias=default\n\
                   (0.000) ROLLBACK; args=None; alias=default\n\
                   (0.001) INSERT INTO mails (mail) VALUES ('a@example.org'); args=(); alias=default\n\
                   (0.001) INSERT INTO mails (mail) VALUES ('b@example.org'); args=(); alias=default\n\
                   (0.001) INSERT INTO mails VALUES (NULL, lower('A'), 'x'); args=(); alias=default\n\
                   (0.001) INSERT INTO orders (day, n) VALUES ('b', 2); args=(); alias=default\n\
                   (0.000) BEGIN; args=None; alias=default\n\
                   (0.001) DELETE FROM orders WHERE id = 1; args=(); alias=default\n";
        let found = read(log).unwrap();
        let texts: Vec<&str> = found.transactions.iter().map(|one| one.text.as_str()).collect();
        let mail = "INSERT INTO mails (mail) VALUES (substr(CAST(:v1 AS TEXT), 1, 3) || \
                    CAST(:fresh AS TEXT))";
        assert_eq!(texts, [mail, "INSERT INTO orders (day, n) VALUES ('b', 2)"]);
        assert!(found.transactions[0].parameters.contains_key("fresh"));
        let [left_out] = &found.left_out[..] else { unreachable!("{:?}", found.left_out) };
        assert!(left_out.why.contains("mails.mail"), "{}", left_out.why);
        assert!(found.busiest.is_none());
    }
}
