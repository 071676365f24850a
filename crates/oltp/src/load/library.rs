//! The client of SQLite by a library that its process holds: as the clients by the SQLite of this program,
//! with the same waits, over pointers to the library's functions.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use connect::sqlite_library::{
    BusyWait, HeldLibrary, LibraryConnection, LibraryError, LibraryInterrupt, LibraryStatement,
};
use rusqlite::{ffi, types::ValueRef};

use super::drawer::{Argument, Arguments};
use super::notes::{ClientAccount, Notes};
use super::session::{ClientSession, Refused, work};
use super::sink::Sink;
use super::sqlite::{BusyHandler, failure_of};
use super::{SharedState, Worker, median_time};
use crate::statement::EngineDialect;
use crate::target::{SqliteFile, place_of_file};
use crate::{Error, Failure};

pub(super) struct LibraryClient {
    connection: LibraryConnection,
    account: ClientAccount,
    busy_waits: Arc<AtomicU64>,
    place: String,
}

impl LibraryClient {
    /// Opens the file. The handle ends what the connection is doing, from another thread.
    pub(super) fn open(
        library: &HeldLibrary,
        file: SqliteFile<'_>,
        client: u16,
        shared: &SharedState<'_>,
    ) -> Result<(Self, LibraryInterrupt), Error> {
        let (mut handler, busy_waits) = BusyHandler::of(shared);
        let wait = BusyWait::Handler(Box::new(move |turn| handler.wait(turn)));
        let open = || {
            let library = Arc::new(library.load()?);
            let connection = LibraryConnection::open(&library, file.path, false, wait)?;
            connection.settings(file.settings())?;
            Ok(connection)
        };
        let connection = open().map_err(|error| Error::Connect {
            client: usize::from(client) + 1,
            clients: usize::from(shared.program.options.clients),
            cause: Box::new(match error {
                LibraryError::Setting(error) => *error,
                error => connect::Error::CannotOpen {
                    path: file.path.to_owned(),
                    problem: error.to_string(),
                },
            }),
        })?;
        let (account, place) = (ClientAccount::new(client), place_of_file(file.path));
        let handle = connection.interrupt_handle();
        Ok((Self { connection, account, busy_waits, place }, handle))
    }

    /// The median time of `SELECT 1`.
    pub(super) fn round_trip(&self) -> Result<Duration, Error> {
        median_time(|| self.connection.execute("SELECT 1").map_err(|error| self.failed(&error)))
    }

    fn failed(&self, error: &LibraryError) -> Error {
        Error::Engine { place: self.place.clone(), problem: error.to_string() }
    }
}

impl Worker for LibraryClient {
    fn work<S: Sink>(
        mut self,
        shared: &SharedState<'_>,
        notes: &mut Notes<'_, S>,
    ) -> Result<Vec<ClientAccount>, Error> {
        let texts = shared.program.texts(EngineDialect::Sqlite);
        let prepared = texts.iter().map(|(_, sql)| self.connection.prepare(sql));
        let statements = prepared.collect::<Result<_, _>>().map_err(|error| self.failed(&error))?;
        let mut session = LibraryClientSession { connection: &self.connection, statements };
        work(&mut session, &mut self.account, shared, notes)?;
        self.account.totals.busy_waits = self.busy_waits.load(Ordering::Relaxed);
        Ok(vec![self.account])
    }
}

struct LibraryClientSession<'c> {
    connection: &'c LibraryConnection,
    statements: Vec<LibraryStatement>,
}

impl ClientSession for LibraryClientSession<'_> {
    fn execute(&mut self, place: usize, arguments: &Arguments) -> Result<u64, Refused> {
        let Some(statement) = self.statements.get_mut(place) else { return Ok(0) };
        let rows = rows_of(statement, arguments);
        // A statement that was refused holds its locks until then.
        statement.reset();
        match statement.column_count() {
            0 => rows.map(|_| self.connection.changes()),
            _ => rows,
        }
        .map_err(refused)
    }

    fn roll_back(&mut self) -> Result<bool, Refused> {
        if self.connection.is_autocommit() {
            return Ok(false);
        }
        self.connection.execute("ROLLBACK").map_err(refused)?;
        Ok(true)
    }
}

fn rows_of(statement: &mut LibraryStatement, arguments: &Arguments) -> Result<u64, LibraryError> {
    for (index, argument) in arguments.iter().enumerate() {
        let value = match argument {
            Argument::Number(number) => ValueRef::Integer(number),
            Argument::Text(text) => ValueRef::Text(text),
        };
        statement.bind(index + 1, value)?;
    }
    let (columns, mut count) = (statement.column_count(), 0);
    while statement.step()? {
        // A value that is never asked for would not be read from its page either.
        for column in 0..columns {
            black_box(statement.column(column));
        }
        count += 1;
    }
    Ok(count)
}

fn refused(error: LibraryError) -> Refused {
    let failure = match &error {
        LibraryError::Refused { code, .. } => failure_of(Some(ffi::Error::new(*code).code)),
        _ => Failure::Refused,
    };
    Refused { failure, text: error.to_string() }
}
