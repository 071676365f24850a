//! The clients of a trial: sessions that are kept from trial to trial, so that statements are
//! prepared and planned once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use connect::postgres::thin::WaitLimits;
use parking_lot::Mutex;

use super::client::{SqlError, SqlSession, rehearse, run};
use super::deck::Dealer;
use super::entry::StatementEntry;
use super::lock_times;
use super::sqlite::BUSY_TIMEOUT;
use super::target::SqlTarget;
use super::value::AnswerValue;
use crate::workload::SLOW;
use load::{Client, Clients, LoadError, in_threads};
use plan::{ConnectionUse, LoadOptions};
use record::Outcome;

/// Sessions by the number of their client; none where it is not open.
pub(crate) type Pool<'a> = Mutex<Vec<Option<Box<dyn SqlSession + Send + 'a>>>>;

/// PostgreSQL plans a prepared statement again for each of its first five executions.
const WARM_EXECUTIONS: usize = 6;
/// Statements that take long are not executed so often before a trial; planning is then a small
/// part of their time.
const WARM_AT_MOST: Duration = Duration::from_secs(2);

/// All clients of a trial.
pub(crate) struct SqlClients<'t, 'a> {
    pub target: &'t SqlTarget,
    pub pool: &'t Pool<'a>,
    /// The mix at this cell.
    pub entries: Vec<Arc<StatementEntry>>,
    /// Whether the mix changes data.
    pub changing: bool,
    /// Of the run: every trial deals the same sets in the same order.
    pub seed: u64,
    pub options: &'t LoadOptions,
    pub interrupted: &'a AtomicBool,
}

impl<'t, 'a> Clients for SqlClients<'t, 'a> {
    type Client<'c>
        = SqlClient<'c, 't, 'a>
    where
        Self: 'c;

    fn client(&self, number: u16) -> Self::Client<'_> {
        let mut pool = self.pool.lock();
        let session = pool.get_mut(usize::from(number)).and_then(Option::take);
        let dealer = Dealer::new(self.seed, number);
        let turns = vec![0; self.entries.len()];
        let ready = vec![None; self.entries.len()];
        let mut client = SqlClient { all: self, number, session, dealer, turns, ready, opened: 0 };
        client.make_ready();
        client
    }
}

pub(crate) struct SqlClient<'c, 't, 'a> {
    all: &'c SqlClients<'t, 'a>,
    number: u16,
    session: Option<Box<dyn SqlSession + Send + 'a>>,
    dealer: Dealer,
    /// By operation, how many sets have been taken.
    turns: Vec<u64>,
    /// By operation, the next set of a statement that writes: made ready between executions, so that
    /// no execution is timed for it.
    ready: Vec<Option<Vec<AnswerValue>>>,
    opened: u64,
}

impl Client for SqlClient<'_, '_, '_> {
    fn warm_up(&mut self) {
        let all = self.all;
        if all.options.connection == ConnectionUse::PerRequest {
            return;
        }
        let Ok(session) = self.connected() else { return };
        let is_left_out = |index: &usize| all.options.left_out.get(*index).is_some_and(|out| *out);
        let done = all.entries.iter().enumerate().filter(|(index, _)| !is_left_out(index));
        // A failure here comes again in the trial, and is counted there.
        let _ = warm(session, done.map(|(_, entry)| entry));
    }

    fn run(&mut self, operation: usize) -> Outcome {
        let all = self.all;
        let Some(entry) = all.entries.get(operation) else { return Outcome::NotSent };
        let supplied = self.ready.get_mut(operation).and_then(Option::take);
        let set = if supplied.is_some() { 0 } else { self.dealer.deal(entry.deck.len()) };
        let dealt = || entry.deck.get(set).map(Vec::as_slice).unwrap_or_default();
        let values = supplied.as_deref().unwrap_or_else(dealt);
        let (begun, mut attempts) = (Instant::now(), 0);
        let done = loop {
            let done = self.connected().and_then(|session| {
                session.prepare(&entry.script)?;
                run(session, &entry.script, values)
            });
            // The response time counts from the first attempt.
            match done {
                Err(SqlError::Busy { .. }) if begun.elapsed() < BUSY_TIMEOUT => {
                    entry.note_retry();
                    // As an application would: the pauses of SQLite's own timeout.
                    lock_times::pause_before(attempts);
                    attempts += 1;
                }
                done => break done,
            }
        };
        match done {
            Ok(seen) => entry.judge(set, seen, all.changing),
            Err(error) => {
                entry.note_error(&error);
                if error.ends_connection() {
                    self.session = None;
                }
                outcome(&error)
            }
        }
    }

    fn tidy(&mut self) {
        self.make_ready();
        if self.all.options.connection == ConnectionUse::PerRequest {
            self.session = None;
        }
    }

    fn connections_opened(&self) -> u64 {
        self.opened
    }
}

impl<'a> SqlClient<'_, '_, 'a> {
    /// Takes the next set of every statement that writes and has none ready.
    fn make_ready(&mut self) {
        let (number, clients) = (self.number, self.all.options.clients);
        let places = self.ready.iter_mut().zip(&mut self.turns).zip(&self.all.entries);
        for ((ready, turn), entry) in places.filter(|((ready, _), _)| ready.is_none()) {
            *ready = entry.supplied(*turn, number, clients);
            *turn += u64::from(ready.is_some());
        }
    }

    /// The session; a new one where there is none.
    fn connected(&mut self) -> Result<&mut (dyn SqlSession + 'a), SqlError> {
        if self.session.is_none() {
            let limits =
                WaitLimits { timeout: self.all.options.timeout, interrupted: self.all.interrupted };
            let opened = self.all.target.open(limits);
            self.session = Some(opened.map_err(|error| SqlError::NotConnected(error.to_string()))?);
            self.opened += 1;
        }
        match self.session.as_deref_mut() {
            Some(session) => Ok(session),
            None => Err(SqlError::NotConnected("there is no session".to_owned())),
        }
    }
}

impl Drop for SqlClient<'_, '_, '_> {
    fn drop(&mut self) {
        let mut pool = self.all.pool.lock();
        let number = usize::from(self.number);
        if pool.len() <= number {
            pool.resize_with(number + 1, || None);
        }
        if let Some(place) = pool.get_mut(number) {
            *place = self.session.take();
        }
    }
}

/// Opens and warms the session of each client, all at once as in a trial.
pub(crate) fn warm_clients(clients: &SqlClients<'_, '_>) -> Result<(), LoadError> {
    let options = clients.options;
    let warmed = in_threads(0..options.clients, "client", None, |number, gate| {
        gate.wait_for_all(options.client_cpus.as_deref(), || clients.client(number).warm_up())
    })?;
    warmed.into_iter().collect()
}

/// Prepares what a session has not prepared yet, and executes it until its plan is settled. What it
/// writes is rolled back.
pub(crate) fn warm<'e>(
    session: &mut dyn SqlSession,
    entries: impl Iterator<Item = &'e Arc<StatementEntry>>,
) -> Result<(), SqlError> {
    let begun = Instant::now();
    for entry in entries {
        if !session.prepare(&entry.script)? {
            continue;
        }
        if begun.elapsed() <= WARM_AT_MOST {
            settle_plan(session, entry)?;
        }
    }
    Ok(())
}

/// Executes a prepared statement until its plan is settled; one that takes long once.
pub(crate) fn settle_plan(
    session: &mut dyn SqlSession,
    entry: &StatementEntry,
) -> Result<(), SqlError> {
    let begun = Instant::now();
    for values in entry.deck.iter().cycle().take(WARM_EXECUTIONS) {
        rehearse(session, &entry.script, values)?;
        if begun.elapsed() > SLOW {
            break;
        }
    }
    Ok(())
}

fn outcome(error: &SqlError) -> Outcome {
    match error {
        SqlError::Refused { .. } | SqlError::Busy { .. } => Outcome::Refused,
        SqlError::NotConnected(_) => Outcome::ConnectionFailed,
        SqlError::Lost(_) | SqlError::Ended(_) | SqlError::Interrupted => Outcome::ConnectionLost,
        SqlError::TimedOut => Outcome::TimedOut,
    }
}
