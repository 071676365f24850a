//! The clients of SQLite: a connection and a thread each, in this process. A transaction that
//! writes begins with BEGIN IMMEDIATE, so that it waits for the one writer at once and is never
//! refused half-way. Waiting is the busy handler's: it sleeps as SQLite's own (1, 2, 5, 10, 15,
//! 20, 25, 25, 25, 50, 50, then 100 milliseconds), counts, and gives up by the clock: SQLite's own
//! adds up what it meant to sleep, and among a thousand threads every turn takes far longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, InterruptHandle, Statement, ToSql};

use super::drawer::{Argument, Arguments};
use super::notes::{ClientAccount, Notes};
use super::session::{ClientSession, Refused, work};
use super::sink::Sink;
use super::{SharedState, Worker};
use crate::statement::EngineDialect;
use crate::target::{SqliteFile, place_of_file};
use crate::{Error, Failure};

/// Times that the busy handler sleeps, turn by turn.
const BUSY_DELAYS_MS: [u64; 11] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50];
const BUSY_DELAY_LAST_MS: u64 = 100;

pub(super) struct SqliteClient {
    connection: Connection,
    account: ClientAccount,
    busy_waits: Arc<AtomicU64>,
    place: String,
}

impl SqliteClient {
    /// Opens the file. The handle ends what the connection is doing, from another thread.
    pub(super) fn open(
        file: SqliteFile<'_>,
        client: u16,
        shared: &SharedState<'_>,
    ) -> Result<(Self, InterruptHandle), Error> {
        let options = &shared.program.options;
        let mut connection = file.open_existing().map_err(|cause| Error::Connect {
            client: usize::from(client) + 1,
            clients: usize::from(options.clients),
            cause: Box::new(cause),
        })?;
        let (mut handler, busy_waits) = BusyHandler::of(shared);
        connection
            .busy_handler(Some(move |turn| handler.wait(turn)))
            .map_err(connect::Error::from)?;
        let handle = connection.get_interrupt_handle();
        let place = place_of_file(file.path);
        Ok((Self { connection, account: ClientAccount::new(client), busy_waits, place }, handle))
    }
}

pub(super) struct BusyHandler {
    at_most: Duration,
    /// When it was found held.
    since: Instant,
    waits: Arc<AtomicU64>,
    cut_off: Arc<AtomicBool>,
}

impl BusyHandler {
    /// That of one client, and how often it sleeps.
    pub(super) fn of(shared: &SharedState<'_>) -> (Self, Arc<AtomicU64>) {
        let waits = Arc::new(AtomicU64::new(0));
        let handler = Self {
            at_most: shared.program.options.busy_timeout,
            since: Instant::now(),
            waits: Arc::clone(&waits),
            cut_off: Arc::clone(&shared.cut_off),
        };
        (handler, waits)
    }

    /// For the `turn`th time, from 0. Whether SQLite is to try again.
    pub(super) fn wait(&mut self, turn: i32) -> bool {
        let turn = usize::try_from(turn).unwrap_or(0);
        if turn == 0 {
            self.since = Instant::now();
        }
        let delay = BUSY_DELAYS_MS.get(turn).copied().unwrap_or(BUSY_DELAY_LAST_MS);
        let delay = Duration::from_millis(delay);
        let cut_off = self.cut_off.load(Ordering::Relaxed);
        if cut_off || self.since.elapsed() + delay > self.at_most {
            return false;
        }
        self.waits.fetch_add(1, Ordering::Relaxed);
        thread::sleep(delay);
        true
    }
}

impl Worker for SqliteClient {
    fn work<S: Sink>(
        self,
        shared: &SharedState<'_>,
        notes: &mut Notes<'_, S>,
    ) -> Result<Vec<ClientAccount>, Error> {
        let Self { connection, mut account, busy_waits, place } = self;
        let texts = shared.program.texts(EngineDialect::Sqlite);
        let prepared = texts.iter().map(|(_, sql)| connection.prepare(sql));
        let statements = prepared
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Error::Engine { place, problem: error.to_string() })?;
        let mut session = SqliteClientSession { connection: &connection, statements };
        work(&mut session, &mut account, shared, notes)?;
        account.totals.busy_waits = busy_waits.load(Ordering::Relaxed);
        Ok(vec![account])
    }
}

struct SqliteClientSession<'c> {
    connection: &'c Connection,
    statements: Vec<Statement<'c>>,
}

impl ClientSession for SqliteClientSession<'_> {
    fn execute(&mut self, place: usize, arguments: &Arguments) -> Result<u64, Refused> {
        let Some(statement) = self.statements.get_mut(place) else { return Ok(0) };
        for (index, argument) in arguments.iter().enumerate() {
            statement.raw_bind_parameter(index + 1, BoundArgument(argument)).map_err(refused)?;
        }
        if statement.column_count() == 0 {
            return Ok(statement.raw_execute().map_err(refused)? as u64);
        }
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut count = 0;
        while let Some(row) = rows.next().map_err(refused)? {
            // A value that is never asked for would not be read from its page either.
            for column in 0..columns {
                std::hint::black_box(row.get_ref(column).map_err(refused)?);
            }
            count += 1;
        }
        Ok(count)
    }

    fn roll_back(&mut self) -> Result<bool, Refused> {
        if self.connection.is_autocommit() {
            return Ok(false);
        }
        self.connection.execute_batch("ROLLBACK").map_err(refused)?;
        Ok(true)
    }
}

struct BoundArgument<'a>(Argument<'a>);

impl ToSql for BoundArgument<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Argument::Number(number) => ValueRef::Integer(number),
            Argument::Text(text) => ValueRef::Text(text),
        }))
    }
}

fn refused(error: rusqlite::Error) -> Refused {
    Refused { failure: failure_of(error.sqlite_error_code()), text: error.to_string() }
}

pub(super) fn failure_of(code: Option<ErrorCode>) -> Failure {
    match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Failure::LockTimeout,
        Some(ErrorCode::DiskFull) => Failure::DiskFull,
        Some(ErrorCode::OperationInterrupted) => Failure::CutOff,
        Some(ErrorCode::CannotOpen | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure) => {
            Failure::Lost
        }
        _ => Failure::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busy_handler_gives_up_when_its_time_or_the_load_is_over() {
        let hour = Duration::from_secs(3_600);
        let mut handler = BusyHandler {
            at_most: hour,
            since: Instant::now(),
            waits: Arc::default(),
            cut_off: Arc::default(),
        };
        assert!(handler.wait(0) && handler.wait(1));
        handler.at_most = Duration::ZERO;
        assert!(!handler.wait(2));
        handler.at_most = hour;
        assert!(handler.wait(3));
        handler.cut_off.store(true, Ordering::Relaxed);
        assert!(!handler.wait(4));
        assert_eq!(handler.waits.load(Ordering::Relaxed), 3);
    }
}
