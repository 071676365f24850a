//! Closed load over HTTP: a fixed number of clients, each waiting for its answer before it sends
//! again. Response time is therefore service time. One thread drives many clients.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use crate::LoadError;
use crate::event_loop::{Protocol, run_event_loop};
use crate::gate::Gate;
use crate::lanes::Lanes;
use crate::poller::{Poller, Wait};
use crate::recorder::{Recorded, Recorder};
use crate::trial::HttpTrial;
use crate::walk::{Walk, Walkers};
use plan::ConnectionUse;

/// The life of one thread, which has every `threads`th client.
pub(super) fn run(
    trial: &HttpTrial<'_>,
    walkers: &Walkers<'_>,
    (thread, threads): (u16, u16),
    gate: &Gate,
) -> Result<Recorded, LoadError> {
    let options = trial.options;
    let numbers = (thread..options.clients).step_by(usize::from(threads));
    let walks: Vec<Walk<'_>> = numbers.map(|number| walkers.client(number)).collect();
    let connect = || connected(trial, walks.len());
    let (lanes, mut poller) = gate.wait_for_all(options.client_cpus.as_deref(), connect)??;
    let mut load = ClosedLoad {
        active: walks.len(),
        think_time: options.think_time,
        walks,
        lanes,
        recorder: Recorder::begin(walkers.weights.len()),
        thinking: BinaryHeap::new(),
        looked_at: None,
    };
    for client in 0..load.walks.len() {
        load.send_next(client, &poller)?;
    }
    run_event_loop(&mut load, &mut poller)?;
    Ok(load.end())
}

fn connected<'a>(
    trial: &'a HttpTrial<'a>,
    clients: usize,
) -> Result<(Lanes<'a>, Poller), LoadError> {
    let (mut lanes, mut poller) = (Lanes::new(trial), Poller::new()?);
    for _ in 0..clients {
        lanes.add();
    }
    if trial.options.connection == ConnectionUse::PerClient {
        lanes.connect_all(&mut poller)?;
    }
    Ok((lanes, poller))
}

/// One thread's clients at work; each has the connection of its index.
struct ClosedLoad<'a> {
    walks: Vec<Walk<'a>>,
    lanes: Lanes<'a>,
    recorder: Recorder,
    think_time: Duration,
    /// Clients that pause, and until when.
    thinking: BinaryHeap<Reverse<(Instant, usize)>>,
    /// When the pauses were compared with the clock; the connections have been looked at since, so
    /// that none is used which the server has closed during the pause.
    looked_at: Option<Instant>,
    /// Clients that have not ended.
    active: usize,
}

impl Protocol for ClosedLoad<'_> {
    type Error = LoadError;

    fn go_on(&mut self, poller: &Poller) -> Result<Option<Wait<'_>>, LoadError> {
        while let Some(ended) = self.lanes.next_ended() {
            let walk = &mut self.walks[ended.lane];
            walk.note(ended.outcome);
            let (number, request) = (walk.number, ended.request);
            self.recorder.observe(number, request, ended.start, ended.end, ended.outcome);
            if self.think_time.is_zero() {
                self.send_next(ended.lane, poller)?;
            } else {
                self.thinking.push(Reverse((ended.end + self.think_time, ended.lane)));
            }
        }
        self.wake(poller)?;
        let wait = match self.thinking.peek() {
            Some(Reverse((due, _))) => {
                let now = *self.looked_at.insert(Instant::now());
                Wait::AtMost(due.saturating_duration_since(now))
            }
            None => Wait::UntilCheck,
        };
        Ok((self.active > 0).then_some(self.lanes.limit(wait)))
    }

    fn advance(&mut self, connection: usize, poller: &Poller) -> Result<(), LoadError> {
        self.lanes.advance(connection, poller)
    }

    fn check_deadlines(&mut self) -> Result<(), LoadError> {
        self.lanes.check_deadlines()
    }
}

impl ClosedLoad<'_> {
    /// Sends a client's next request, if the trial is not over for it.
    fn send_next(&mut self, client: usize, poller: &Poller) -> Result<(), LoadError> {
        let Some(request) = self.walks[client].next(self.recorder.begun()) else {
            self.active -= 1;
            return Ok(());
        };
        let now = Instant::now();
        self.lanes.start(client, request, (now, now), poller)
    }

    /// Sends the requests of those whose pause was over when it was looked at.
    fn wake(&mut self, poller: &Poller) -> Result<(), LoadError> {
        let Some(now) = self.looked_at.take() else { return Ok(()) };
        while let Some(&Reverse((due, client))) = self.thinking.peek() {
            if due > now {
                return Ok(());
            }
            self.thinking.pop();
            self.send_next(client, poller)?;
        }
        Ok(())
    }

    fn end(mut self) -> Recorded {
        let given_up = self.walks.iter().map(|walk| u16::from(walk.has_given_up())).sum();
        self.recorder.note_connections(self.lanes.opened(), given_up);
        self.recorder.end()
    }
}
