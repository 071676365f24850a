//! Open load over HTTP: requests are due by a clock that does not wait for answers. One thread
//! sends them in their order, on a connection that is free or a new one while there are fewer than
//! allowed; beyond that they queue here, and their waiting counts.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::num::NonZeroU64;
use std::time::Instant;

use crate::arrivals::Schedule;
use crate::event_loop::{Protocol, run_event_loop};
use crate::lanes::Lanes;
use crate::offer::{Offer, Tally};
use crate::order::Rounds;
use crate::poller::{Poller, Wait};
use crate::recorder::Recorder;
use crate::trial::HttpTrial;
use crate::{LoadError, TrialSample};
use record::Outcome;

/// One trial of open load, on the calling thread.
pub(super) fn run(
    trial: &HttpTrial<'_>,
    weights: &[u32],
    offer: Offer,
) -> Result<TrialSample, LoadError> {
    let options = trial.options;
    wake_in_time();
    let schedule = Schedule::new(offer.arrivals, offer.per_second, options.seed).peekable();
    let mut poller = Poller::new()?;
    let recorder = Recorder::begin(weights.len());
    let mut load = Open {
        connections_max: usize::from(options.clients),
        schedule,
        rounds: Rounds::new(weights, options.seed, 0),
        lanes: Lanes::new(trial),
        free: Vec::new(),
        queue: VecDeque::new(),
        under_way: 0,
        tally: Tally::new(recorder.begun(), offer.time),
        recorder,
    };
    run_event_loop(&mut load, &mut poller)?;
    Ok(load.finish())
}

/// The kernel may otherwise wake this thread 50 microseconds late to save power. Where it does not know
/// the call, requests are sent that much later.
pub(super) fn wake_in_time() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

struct Open<'a> {
    connections_max: usize,
    schedule: Peekable<Schedule>,
    rounds: Rounds,
    lanes: Lanes<'a>,
    /// Connections without a request; the one that answered last is taken first.
    free: Vec<usize>,
    /// Requests that are due and wait for a connection.
    queue: VecDeque<(Instant, u16)>,
    under_way: usize,
    tally: Tally,
    recorder: Recorder,
}

impl Protocol for Open<'_> {
    type Error = LoadError;

    fn go_on(&mut self, poller: &Poller) -> Result<Option<Wait<'_>>, LoadError> {
        self.take_ended();
        let now = Instant::now();
        let next = self.queue_due_requests(now);
        if now >= self.tally.give_up_at {
            self.drop_queue(now);
        }
        self.send(now, poller)?;
        if next.is_none() && self.queue.is_empty() && self.under_way == 0 {
            return Ok(None);
        }
        let pause = next.map(|due| due.saturating_duration_since(Instant::now()));
        Ok(Some(self.lanes.limit(pause.map_or(Wait::UntilCheck, Wait::AtMost))))
    }

    fn advance(&mut self, connection: usize, poller: &Poller) -> Result<(), LoadError> {
        self.lanes.advance(connection, poller)
    }

    fn check_deadlines(&mut self) -> Result<(), LoadError> {
        self.lanes.check_deadlines()
    }
}

impl Open<'_> {
    /// Notes the requests that have come to their end.
    fn take_ended(&mut self) {
        while let Some(ended) = self.lanes.next_ended() {
            self.under_way -= 1;
            self.free.push(ended.lane);
            self.tally.note_answered(ended.end);
            let connection = u16::try_from(ended.lane).unwrap_or(u16::MAX);
            let (start, end) = (ended.start, ended.end);
            self.recorder.observe(connection, ended.request, start, end, ended.outcome);
        }
    }

    /// Takes every arrival up to `now`; when the next one will be, if within the trial.
    fn queue_due_requests(&mut self, now: Instant) -> Option<Instant> {
        let begun = self.recorder.begun();
        while let Some(after) = self.schedule.peek().copied() {
            let due = begun.checked_add(after).filter(|due| *due < self.tally.end)?;
            if due > now {
                return Some(due);
            }
            self.schedule.next();
            self.tally.note_due(due);
            self.queue.push_back((due, self.rounds.next()));
        }
        None
    }

    fn send(&mut self, now: Instant, poller: &Poller) -> Result<(), LoadError> {
        while let Some(&(due, request)) = self.queue.front() {
            let lane = match self.free.pop() {
                Some(lane) => lane,
                None if self.lanes.len() < self.connections_max => self.lanes.add(),
                None => return Ok(()),
            };
            self.queue.pop_front();
            self.under_way += 1;
            self.lanes.start(lane, request, (due, now), poller)?;
        }
        Ok(())
    }

    /// The server is so far behind that the rest is not waited for; it is recorded all the same.
    fn drop_queue(&mut self, now: Instant) {
        while let Some((due, request)) = self.queue.pop_front() {
            self.tally.note_unsent();
            self.recorder.observe(0, request, due, now, Outcome::NotSent);
        }
    }

    fn finish(mut self) -> TrialSample {
        self.recorder.note_connections(self.lanes.opened(), 0);
        let mut sample = TrialSample::assemble(vec![self.recorder.end()]);
        self.tally.conclude(&mut sample);
        sample
    }
}
