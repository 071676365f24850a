//! The connections of one thread, driven together by an event loop: what costs a thread per client
//! would cost is not spent on the machine that is measured.

use std::time::{Duration, Instant};

use crate::http::{BUFFER_BYTES, CONNECT_TIMEOUT_MAX, HttpError, Interest, Wire, WireStep};
use crate::poller::Poller;
use crate::trial::HttpTrial;
use crate::{ConnectionUse, LoadError, Outcome};

/// Limits of time and interruptions are looked at this often.
const LOOK_UP: Duration = Duration::from_millis(100);
/// At full load, where the loop is never idle, they are checked after this many waits.
const LOOK_UP_WAITS: u32 = 64;

pub(super) struct Lanes<'a> {
    trial: &'a HttpTrial<'a>,
    poller: Poller,
    lanes: Vec<Lane<'a>>,
    buffer: Vec<u8>,
    ready: Vec<usize>,
    ended: Vec<EndedRequest>,
    waits: u32,
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
    pub(super) fn new(trial: &'a HttpTrial<'a>) -> Result<Self, LoadError> {
        Ok(Self {
            trial,
            poller: Poller::new()?,
            lanes: Vec::new(),
            buffer: vec![0; BUFFER_BYTES],
            ready: Vec::new(),
            ended: Vec::new(),
            waits: 0,
            opened: 0,
        })
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
    pub(super) fn connect_all(&mut self) -> Result<(), LoadError> {
        let deadline = Instant::now() + self.trial.options.timeout.min(CONNECT_TIMEOUT_MAX);
        for number in 0..self.lanes.len() {
            let lane = &mut self.lanes[number];
            (lane.connecting, lane.deadline) = (true, deadline);
            let step = lane.wire.connect();
            self.settle(number, step)?;
        }
        while self.lanes.iter().any(|lane| lane.connecting) {
            self.wait(LOOK_UP, false)?;
        }
        Ok(())
    }

    /// Sends `request` on a connection that has none under way, connecting first where it must.
    /// Its response time counts from `start`.
    pub(super) fn start(
        &mut self,
        number: usize,
        request: u16,
        start: Instant,
        now: Instant,
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
        self.settle(number, step)
    }

    /// A request that has come to its end, if any.
    pub(super) fn next_ended(&mut self) -> Option<EndedRequest> {
        self.ended.pop()
    }

    /// Waits until something has happened, at most `timeout`.
    pub(super) fn wait(&mut self, timeout: Duration, exact: bool) -> Result<(), LoadError> {
        let timeout = if self.ended.is_empty() { timeout.min(LOOK_UP) } else { Duration::ZERO };
        let mut ready = std::mem::take(&mut self.ready);
        self.poller.wait(Some(timeout), exact, &mut ready)?;
        for &number in &ready {
            let Some(lane) = self.lanes.get_mut(number) else { continue };
            let request = lane.exchange.map(|(request, _)| self.trial.request(request).0);
            if request.is_none() && !lane.connecting {
                lane.wire.disturbed(&mut self.buffer);
                continue;
            }
            let step = lane.wire.advance(request, &mut self.buffer);
            self.settle(number, step)?;
        }
        self.waits = self.waits.wrapping_add(1);
        if ready.is_empty() || self.waits.is_multiple_of(LOOK_UP_WAITS) {
            self.look_up()?;
        }
        self.ready = ready;
        Ok(())
    }

    /// Follows one connection after a step until it has to wait.
    fn settle(
        &mut self,
        number: usize,
        mut step: Result<WireStep, HttpError>,
    ) -> Result<(), LoadError> {
        let lane = &mut self.lanes[number];
        loop {
            match step {
                Ok(WireStep::Waits(interest)) => return self.watch(number, interest),
                Ok(WireStep::Done) if lane.connecting => {
                    lane.connecting = false;
                    self.opened += 1;
                    let Some((request, _)) = lane.exchange else {
                        return self.watch(number, Interest::Read);
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
                    let outcome = Outcome::of_error(&error).ok_or(LoadError::Interrupted)?;
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

    fn watch(&mut self, number: usize, interest: Interest) -> Result<(), LoadError> {
        let lane = &mut self.lanes[number];
        let Some(socket) = lane.wire.socket() else { return Ok(()) };
        let wanted = Some((lane.wire.sockets_made(), interest));
        if lane.watched == wanted {
            return Ok(());
        }
        match lane.watched {
            Some((socket_number, _)) if socket_number == lane.wire.sockets_made() => {
                self.poller.modify(socket, number, interest)?;
            }
            _ => self.poller.add(socket, number, interest)?,
        }
        lane.watched = wanted;
        Ok(())
    }

    /// Ends what takes too long.
    fn look_up(&mut self) -> Result<(), LoadError> {
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
}
