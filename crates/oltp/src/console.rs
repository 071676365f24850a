//! One plain connection for what is not measured: tables made, marks read, rows compared.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use connect::postgres::thin::{ThinConnection, ThinError, WaitLimits};
use mysql::prelude::Queryable as _;
use rusqlite::types::ValueRef;

use crate::statement::EngineDialect;
use crate::target::{MysqlServer, SqliteFile};
use crate::{Error, OltpTarget};

/// An index of many rows takes long.
const ANSWER_AT_MOST: Duration = Duration::from_secs(6 * 3_600);

/// A connection of any engine.
pub(crate) struct Console<'a> {
    pub place: String,
    pub session: ConsoleSession<'a>,
}

pub(crate) enum ConsoleSession<'a> {
    Postgres(Box<ThinConnection<'a>>),
    Sqlite(Box<rusqlite::Connection>),
    Mysql(Box<mysql::Conn>),
}

impl<'a> Console<'a> {
    /// Connects; a file has to be there.
    pub(crate) fn open(target: &OltpTarget, interrupted: &'a AtomicBool) -> Result<Self, Error> {
        Self::open_for(target, ANSWER_AT_MOST, interrupted)
    }

    /// The same, for what is answered at once or not waited for.
    pub(crate) fn open_for(
        target: &OltpTarget,
        at_most: Duration,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, Error> {
        Self::connect(&target.past_pool(), None, at_most, interrupted)
    }

    /// Connects as a client does.
    pub(crate) fn open_as_client(
        target: &OltpTarget,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, Error> {
        Self::connect(target, None, ANSWER_AT_MOST, interrupted)
    }

    /// Connects; a file that is not there is made, with this encoding.
    pub(crate) fn create(
        target: &OltpTarget,
        encoding: &str,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, Error> {
        Self::connect(target, Some(encoding), ANSWER_AT_MOST, interrupted)
    }

    fn connect(
        target: &OltpTarget,
        encoding: Option<&str>,
        timeout: Duration,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, Error> {
        let session = match target {
            OltpTarget::Postgres { url, session, .. } => {
                let settings = session.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                let limits = WaitLimits { timeout, interrupted };
                let settings: Vec<_> = settings.collect();
                ConsoleSession::Postgres(Box::new(ThinConnection::connect(url, &settings, limits)?))
            }
            OltpTarget::Sqlite { path, pragmas, .. } => {
                let file = SqliteFile { path, pragmas };
                let connection = match encoding {
                    Some(encoding) => file.create(encoding)?,
                    None => file.open_existing()?,
                };
                ConsoleSession::Sqlite(Box::new(connection))
            }
            OltpTarget::Mysql { url, session } => {
                let server = MysqlServer { url, session };
                ConsoleSession::Mysql(Box::new(server.connect(timeout)?))
            }
        };
        Ok(Self { place: target.place(), session })
    }

    pub(crate) fn dialect(&self) -> EngineDialect {
        match self.session {
            ConsoleSession::Postgres(_) => EngineDialect::Postgres,
            ConsoleSession::Sqlite(_) => EngineDialect::Sqlite,
            ConsoleSession::Mysql(_) => EngineDialect::Mysql,
        }
    }

    /// Runs a statement whose answer is of no interest.
    pub(crate) fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.rows(sql, &mut |_| {})
    }

    /// Runs a statement and hands over its rows, values as text, NULL as none.
    pub(crate) fn rows(&mut self, sql: &str, each: EachRow<'_>) -> Result<(), Error> {
        let done = match &mut self.session {
            ConsoleSession::Postgres(connection) => {
                let done = connection.query(sql, |row| each(&row.values().collect::<Vec<_>>()));
                done.map_err(ConsoleProblem::from)
            }
            ConsoleSession::Sqlite(connection) => {
                sqlite_rows(connection, sql, each).map_err(ConsoleProblem::from)
            }
            ConsoleSession::Mysql(connection) => {
                mysql_rows(connection, sql, each).map_err(ConsoleProblem::from)
            }
        };
        done.map_err(|problem| self.failed(problem))
    }

    /// The first value of the first row; empty where there is none.
    pub(crate) fn value(&mut self, sql: &str) -> Result<String, Error> {
        let mut found: Option<String> = None;
        self.rows(sql, &mut |row| {
            let value = row.first().copied().flatten().unwrap_or_default();
            found.get_or_insert_with(|| String::from_utf8_lossy(value).into_owned());
        })?;
        Ok(found.unwrap_or_default())
    }

    /// An engine's error with the database's name.
    pub(crate) fn failed(&self, problem: ConsoleProblem) -> Error {
        match problem.0 {
            None => Error::Interrupted,
            Some(problem) => Error::Engine { place: self.place.clone(), problem },
        }
    }
}

pub(crate) type EachRow<'e> = &'e mut dyn FnMut(&[Option<&[u8]>]);

/// In the engine's words; none for an interruption.
pub(crate) struct ConsoleProblem(Option<String>);

impl From<ThinError> for ConsoleProblem {
    fn from(error: ThinError) -> Self {
        Self(match error {
            ThinError::Interrupted => None,
            error => Some(error.to_string()),
        })
    }
}

impl From<rusqlite::Error> for ConsoleProblem {
    fn from(error: rusqlite::Error) -> Self {
        Self(Some(error.to_string()))
    }
}

impl From<mysql::Error> for ConsoleProblem {
    fn from(error: mysql::Error) -> Self {
        Self(Some(match error {
            mysql::Error::MySqlError(refused) => refused.message,
            other => other.to_string(),
        }))
    }
}

fn sqlite_rows(
    connection: &rusqlite::Connection,
    sql: &str,
    each: EachRow<'_>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let numbers: Vec<String> = (0..columns).map(|at| number_text(row, at)).collect();
        let value = |at: usize| match row.get_ref(at) {
            Ok(ValueRef::Null) | Err(_) => None,
            Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => Some(bytes),
            Ok(_) => numbers.get(at).map(String::as_bytes),
        };
        each(&(0..columns).map(value).collect::<Vec<_>>());
    }
    Ok(())
}

fn number_text(row: &rusqlite::Row<'_>, at: usize) -> String {
    match row.get_ref(at) {
        Ok(ValueRef::Integer(number)) => number.to_string(),
        Ok(ValueRef::Real(number)) => number.to_string(),
        _ => String::new(),
    }
}

fn mysql_rows(connection: &mut mysql::Conn, sql: &str, each: EachRow<'_>) -> mysql::Result<()> {
    // By the text protocol values are texts.
    for row in connection.query_iter(sql)? {
        let row = row?;
        let value = |at: usize| match row.as_ref(at) {
            Some(mysql::Value::Bytes(bytes)) => Some(bytes.as_slice()),
            _ => None,
        };
        each(&(0..row.len()).map(value).collect::<Vec<_>>());
    }
    Ok(())
}
