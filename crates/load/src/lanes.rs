//! Connections of one thread of an HTTP load, and the requests under way on them.

use std::time::{Duration, Instant};

use crate::LoadError;
use crate::event_loop::{Protocol, run_event_loop};
use crate::http::{BUFFER_BYTES, CONNECT_TIMEOUT_MAX, HttpError, Interest, Wire, WireStep};
use crate::poller::{Poller, Wait};
use crate::trial::HttpTrial;
use plan::ConnectionUse;
use record::Outcome;

pub(super) struct Lanes<'a> {
    trial: &'a HttpTrial<'a>,
    lanes: Vec<Lane<'a>>,
    buffer: Vec<u8>,
    ended: Vec<EndedRequest>,
    opened: u64,
}

/// A connection and the request that is under way on it.
struct Lane<'a> {
    wire: Wire<'a>,
    exchange: Option<(u16, Instant)>,
    connecting: bool,
    deadline: Instant,
    /// The number of the socket that the poller watches, and the event it waits for.
    watched: Option<(u64, Interest)>,
}

/// A request that has come to its end.
pub(super) struct EndedRequest {
    pub lane: usize,
    pub request: u16,
    pub start: Instant,
    pub end: Instant,
    pub outcome: Outcome,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(trial: &'a HttpTrial<'a>) -> Self {
        let (lanes, ended) = (Vec::new(), Vec::new());
        Self { trial, lanes, buffer: vec![0; BUFFER_BYTES], ended, opened: 0 }
    }

    /// One more connection, closed; returns its number.
    pub(super) fn add(&mut self) -> usize {
        self.lanes.push(Lane {
            wire: Wire::new(self.trial.target),
            exchange: None,
            connecting: false,
            deadline: Instant::now(),
            watched: None,
        });
        self.lanes.len() - 1
    }

    pub(super) fn len(&self) -> usize {
        self.lanes.len()
    }

    pub(super) fn opened(&self) -> u64 {
        self.opened
    }

    /// Opens every connection. A refusal is met again, and recorded, by the first request.
    pub(super) fn connect_all(&mut self, poller: &mut Poller) -> Result<(), LoadError> {
        let deadline = Instant::now() + self.trial.options.timeout.min(CONNECT_TIMEOUT_MAX);
        for number in 0..self.lanes.len() {
            let lane = &mut self.lanes[number];
            (lane.connecting, lane.deadline) = (true, deadline);
            let step = lane.wire.connect();
            self.settle(number, step, poller)?;
        }
        run_event_loop(&mut Connecting(self), poller)
    }

    /// Sends `request` on a connection that has none under way, connecting first where it must.
    /// Its response time counts from `start`.
    pub(super) fn start(
        &mut self,
        number: usize,
        request: u16,
        (start, now): (Instant, Instant),
        poller: &Poller,
    ) -> Result<(), LoadError> {
        let lane = &mut self.lanes[number];
        lane.exchange = Some((request, start));
        let step = if lane.wire.is_idle() {
            lane.deadline = now + self.trial.options.timeout;
            let (prepared, expected) = self.trial.request(request);
            lane.wire.send(prepared, expected.keep(), &mut self.buffer)
        } else {
            lane.deadline = now + self.trial.options.timeout.min(CONNECT_TIMEOUT_MAX);
            lane.connecting = true;
            lane.wire.connect()
        };
        self.settle(number, step, poller)
    }

    /// A request that has come to its end, if any.
    pub(super) fn next_ended(&mut self) -> Option<EndedRequest> {
        self.ended.pop()
    }

    /// `wait`, or none where a request came to its end while it was sent.
    pub(super) fn limit<'w>(&self, wait: Wait<'w>) -> Wait<'w> {
        if self.ended.is_empty() { wait } else { Wait::AtMost(Duration::ZERO) }
    }

    /// Goes on with a connection whose socket is ready.
    pub(super) fn advance(&mut self, number: usize, poller: &Poller) -> Result<(), LoadError> {
        let Some(lane) = self.lanes.get_mut(number) else { return Ok(()) };
        let request = lane.exchange.map(|(request, _)| self.trial.request(request).0);
        if request.is_none() && !lane.connecting {
            lane.wire.disturbed(&mut self.buffer);
            return Ok(());
        }
        let step = lane.wire.advance(request, &mut self.buffer);
        self.settle(number, step, poller)
    }

    /// Ends what takes too long.
    pub(super) fn check_deadlines(&mut self) -> Result<(), LoadError> {
        self.trial.check_interrupted()?;
        let now = Instant::now();
        for number in 0..self.lanes.len() {
            let lane = &self.lanes[number];
            if (lane.exchange.is_some() || lane.connecting) && lane.deadline <= now {
                self.end(number, now, Outcome::TimedOut);
            }
        }
        Ok(())
    }

    /// Follows one connection after a step until it has to wait.
    fn settle(
        &mut self,
        number: usize,
        mut step: Result<WireStep, HttpError>,
        poller: &Poller,
    ) -> Result<(), LoadError> {
        let lane = &mut self.lanes[number];
        loop {
            match step {
                Ok(WireStep::Waits(interest)) => return self.watch(number, interest, poller),
                Ok(WireStep::Done) if lane.connecting => {
                    lane.connecting = false;
                    self.opened += 1;
                    let Some((request, _)) = lane.exchange else {
                        return self.watch(number, Interest::Read, poller);
                    };
                    lane.deadline = Instant::now() + self.trial.options.timeout;
                    let (prepared, expected) = self.trial.request(request);
                    step = lane.wire.send(prepared, expected.keep(), &mut self.buffer);
                }
                Ok(WireStep::Done) => {
                    let end = Instant::now();
                    let outcome = lane.exchange.map(|(request, _)| {
                        let reader = lane.wire.reader();
                        self.trial.judge(request, &reader.answer(), reader.body())
                    });
                    self.end(number, end, outcome.unwrap_or(Outcome::Ok));
                    return Ok(());
                }
                Err(error) => {
                    let outcome = error.outcome().ok_or(LoadError::Interrupted)?;
                    self.end(number, Instant::now(), outcome);
                    return Ok(());
                }
            }
        }
    }

    fn end(&mut self, lane: usize, end: Instant, outcome: Outcome) {
        let own = &mut self.lanes[lane];
        own.connecting = false;
        if outcome == Outcome::TimedOut
            || self.trial.options.connection == ConnectionUse::PerRequest
        {
            own.wire.close();
        }
        if let Some((request, start)) = own.exchange.take() {
            self.ended.push(EndedRequest { lane, request, start, end, outcome });
        }
    }

    fn watch(
        &mut self,
        number: usize,
        interest: Interest,
        poller: &Poller,
    ) -> Result<(), LoadError> {
        let lane = &mut self.lanes[number];
        let Some(socket) = lane.wire.socket() else { return Ok(()) };
        let wanted = Some((lane.wire.sockets_made(), interest));
        if lane.watched == wanted {
            return Ok(());
        }
        match lane.watched {
            Some((socket_number, _)) if socket_number == lane.wire.sockets_made() => {
                poller.modify(socket, number, interest)?;
            }
            _ => poller.add(socket, number, interest)?,
        }
        lane.watched = wanted;
        Ok(())
    }
}

/// Connections that are being opened, before a trial's clock starts.
struct Connecting<'l, 'a>(&'l mut Lanes<'a>);

impl Protocol for Connecting<'_, '_> {
    type Error = LoadError;

    fn go_on(&mut self, _: &Poller) -> Result<Option<Wait<'_>>, LoadError> {
        let any = self.0.lanes.iter().any(|lane| lane.connecting);
        Ok(any.then_some(Wait::UntilCheck))
    }

    fn advance(&mut self, connection: usize, poller: &Poller) -> Result<(), LoadError> {
        self.0.advance(connection, poller)
    }

    fn check_deadlines(&mut self) -> Result<(), LoadError> {
        self.0.check_deadlines()
    }
}
