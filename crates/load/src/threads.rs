//! Load by clients that wait for their answers in threads of their own, as those of databases do:
//! closed, or open with as many clients as may be at work at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::arrivals::Schedule;
use crate::child::ClientChild;
use crate::gate::Gate;
use crate::offer::{Offer, Tally};
use crate::open::wake_in_time;
use crate::options::check;
use crate::order::Rounds;
use crate::recorder::{Recorded, Recorder};
use crate::walk::Walkers;
use crate::{Client, Clients, LoadError, TrialSample};
use plan::LoadOptions;
use record::Outcome;

/// A client that pauses looks this often whether it was interrupted, and threads are looked at.
const LOOK_UP: Duration = Duration::from_millis(100);

/// Runs one trial with a thread per client. `weights` are those of the operations.
pub fn run_clients<C: Clients>(
    clients: &C,
    weights: &[u32],
    options: &LoadOptions,
    interrupted: &AtomicBool,
) -> Result<TrialSample, LoadError> {
    check_mix(weights, options)?;
    let walkers = Walkers::new(options, weights);
    let arrivals = Offer::of(options).map(|offer| ArrivalQueue::new(offer, options, weights));
    let arrivals = arrivals.as_ref();
    let ended = in_threads(0..options.clients, "client", None, |number, gate| {
        let client = gate.wait_for_all(options.client_cpus.as_deref(), || {
            let mut client = clients.client(number);
            client.warm_up();
            client
        })?;
        let recorder = Recorder::begin(weights.len());
        let mut thread = ClientThread { client, number, interrupted, recorder };
        let (tally, given_up) = match arrivals {
            Some(queue) => (Some(thread.run_open(queue)?), false),
            None => (None, thread.walk(&walkers, &mut || Ok(()))?),
        };
        let opened = thread.client.connections_opened();
        thread.recorder.note_connections(opened, u16::from(given_up));
        Ok((thread.recorder.end(), tally))
    })?;
    let ended: Vec<_> = ended.into_iter().collect::<Result<_, LoadError>>()?;
    let (recorded, tallies): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
    Ok(concluded(recorded, &tallies))
}

/// Does the part of client `number` in a trial whose other clients are processes too: `child` has
/// said that it is ready, and heard that it is to begin.
pub fn run_client<C: Clients>(
    clients: &C,
    number: u16,
    weights: &[u32],
    options: &LoadOptions,
    child: &mut ClientChild,
) -> Result<Recorded, LoadError> {
    check_mix(weights, options)?;
    let walkers = Walkers::of(options, weights, child.behind());
    let never = AtomicBool::new(false);
    let (client, recorder) = (clients.client(number), Recorder::begin(weights.len()));
    let mut thread = ClientThread { client, number, interrupted: &never, recorder };
    let given_up = thread.walk(&walkers, &mut || child.caught_up())?;
    let opened = thread.client.connections_opened();
    thread.recorder.note_connections(opened, u16::from(given_up));
    Ok(thread.recorder.end())
}

fn check_mix(weights: &[u32], options: &LoadOptions) -> Result<(), LoadError> {
    check(options)?;
    if weights.iter().all(|&weight| weight == 0) {
        let reason = "no operation with a weight above 0".to_owned();
        return Err(LoadError::InvalidLoad(reason));
    }
    Ok(())
}

/// Looks at threads at work, given the places of those that have not ended.
pub type Watch<'a> = &'a mut dyn FnMut(&[usize]);

/// Runs `work` in a thread for each worker. Each has to wait at the [`Gate`], which lets them begin
/// together. `watch` is called in the calling thread, at the end of each and ten times per second.
pub fn in_threads<W: Send, T: Send>(
    workers: impl ExactSizeIterator<Item = W>,
    name: &str,
    watch: Option<Watch<'_>>,
    work: impl Fn(W, &Gate) -> T + Sync,
) -> Result<Vec<T>, LoadError> {
    let gate = Gate::default();
    let (threads, main) = (workers.len(), thread::current());
    thread::scope(|scope| {
        let mut started = Vec::with_capacity(threads);
        for (number, worker) in workers.enumerate() {
            let (work, gate, main) = (&work, &gate, &main);
            let spawned = thread::Builder::new().name(format!("{name} {number}")).spawn_scoped(
                scope,
                move || {
                    let done = work(worker, gate);
                    main.unpark();
                    done
                },
            );
            match spawned {
                Ok(handle) => started.push(handle),
                Err(source) => {
                    gate.cancel_all();
                    return Err(LoadError::Thread { thread: number + 1, threads, source });
                }
            }
        }
        gate.open_for(started.len());
        if let Some(watch) = watch {
            watch_until_all_end(&started, watch);
        }
        let join = |thread: ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        Ok(started.into_iter().map(join).collect())
    })
}

fn watch_until_all_end<T>(started: &[ScopedJoinHandle<'_, T>], watch: Watch<'_>) {
    loop {
        let places = (0..).zip(started).filter(|(_, thread)| !thread.is_finished());
        let working: Vec<usize> = places.map(|(place, _)| place).collect();
        if working.is_empty() {
            return;
        }
        watch(&working);
        thread::park_timeout(LOOK_UP);
    }
}

fn concluded(recorded: Vec<Recorded>, tallies: &[Option<Tally>]) -> TrialSample {
    let mut sample = TrialSample::assemble(recorded);
    let mut tallies = tallies.iter().flatten();
    if let Some(mut sum) = tallies.next().copied() {
        tallies.for_each(|tally| sum.add(tally));
        sum.conclude(&mut sample);
    }
    sample
}

/// Requests of an open trial, handed out in the order in which they are due.
struct ArrivalQueue {
    offer: Offer,
    /// When the first client began: one clock for all.
    begun: OnceLock<Instant>,
    next: Mutex<(Schedule, Rounds)>,
}

impl ArrivalQueue {
    fn new(offer: Offer, options: &LoadOptions, weights: &[u32]) -> Self {
        let schedule = Schedule::new(offer.arrivals, offer.per_second, options.seed);
        let next = Mutex::new((schedule, Rounds::new(weights, options.seed, 0)));
        Self { offer, begun: OnceLock::new(), next }
    }

    /// When after the beginning what is due; none when the trial's time is over.
    fn next(&self) -> Option<(Duration, u16)> {
        let mut next = self.next.lock();
        let (schedule, rounds) = &mut *next;
        let due = schedule.next().filter(|due| *due < self.offer.time)?;
        Some((due, rounds.next()))
    }
}

/// One client at work, and its notes.
struct ClientThread<'a, C: Client> {
    client: C,
    number: u16,
    interrupted: &'a AtomicBool,
    recorder: Recorder,
}

impl<C: Client> ClientThread<'_, C> {
    /// Closed load; whether the client has given up. `caught_up` is called once, when the client has
    /// finished its minimum of rounds.
    fn walk(
        &mut self,
        walkers: &Walkers<'_>,
        caught_up: &mut dyn FnMut() -> Result<(), LoadError>,
    ) -> Result<bool, LoadError> {
        let begun = self.recorder.begun();
        let mut walk = walkers.client(self.number);
        let mut was_behind = true;
        while let Some(operation) = walk.next(begun) {
            if was_behind && !walk.is_behind() {
                was_behind = false;
                caught_up()?;
            }
            let (outcome, end) = self.run(operation, None)?;
            walk.note(outcome);
            self.pause_until(end + walkers.options.think_time)?;
        }
        Ok(walk.has_given_up())
    }

    fn run_open(&mut self, queue: &ArrivalQueue) -> Result<Tally, LoadError> {
        wake_in_time();
        let begun = *queue.begun.get_or_init(|| self.recorder.begun());
        let mut tally = Tally::new(begun, queue.offer.time);
        while let Some((after, operation)) = queue.next() {
            let due = begun + after;
            tally.note_due(due);
            self.pause_until(due)?;
            if Instant::now() >= tally.give_up_at {
                tally.note_unsent();
                let (number, now) = (self.number, Instant::now());
                self.recorder.observe(number, operation, due, now, Outcome::NotSent);
            } else {
                let (_, end) = self.run(operation, Some(due))?;
                tally.note_answered(end);
            }
        }
        Ok(tally)
    }

    /// Does one operation, whose time counts from when it was due, or from now.
    fn run(
        &mut self,
        operation: u16,
        due: Option<Instant>,
    ) -> Result<(Outcome, Instant), LoadError> {
        let start = due.unwrap_or_else(Instant::now);
        let outcome = self.client.run(usize::from(operation));
        let end = Instant::now();
        self.check_interrupted()?;
        self.client.tidy();
        self.recorder.observe(self.number, operation, start, end, outcome);
        Ok((outcome, end))
    }

    fn pause_until(&self, moment: Instant) -> Result<(), LoadError> {
        loop {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(LOOK_UP));
            self.check_interrupted()?;
        }
    }

    fn check_interrupted(&self) -> Result<(), LoadError> {
        match self.interrupted.load(Ordering::Relaxed) {
            true => Err(LoadError::Interrupted),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{Arrivals, ConnectionUse, Mode};

    /// Clients that answer at once, and notes of what they were asked.
    #[derive(Default)]
    struct Quick {
        asked: Mutex<Vec<usize>>,
    }

    struct QuickClient<'a>(&'a Quick);

    impl Clients for Quick {
        type Client<'a> = QuickClient<'a>;

        fn client(&self, _number: u16) -> QuickClient<'_> {
            QuickClient(self)
        }
    }

    impl Client for QuickClient<'_> {
        fn run(&mut self, operation: usize) -> Outcome {
            self.0.asked.lock().push(operation);
            if operation == 1 { Outcome::WrongAnswer } else { Outcome::Ok }
        }

        fn connections_opened(&self) -> u64 {
            1
        }
    }

    fn offer(clients: u16, mode: Mode) -> (TrialSample, Vec<usize>) {
        let quick = Quick::default();
        let options = LoadOptions {
            clients,
            mode,
            think_time: Duration::ZERO,
            connection: ConnectionUse::PerClient,
            seed: 1,
            timeout: Duration::from_secs(60),
            left_out: Vec::new(),
            client_cpus: None,
        };
        let going_on = AtomicBool::new(false);
        let sample = run_clients(&quick, &[1, 1, 2], &options, &going_on).unwrap();
        (sample, quick.asked.into_inner())
    }

    #[test]
    fn a_closed_trial_does_every_operation_by_its_weight() {
        let (sample, asked) = offer(3, Mode::Passes(5));
        let counts: Vec<u64> = sample.operations.iter().map(|one| one.count).collect();
        assert_eq!((counts, asked.len()), (vec![15, 15, 30], 60));
        assert_eq!((sample.failures(), sample.connections_opened), (15, 3));
        assert_eq!(sample.first_failure, Some((1, Outcome::WrongAnswer)));
    }

    #[test]
    fn an_open_trial_does_exactly_what_is_due_with_any_clients() {
        for clients in [1, 4] {
            let time = Duration::from_millis(200);
            let mode = Mode::Open { time, per_second: 100.0, arrivals: Arrivals::Uniform };
            let (sample, asked) = offer(clients, mode);
            // A thread that had no processor for the length of the trial gives its requests up.
            let given_up = sample.observations.iter().filter(|one| one.outcome == Outcome::NotSent);
            assert_eq!((sample.observations.len(), asked.len() + given_up.count()), (20, 20));
            assert_eq!(sample.offered_per_second, Some(100.0));
        }
    }
}
