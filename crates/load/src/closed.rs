//! Closed load over HTTP: a fixed number of clients, each waiting for its answer before it sends
//! again. Response time is therefore service time. One thread drives many clients.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use crate::gate::Gate;
use crate::lanes::Lanes;
use crate::recorder::{Recorded, Recorder};
use crate::trial::HttpTrial;
use crate::walk::{Walk, Walkers};
use crate::{ConnectionUse, LoadError};

/// Longer than the event loop rests anyway.
const NO_LIMIT: Duration = Duration::from_secs(1);

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
    let lanes = gate.wait_for_all(options.client_cpus.as_deref(), connect)??;
    let recorder = Recorder::begin(walkers.weights.len());
    let active = walks.len();
    ClosedLoad { walks, lanes, recorder, thinking: BinaryHeap::new(), active }
        .work(options.think_time)
}

fn connected<'a>(trial: &'a HttpTrial<'a>, clients: usize) -> Result<Lanes<'a>, LoadError> {
    let mut lanes = Lanes::new(trial)?;
    for _ in 0..clients {
        lanes.add();
    }
    if trial.options.connection == ConnectionUse::PerClient {
        lanes.connect_all()?;
    }
    Ok(lanes)
}

/// One thread's clients at work; each has the connection of its index.
struct ClosedLoad<'a> {
    walks: Vec<Walk<'a>>,
    lanes: Lanes<'a>,
    recorder: Recorder,
    /// Clients that pause, and until when.
    thinking: BinaryHeap<Reverse<(Instant, usize)>>,
    /// Clients that have not ended.
    active: usize,
}

impl ClosedLoad<'_> {
    fn work(mut self, think_time: Duration) -> Result<Recorded, LoadError> {
        for client in 0..self.walks.len() {
            self.go_on(client)?;
        }
        while self.active > 0 {
            let (now, pause, exact) = self.until_next();
            self.lanes.wait(pause, exact)?;
            while let Some(ended) = self.lanes.next_ended() {
                let walk = &mut self.walks[ended.lane];
                walk.note(ended.outcome);
                let (number, request) = (walk.number, ended.request);
                self.recorder.observe(number, request, ended.start, ended.end, ended.outcome);
                if think_time.is_zero() {
                    self.go_on(ended.lane)?;
                } else {
                    self.thinking.push(Reverse((ended.end + think_time, ended.lane)));
                }
            }
            self.wake(now)?;
        }
        let given_up = self.walks.iter().map(|walk| u16::from(walk.has_given_up())).sum();
        self.recorder.note_connections(self.lanes.opened(), given_up);
        Ok(self.recorder.end())
    }

    /// Sends a client's next request, if the trial is not over for it.
    fn go_on(&mut self, client: usize) -> Result<(), LoadError> {
        let Some(request) = self.walks[client].next(self.recorder.begun()) else {
            self.active -= 1;
            return Ok(());
        };
        let now = Instant::now();
        self.lanes.start(client, request, now, now)
    }

    /// The time, and how long until the next pause is over, and whether that matters.
    fn until_next(&self) -> (Option<Instant>, Duration, bool) {
        match self.thinking.peek() {
            Some(Reverse((due, _))) => {
                let now = Instant::now();
                (Some(now), due.saturating_duration_since(now), true)
            }
            None => (None, NO_LIMIT, false),
        }
    }

    /// Sends the requests of those whose pause was over at `now`. The connections were looked at
    /// since, so that none is used which the server has closed during the pause.
    fn wake(&mut self, now: Option<Instant>) -> Result<(), LoadError> {
        let Some(now) = now else { return Ok(()) };
        while let Some(&Reverse((due, client))) = self.thinking.peek() {
            if due > now {
                return Ok(());
            }
            self.thinking.pop();
            self.go_on(client)?;
        }
        Ok(())
    }
}
