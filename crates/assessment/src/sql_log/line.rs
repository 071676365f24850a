//! Lines of the logs of Django, Rails and SQLAlchemy: a statement with its time and values, the
//! limit of a request, a lock that was refused.

use std::io::{self, BufRead};

use super::value::{Logged, read};

/// A library that logs SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoggingLibrary {
    Django,
    Rails,
    SqlAlchemy,
}

/// A statement as written in a log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedSql {
    pub library: LoggingLibrary,
    /// The first line, from 1.
    pub line: usize,
    /// With literals in the place of parameters; none where these cannot be read.
    pub text: Option<String>,
    /// The line as logged.
    pub raw: String,
    pub seconds: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LogEvent {
    Statement(LoggedSql),
    /// A request begins or ends; with SQLAlchemy also a transaction.
    Boundary,
    /// A transaction of SQLAlchemy ends.
    Ended {
        line: usize,
        committed: bool,
    },
    /// `database is locked`, by the name of the error.
    Locked(&'static str),
}

/// QuotedNames of one error, in the order in which they are looked for; a chain of exceptions repeats it
/// under several.
const LOCKED: [&str; 5] = [
    "SQLite3::BusyException",
    "ActiveRecord::StatementTimeout",
    "django.db.utils.OperationalError: database is locked",
    "(sqlite3.OperationalError) database is locked",
    "sqlite3.OperationalError: database is locked",
];

/// A statement of more lines is given up.
const LINES_MAX: usize = 500;
/// A longer line is cut: it is not a statement that a person wrote.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Hands on everything of a log that matters here, in its order; how many lines it has. A log may be
/// larger than memory.
pub fn read_events(log: impl BufRead, mut each: impl FnMut(LogEvent)) -> io::Result<usize> {
    let mut reader = LogReader { events: Vec::new(), open: None };
    let mut lines = 0;
    for line in log.split(b'\n') {
        let mut line = line?;
        line.truncate(LINE_BYTES_MAX);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        lines += 1;
        reader.line(lines, &without_colours(&String::from_utf8_lossy(&line)));
        reader.events.drain(..).for_each(&mut each);
    }
    reader.give_up();
    reader.events.drain(..).for_each(&mut each);
    Ok(lines)
}

/// The events of a log in memory.
#[cfg(test)]
pub fn events(log: &str) -> Vec<LogEvent> {
    let mut all = Vec::new();
    let read = read_events(log.as_bytes(), |event| all.push(event));
    assert!(read.is_ok());
    all
}

/// A statement whose end has not come yet.
struct OpenStatement {
    library: LoggingLibrary,
    line: usize,
    lines: usize,
    text: String,
    seconds: Option<f64>,
}

struct LogReader {
    events: Vec<LogEvent>,
    open: Option<OpenStatement>,
}

impl LogReader {
    fn line(&mut self, number: usize, line: &str) {
        if let Some(said) = by_sqlalchemy(line) {
            self.sqlalchemy(number, said);
        } else if let Some((seconds, rest)) = timed(line, "ms)") {
            self.give_up();
            if !line.contains("CACHE ") && looks_like_sql(rest) {
                self.events.push(LogEvent::Statement(rails(number, seconds / 1e3, rest)));
            }
        } else if let Some((seconds, rest)) =
            timed(line, ")").filter(|(_, rest)| looks_like_sql(rest))
        {
            self.give_up();
            self.open = Some(OpenStatement {
                library: LoggingLibrary::Django,
                line: number,
                lines: 0,
                text: String::new(),
                seconds: Some(seconds),
            });
            self.go_on(rest);
        } else if let Some(name) = LOCKED.iter().find(|name| line.contains(*name)) {
            self.give_up();
            self.events.push(LogEvent::Locked(name));
        } else if is_request(line) {
            self.give_up();
            self.events.push(LogEvent::Boundary);
        } else {
            self.go_on(line);
        }
    }

    /// A further line of the statement that is open.
    fn go_on(&mut self, line: &str) {
        let Some(open) = &mut self.open else { return };
        open.lines += 1;
        if !open.text.is_empty() {
            open.text.push('\n');
        }
        // `SELECT ...; args=(1,); alias=default`: Django has put the values in already.
        let end = line.rfind("; args=").filter(|_| open.library == LoggingLibrary::Django);
        open.text.push_str(&line[..end.unwrap_or(line.len())]);
        if end.is_some() {
            let raw = open.text.clone();
            self.close(Some(raw));
        } else if open.lines > LINES_MAX {
            self.close(None);
        }
    }

    fn sqlalchemy(&mut self, number: usize, said: &str) {
        let is_open =
            self.open.as_ref().is_some_and(|one| one.library == LoggingLibrary::SqlAlchemy);
        match said.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            Some((_, values)) if is_open => {
                let raw = self.open.as_ref().map_or("", |open| open.text.as_str());
                let text = match read(values) {
                    Some(Logged::List(values)) => filled(raw, &values),
                    _ => None,
                };
                self.close(text);
            }
            _ => {
                self.give_up();
                if said.starts_with("BEGIN") {
                    self.events.push(LogEvent::Boundary);
                } else if said.starts_with("ROLLBACK") || said.starts_with("COMMIT") {
                    let committed = said.starts_with("COMMIT");
                    self.events.push(LogEvent::Ended { line: number, committed });
                } else {
                    self.open = Some(OpenStatement {
                        library: LoggingLibrary::SqlAlchemy,
                        line: number,
                        lines: 0,
                        text: said.to_owned(),
                        seconds: None,
                    });
                }
            }
        }
    }

    fn close(&mut self, text: Option<String>) {
        let Some(open) = self.open.take() else { return };
        self.events.push(LogEvent::Statement(LoggedSql {
            library: open.library,
            line: open.line,
            text,
            raw: open.text,
            seconds: open.seconds,
        }));
    }

    /// The end of the statement never came.
    fn give_up(&mut self) {
        self.close(None);
    }
}

/// Rails: `SELECT ... WHERE "id" = ?  [["id", 1]]`.
fn rails(line: usize, seconds: f64, said: &str) -> LoggedSql {
    let (raw, values) = match said.rfind("  [[").or_else(|| said.rfind("  [nil")) {
        Some(place) => (said[..place].trim_end(), read(&said[place..])),
        None => (said.trim_end(), Some(Logged::List(Vec::new()))),
    };
    let value = |pair: &Logged| match pair {
        Logged::List(pair) => pair.get(1).cloned(),
        _ => None,
    };
    let is_known = |value: &Logged| !matches!(value, Logged::Text(text) if is_hidden(text));
    let text = match values {
        Some(Logged::List(pairs)) => pairs
            .iter()
            .map(value)
            .collect::<Option<Vec<Logged>>>()
            .filter(|values| values.iter().all(is_known))
            .and_then(|values| filled(raw, &values)),
        _ => None,
    };
    let library = LoggingLibrary::Rails;
    LoggedSql { library, line, text, raw: raw.to_owned(), seconds: Some(seconds) }
}

/// Rails keeps secrets and binary values out of its log.
fn is_hidden(text: &str) -> bool {
    text == "[FILTERED]" || (text.starts_with('<') && text.ends_with("bytes of binary data>"))
}

/// The statement with literals in the place of `?`; none where their number differs.
fn filled(sql: &str, values: &[Logged]) -> Option<String> {
    let tokens = sql::tokens(sql);
    let mut text = String::new();
    let mut copied = 0;
    let mut values = values.iter();
    for token in tokens.iter().filter(|token| token.is("?")) {
        text.push_str(&sql[copied..token.start]);
        text.push_str(&values.next()?.literal()?);
        copied = token.end();
    }
    text.push_str(&sql[copied..]);
    values.next().is_none().then_some(text)
}

/// `... sqlalchemy.engine.Engine SELECT ...`: what follows the logger's name.
fn by_sqlalchemy(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("sqlalchemy.engine")?;
    let end = rest.find([' ', ':', ']'])?;
    Some(rest[end..].trim_start_matches([' ', ':', ']']))
}

/// `(0.001) SELECT` or `(0.3ms)  SELECT`: the number and what follows.
fn timed<'l>(line: &'l str, close: &str) -> Option<(f64, &'l str)> {
    line.match_indices('(').find_map(|(place, _)| {
        let rest = &line[place + 1..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let after = rest[end..].strip_prefix(close)?.strip_prefix(' ')?;
        let has_fraction = rest[..end].contains('.');
        let number = rest[..end].parse().ok().filter(|_| has_fraction)?;
        Some((number, after.trim_start()))
    })
}

/// Words that open a statement.
const OPENING: [&str; 15] = [
    "SELECT",
    "WITH",
    "INSERT",
    "UPDATE",
    "DELETE",
    "REPLACE",
    "CREATE",
    "DROP",
    "ALTER",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    "PRAGMA",
];

fn looks_like_sql(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    // Django's log of a call of several statements begins with a line break.
    text.is_empty() || OPENING.iter().any(|opening| word.eq_ignore_ascii_case(opening))
}

/// `Started GET "/orders" for ...`, or an access log's `"GET /orders HTTP/1.1" 200`.
fn is_request(line: &str) -> bool {
    let starts = line.contains("Started ") && line.contains(" for ") && line.contains('"');
    starts || (line.contains(" HTTP/1.") || line.contains(" HTTP/2")) && line.contains('"')
}

/// Without `ESC [ ... m`.
fn without_colours(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('m').filter(|(code, _)| code.starts_with('[')) {
            Some((_, rest)) => text.push_str(rest),
            None => text.push_str(part),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(log: &str) -> Vec<Option<String>> {
        let events = events(log).into_iter();
        events
            .filter_map(|event| match event {
                LogEvent::Statement(one) => Some(one.text),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn django_has_its_values_in_place() {
        let log = "2026-11-24 16:45:07,539 DEBUG django.db.backends (0.001) SELECT \"a\".\"b\" FROM \
                   \"a\" WHERE \"a\".\"n\" = 'x; y' LIMIT 21; args=('x; y',); alias=default\n\
                   (0.002) \n    SELECT 1\n    FROM a; args=None; alias=default\n\
                   \"GET /list HTTP/1.1\" 200 191\n(0.000) BEGIN; args=None; alias=default";
        let found = events(log);
        let LogEvent::Statement(first) = &found[0] else { unreachable!("{found:?}") };
        assert_eq!((first.library, first.seconds), (LoggingLibrary::Django, Some(0.001)));
        let text = "SELECT \"a\".\"b\" FROM \"a\" WHERE \"a\".\"n\" = 'x; y' LIMIT 21";
        assert_eq!(first.text.as_deref(), Some(text));
        let LogEvent::Statement(second) = &found[1] else { unreachable!("{found:?}") };
        assert_eq!((second.line, second.raw.trim()), (2, "SELECT 1\n    FROM a"));
        assert_eq!(found[2], LogEvent::Boundary);
    }

    #[test]
    fn rails_gets_its_binds_and_loses_its_colours() {
        let log = "Started GET \"/users/1\" for 127.0.0.1 at 2026-01-01 10:00:00 +0000\n  \
                   \u{1b}[1m\u{1b}[36mUser Load (0.3ms)\u{1b}[0m  \u{1b}[1m\u{1b}[34mSELECT \
                   \"users\".* FROM \"users\" WHERE \"users\".\"name\" = ? LIMIT ?\u{1b}[0m  \
                   [[\"name\", \"O'Brien\"], [\"LIMIT\", 1]]\n  \
                   CACHE User Load (0.0ms)  SELECT 1\n  \
                   User Load (0.1ms)  SELECT 2 WHERE ? = 1  [[\"token\", \"[FILTERED]\"]]\n  \
                   User Count (1.2ms)  SELECT COUNT(*) FROM \"users\"\n\
                   Completed 200 OK in 12ms (Views: 3.0ms | ActiveRecord: 1.6ms)";
        let expected = "SELECT \"users\".* FROM \"users\" WHERE \"users\".\"name\" = 'O''Brien' \
                        LIMIT 1";
        let count = "SELECT COUNT(*) FROM \"users\"";
        assert_eq!(texts(log), [Some(expected.to_owned()), None, Some(count.to_owned())]);
        assert_eq!(events(log)[0], LogEvent::Boundary);
    }

    #[test]
    fn sqlalchemy_takes_its_values_from_the_next_line() {
        let start = "2026-11-24 16:45:09,100 INFO sqlalchemy.engine.Engine";
        let log = format!(
            "{start} BEGIN (implicit)\n{start} SELECT orders.id \nFROM orders \nWHERE orders.day \
             >= ? AND orders.note IS NULL\n{start} [generated in 0.00015s] ('2024-01-05',)\n\
             {start} SELECT ?\n{start} [cached since 0.1s ago] (b'x',)\n{start} select 1\n\
             {start} [raw sql] ()\n{start} ROLLBACK"
        );
        let expected = "SELECT orders.id \nFROM orders \nWHERE orders.day >= '2024-01-05' AND \
                        orders.note IS NULL";
        let all = texts(&log);
        assert_eq!(all, [Some(expected.to_owned()), None, Some("select 1".to_owned())]);
    }

    #[test]
    fn a_lock_is_found_by_each_name() {
        for line in [
            "sqlite3.OperationalError: database is locked",
            "ActiveRecord::StatementTimeout (SQLite3::BusyException: database is locked)",
            "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database is locked",
        ] {
            assert!(matches!(events(line)[..], [LogEvent::Locked(_)]), "{line}");
        }
    }
}
