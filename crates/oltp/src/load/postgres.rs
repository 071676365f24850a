//! The clients of PostgreSQL: connections, prepared once, that a thread drives together. A few
//! clients have a thread each; many share one per processor.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use connect::postgres::thin::{
    BoundParameter, Channel, PreparedStatement, StatementAnswer, ThinConnection, ThinError,
    WaitLimits, write_execution, write_query,
};
use engine::PostgresUrl;
use load::{LoadError, Poller, Protocol, Wait, run_event_loop};

use super::drawer::{Argument, Arguments, Drawer};
use super::notes::{ClientAccount, Notes};
use super::sink::Sink;
use super::watchdog::Watched;
use super::{SharedState, Worker};
use crate::Error;
use crate::error::{Failure, failure_of};
use crate::statement::{EngineDialect, ExecutedStatement as _};
use plan::oltp::CharacterSet;

/// `integer`, by object id.
const INT4: u32 = 23;

/// Some clients and what they execute.
pub(super) struct PostgresLanes {
    lanes: Vec<PostgresLane>,
    statements: Vec<PreparedStatement>,
    /// The server's numbers of their sessions.
    sessions: Vec<u32>,
}

/// A client: its connection and where it is in its transaction.
struct PostgresLane {
    channel: Channel,
    drawer: Drawer,
    account: ClientAccount,
    /// Which call of the program is under way.
    call: usize,
    /// The refusal for which it is rolling back.
    rolling_back: Option<(Failure, String)>,
    /// It waits without limit; the watchdog checks the time.
    watched: Arc<Watched>,
    ended: bool,
}

impl PostgresLanes {
    /// Connects these clients one after another, so that no server meets them all at once.
    pub(super) fn connect(
        url: &PostgresUrl,
        session: &[(String, String)],
        clients: impl Iterator<Item = u16>,
        shared: &SharedState<'_>,
    ) -> Result<Self, Error> {
        let program = &shared.program;
        let texts = program.texts(EngineDialect::Postgres);
        let limits =
            WaitLimits { timeout: program.options.timeout, interrupted: shared.interrupted };
        let mut settings: Vec<(&str, &str)> = Vec::new();
        if program.options.character_set == CharacterSet::Latin2 {
            settings.push(("client_encoding", "LATIN2"));
        }
        settings.extend(session.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let mut all = Self { lanes: Vec::new(), statements: Vec::new(), sessions: Vec::new() };
        for client in clients {
            shared.check_not_stopped()?;
            let cannot_connect = |cause| Error::Connect {
                client: usize::from(client) + 1,
                clients: usize::from(program.options.clients),
                cause: Box::new(cause),
            };
            let mut connection =
                ThinConnection::connect(url, &settings, limits).map_err(cannot_connect)?;
            all.sessions.extend(number(&mut connection).map_err(|error| failed(url, error))?);
            // The same texts in the same order: the same names in every session.
            all.statements =
                prepare(&mut connection, &texts).map_err(|error| failed(url, error))?;
            let channel = connection.into_channel().map_err(|error| failed(url, error))?;
            all.lanes.push(PostgresLane {
                watched: Watched::new(&channel).map_err(|error| failed(url, error.into()))?,
                channel,
                drawer: Drawer::new(program, client),
                account: ClientAccount::new(client),
                call: 0,
                rolling_back: None,
                ended: false,
            });
        }
        Ok(all)
    }

    /// The server's numbers of their sessions.
    pub(super) fn sessions(&self) -> Vec<u32> {
        self.sessions.clone()
    }

    /// Whom a watchdog is to watch.
    pub(super) fn watched(&self) -> impl Iterator<Item = Arc<Watched>> {
        self.lanes.iter().map(|lane| Arc::clone(&lane.watched))
    }
}

/// Of a session, where the server tells.
fn number(connection: &mut ThinConnection<'_>) -> Result<Option<u32>, ThinError> {
    let mut number = None;
    connection.query("SELECT pg_backend_pid()", |row| {
        let text = row.values().next().flatten().unwrap_or_default();
        number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    })?;
    Ok(number)
}

fn prepare(
    connection: &mut ThinConnection<'_>,
    texts: &[(plan::oltp::MixStatement, String)],
) -> Result<Vec<PreparedStatement>, ThinError> {
    let prepare = |(statement, sql): &(plan::oltp::MixStatement, String)| {
        let types = statement.draws().iter().map(|draw| if draw.is_number() { INT4 } else { 0 });
        connection.prepare(sql, &types.collect::<Vec<_>>())
    };
    texts.iter().map(prepare).collect()
}

fn failed(url: &PostgresUrl, error: ThinError) -> Error {
    match error {
        ThinError::Interrupted => Error::Interrupted,
        error => Error::Engine { place: url.to_string(), problem: error.to_string() },
    }
}

impl Worker for PostgresLanes {
    fn work<S: Sink>(
        self,
        shared: &SharedState<'_>,
        notes: &mut Notes<'_, S>,
    ) -> Result<Vec<ClientAccount>, Error> {
        let active = self.lanes.len();
        let mut at_work = LanesAtWork {
            shared,
            notes,
            statements: &self.statements,
            lanes: self.lanes,
            active,
            buffer: Vec::new(),
            out: BytesMut::new(),
            arguments: Arguments::default(),
        };
        let mut poller = at_work.poller()?;
        for place in 0..active {
            at_work.begin(place, Instant::now());
        }
        run_event_loop(&mut at_work, &mut poller)?;
        // Clients whose connections were ended from outside have not ended by themselves.
        shared.check_not_stopped()?;
        Ok(at_work.lanes.into_iter().map(|lane| lane.account).collect())
    }
}

/// A thread at work on its lanes.
struct LanesAtWork<'w, 'n, 's, S: Sink> {
    shared: &'w SharedState<'s>,
    notes: &'w mut Notes<'n, S>,
    statements: &'w [PreparedStatement],
    lanes: Vec<PostgresLane>,
    /// Lanes that have not ended.
    active: usize,
    /// Received bytes; one buffer for all sessions of the thread.
    buffer: Vec<u8>,
    out: BytesMut,
    arguments: Arguments,
}

impl<S: Sink> Protocol for LanesAtWork<'_, '_, '_, S> {
    type Error = Error;

    fn go_on(&mut self, _: &Poller) -> Result<Option<Wait<'_>>, Error> {
        Ok(match &self.lanes[..] {
            _ if self.active == 0 => None,
            [only] => Some(Wait::ForOne(only.channel.as_fd())),
            _ => Some(Wait::ForAny),
        })
    }

    /// Takes what has arrived for a lane.
    fn advance(&mut self, place: usize, _: &Poller) -> Result<(), Error> {
        let Some(lane) = self.lanes.get_mut(place).filter(|lane| !lane.ended) else {
            return Ok(());
        };
        match lane.channel.receive(&mut self.buffer) {
            Ok(None) => {}
            Ok(Some(answer)) => self.answered(place, answer),
            Err(error) => self.lost(place, &error),
        }
        Ok(())
    }
}

impl<S: Sink> LanesAtWork<'_, '_, '_, S> {
    /// Of all its connections; none of one alone, which is waited for by itself.
    fn poller(&self) -> Result<Poller, LoadError> {
        let poller = Poller::new()?;
        let watched = if self.lanes.len() > 1 { &self.lanes[..] } else { &[] };
        for (place, lane) in watched.iter().enumerate() {
            poller.add_for_changes(&lane.channel, place)?;
        }
        Ok(poller)
    }

    fn answered(&mut self, place: usize, answer: StatementAnswer) {
        let Some(lane) = self.lanes.get_mut(place) else { return };
        if let Some((failure, text)) = lane.rolling_back.take() {
            self.notes.rolled_back(&mut lane.account);
            return self.refused(place, failure, text);
        }
        if let Some(error) = answer.refusal {
            let refusal = (failure_of(&error), error.to_string());
            return self.fails(place, answer.in_transaction, refusal);
        }
        if let Some(call) = self.shared.program.calls.get(lane.call) {
            let statement = (call.statement, call.slot);
            self.notes.answered(&mut lane.account, statement, answer.rows);
        }
        lane.call += 1;
        if lane.call >= self.shared.program.calls.len() {
            self.end(place, None);
        } else if self.notes.is_cut_off() {
            self.fails(place, answer.in_transaction, (Failure::CutOff, String::new()));
        } else {
            self.send(place);
        }
    }

    /// Gives an attempt up; its transaction is rolled back first.
    fn fails(&mut self, place: usize, in_transaction: bool, (failure, text): (Failure, String)) {
        if !in_transaction || failure.ends_client() {
            return self.refused(place, failure, text);
        }
        let Some(lane) = self.lanes.get_mut(place) else { return };
        lane.rolling_back = Some((failure, text));
        self.out.clear();
        match write_query("ROLLBACK", &mut self.out) {
            Ok(()) => self.send_out(place),
            Err(error) => self.lost(place, &error.into()),
        }
    }

    /// A refused attempt is out of the way.
    fn refused(&mut self, place: usize, failure: Failure, text: String) {
        let Some(lane) = self.lanes.get_mut(place) else { return };
        match self.notes.refused(&mut lane.account, failure) {
            Some(failure) => self.end(place, Some((failure, text))),
            None => {
                lane.drawer.begin_again();
                lane.call = 0;
                self.send(place);
            }
        }
    }

    fn lost(&mut self, place: usize, error: &ThinError) {
        let Some(lane) = self.lanes.get(place) else { return };
        let overdue = ThinError::TimedOut(self.shared.program.options.timeout);
        let error = if lane.watched.is_overdue() { &overdue } else { error };
        // In any case the session is not to be trusted any more.
        let failure = match failure_of(error) {
            failure if failure.ends_client() => failure,
            _ => Failure::Lost,
        };
        self.end(place, Some((failure, error.to_string())));
    }

    fn begin(&mut self, place: usize, now: Instant) {
        let Some(lane) = self.lanes.get_mut(place) else { return };
        if self.notes.begin(&mut lane.account, now) {
            lane.drawer.begin();
            lane.call = 0;
            self.send(place);
        } else {
            lane.ended = true;
            self.active -= 1;
        }
    }

    fn end(&mut self, place: usize, failed: Option<(Failure, String)>) {
        let Some(lane) = self.lanes.get_mut(place) else { return };
        let now = self.notes.end(&mut lane.account, failed);
        if lane.account.totals.ended_by.is_some() {
            lane.ended = true;
            self.active -= 1;
        } else {
            self.begin(place, now);
        }
    }

    /// Sends the call that is next.
    fn send(&mut self, place: usize) {
        let program = &self.shared.program;
        let Some(lane) = self.lanes.get_mut(place) else { return };
        let Some(call) = program.calls.get(lane.call) else { return };
        let table = lane.drawer.draw(program, *call, &mut self.arguments);
        let Some(statement) = self.statements.get(program.place(*call, table)) else { return };
        let parameters = self.arguments.iter().map(|argument| match argument {
            Argument::Number(number) => {
                BoundParameter::Int4(i32::try_from(number).unwrap_or(i32::MAX))
            }
            Argument::Text(text) => BoundParameter::Binary(text),
        });
        self.out.clear();
        match write_execution(statement, parameters, &mut self.out) {
            Ok(()) => self.send_out(place),
            Err(error) => self.lost(place, &error.into()),
        }
    }

    fn send_out(&mut self, place: usize) {
        let timeout = self.shared.program.options.timeout;
        let Some(lane) = self.lanes.get_mut(place) else { return };
        lane.watched.sends();
        if let Err(error) = lane.channel.send(&self.out, timeout) {
            // A server that goes down says why before it closes the connection: one call takes its
            // words, the next meets the end.
            let mut last_log_lines = || lane.channel.receive(&mut self.buffer).err();
            let error = last_log_lines().or_else(last_log_lines).unwrap_or(error);
            self.lost(place, &error);
        }
    }
}

/// Threads of `Driver::Fitting`.
pub(super) fn fitting_threads(clients: u16) -> usize {
    /// Above it threads cost more than they save.
    const THREADS_MAX: usize = 8;
    let clients = usize::from(clients);
    if clients <= THREADS_MAX { clients } else { event_loops(clients) }
}

pub(super) fn event_loops(clients: usize) -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(clients)
}
