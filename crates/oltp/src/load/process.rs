//! A client of SQLite that is a process of its own: its job, its part of the load, and the load of
//! all of them put together.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use connect::sqlite_library::{HeldLibrary, LibraryInterrupt};
use rusqlite::InterruptHandle;
use serde::{Deserialize, Serialize};

use super::library::LibraryClient;
use super::notes::{ClientAccount, FinishedThread};
use super::outcome::{ClientTotals, OltpLoad, StatementTotals};
use super::program::Program;
use super::sink::Sink;
use super::sqlite::SqliteClient;
use super::{FinishedLoad, OltpLoadOptions, SharedState, ThreadDone, assemble, drive, examined};
use crate::target::SqliteFile;
use crate::{Error, Failure, OltpTarget};
use plan::oltp::TableOptions;

/// The part of a client that is a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OltpJob {
    client: u16,
    path: PathBuf,
    pragmas: Vec<(String, String)>,
    library: Option<HeldLibrary>,
    tables: TableOptions,
    options: OltpLoadOptions,
    oldest: Vec<u64>,
}

/// The work of a client process, beside its observations; moments on the monotonic clock.
#[derive(Debug, Serialize, Deserialize)]
pub struct OltpPart {
    client: u16,
    totals: ClientTotals,
    per_second: Vec<u64>,
    ended_in_time: u64,
    statements: Vec<StatementTotals>,
    first_failure: Option<(u64, Failure, String)>,
    last_end_ns: u64,
    measured_from_ns: u64,
    /// The median time of `SELECT 1` by the library of its process, where it holds one.
    round_trip: Option<Duration>,
}

static NEVER: AtomicBool = AtomicBool::new(false);

/// A client that is connected, in its process.
pub struct ConnectedClient {
    shared: SharedState<'static>,
    session: OpenedSession,
    round_trip: Option<Duration>,
}

/// A client's connection, and what ends its statement.
enum OpenedSession {
    BuiltIn(SqliteClient, InterruptHandle),
    Library(LibraryClient, LibraryInterrupt),
}

impl ConnectedClient {
    /// Connects.
    ///
    /// # Errors
    /// When the library cannot be loaded, or the file not be opened with these settings.
    pub fn connect(job: OltpJob) -> Result<Self, Error> {
        let OltpJob { client, path, pragmas, library, tables, options, oldest } = job;
        let shared = SharedState {
            program: Program::new(&tables, &options, oldest),
            started: OnceLock::new(),
            interrupted: &NEVER,
            cancelled: AtomicBool::new(false),
            cut_off: Arc::default(),
            threads: 1,
        };
        let file = SqliteFile { path: &path, pragmas: &pragmas };
        let Some(library) = library else {
            let (client, handle) = SqliteClient::open(file, client, &shared)?;
            let session = OpenedSession::BuiltIn(client, handle);
            return Ok(Self { shared, session, round_trip: None });
        };
        let (client, handle) = LibraryClient::open(&library, file, client, &shared)?;
        let round_trip = client.round_trip()?;
        let session = OpenedSession::Library(client, handle);
        Ok(Self { shared, session, round_trip: Some(round_trip) })
    }

    /// Offers its part of a load that began at `started` for all clients.
    ///
    /// # Errors
    /// As [`super::run`].
    pub fn work<S: Sink>(
        self,
        started: Instant,
        begin: &(impl Fn() -> S + Sync),
    ) -> Result<(OltpPart, S::Kept), Error> {
        let Self { shared, session, round_trip } = self;
        shared.started.get_or_init(|| started);
        let done = match session {
            OpenedSession::BuiltIn(client, handle) => {
                let cancel = &mut |_: &[usize]| handle.interrupt();
                drive(vec![client], &shared, begin, &mut || {}, cancel)?
            }
            OpenedSession::Library(client, handle) => {
                let cancel = &mut |_: &[usize]| handle.interrupt();
                drive(vec![client], &shared, begin, &mut || {}, cancel)?
            }
        };
        let Some(ThreadDone { accounts, finished, kept }) = done.into_iter().next() else {
            return Err(Error::Interrupted);
        };
        let Some(ClientAccount { client, totals, .. }) = accounts.into_iter().next() else {
            return Err(Error::Interrupted);
        };
        let failed = finished.first_failure;
        let part = OltpPart {
            client,
            totals,
            per_second: finished.per_second,
            ended_in_time: finished.ended_in_time,
            statements: finished.statements,
            first_failure: failed.map(|(at, kind, text)| (load::to_monotonic_ns(at), kind, text)),
            last_end_ns: load::to_monotonic_ns(finished.last_end),
            measured_from_ns: load::to_monotonic_ns(finished.measured_from),
            round_trip,
        };
        Ok((part, kept))
    }
}

impl OltpPart {
    fn into_thread<K>(self, kept: K) -> ThreadDone<K> {
        let mut account = ClientAccount::new(self.client);
        account.totals = self.totals;
        let failed = self.first_failure;
        let finished = FinishedThread {
            per_second: self.per_second,
            ended_in_time: self.ended_in_time,
            statements: self.statements,
            first_failure: failed.map(|(at, kind, text)| (load::from_monotonic_ns(at), kind, text)),
            last_end: load::from_monotonic_ns(self.last_end_ns),
            measured_from: load::from_monotonic_ns(self.measured_from_ns),
        };
        ThreadDone { accounts: vec![account], finished, kept }
    }
}

/// The load of clients of a SQLite file that are processes. `offer` gives each its job, by its
/// number, and returns what they did.
///
/// # Errors
/// As [`super::run`]; another target than a SQLite file is refused.
pub fn run_processes<K>(
    target: &OltpTarget,
    tables: &TableOptions,
    options: &OltpLoadOptions,
    interrupted: &AtomicBool,
    offer: impl FnOnce(&(dyn Fn(u16) -> OltpJob + Sync)) -> Result<Vec<(OltpPart, K)>, Error>,
) -> Result<OltpLoad<K>, Error> {
    let OltpTarget::Sqlite { path, pragmas, library } = target else {
        return Err(Error::Options(format!("{}: its clients are threads", target.place())));
    };
    let (oldest, round_trip) = examined(target, tables, options, interrupted)?;
    let program = Program::new(tables, options, oldest.clone());
    let job = |client| OltpJob {
        client,
        path: path.clone(),
        pragmas: pragmas.clone(),
        library: library.clone(),
        tables: tables.clone(),
        options: options.clone(),
        oldest: oldest.clone(),
    };
    let parts = offer(&job)?;
    let round_trip = parts.first().and_then(|(part, _)| part.round_trip).unwrap_or(round_trip);
    let threads = parts.into_iter().map(|(part, kept)| part.into_thread(kept)).collect();
    // Connecting is part of preparing the processes, which began before.
    let done = FinishedLoad { connect_time: Duration::ZERO, threads };
    Ok(assemble(&program, usize::from(options.clients), round_trip, done))
}
