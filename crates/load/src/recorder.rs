//! Observations of one thread of a trial, and their merging with the other threads' into one
//! sample. Totals are kept as observations come, so nothing has to be read again afterwards.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::monotonic::{from_monotonic_ns, to_monotonic_ns};
use crate::resource::ThreadUse;
use crate::{OperationTotals, TrialSample};
use record::{FailureKind, Observation, ObservationLog, Observations, Outcome};

/// One thread's notes. Made by the thread itself at the moment when it begins.
pub struct Recorder {
    begun: Instant,
    cpu_before: Duration,
    used_before: ThreadUse,
    log: ObservationLog,
    operations: Vec<OperationTotals>,
    first_failure: Option<(u16, Outcome)>,
    connections_opened: u64,
    clients_given_up: u16,
    /// The thread's use up to the moment when it was no longer to be counted.
    counted: Option<(Duration, ThreadUse)>,
}

impl Recorder {
    /// Begins now. `operations` is the length of the mix.
    pub fn begin(operations: usize) -> Self {
        let used_before = ThreadUse::of_this_thread();
        Self {
            begun: Instant::now(),
            cpu_before: thread_cpu_time(),
            used_before,
            log: ObservationLog::default(),
            operations: vec![OperationTotals::default(); operations],
            first_failure: None,
            connections_opened: 0,
            clients_given_up: 0,
            counted: None,
        }
    }

    /// Processor time of this thread is not counted from now on; its observations still are.
    pub fn stop_counting(&mut self) {
        self.counted.get_or_insert_with(used_by_this_thread);
    }

    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// Notes one operation of one client, from `start` (in open load the intended one) to `end`.
    pub fn observe(
        &mut self,
        client: u16,
        operation: u16,
        start: Instant,
        end: Instant,
        outcome: Outcome,
    ) {
        let one = Observation {
            client,
            request: operation,
            start_ns: nanoseconds(start.saturating_duration_since(self.begun)),
            response_time_ns: nanoseconds(end.saturating_duration_since(start)),
            outcome,
        };
        self.log.push(&one);
        let failure = outcome.failure();
        let failed = failure.is_some();
        if let Some(totals) = self.operations.get_mut(usize::from(operation)) {
            totals.count += 1;
            totals.failures += u64::from(failed);
            match failure {
                None => totals.response_time_ns += one.response_time_ns,
                Some(FailureKind::Wrong) => totals.wrong += 1,
                Some(FailureKind::TimedOut) => {
                    totals.timed_out += 1;
                    totals.timed_out_ns += one.response_time_ns;
                }
                Some(FailureKind::Refused) => {}
            }
        }
        if failed {
            self.first_failure = self.first_failure.or(Some((operation, outcome)));
        }
    }

    /// Notes what cannot be told from the observations.
    pub fn note_connections(&mut self, opened: u64, clients_given_up: u16) {
        self.connections_opened += opened;
        self.clients_given_up += clients_given_up;
    }

    pub fn end(self) -> Recorded {
        let ended = Instant::now();
        let (cpu, used) = self.counted.unwrap_or_else(used_by_this_thread);
        let cpu = cpu.saturating_sub(self.cpu_before);
        let used = used.since(&self.used_before);
        Recorded { recorder: self, ended, cpu, used }
    }
}

/// The finished notes of one thread.
pub struct Recorded {
    recorder: Recorder,
    ended: Instant,
    cpu: Duration,
    used: ThreadUse,
}

/// The same but for the observations, as one process hands it to another: moments on the monotonic
/// clock, in nanoseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecordedNotes {
    begun_ns: u64,
    ended_ns: u64,
    cpu: Duration,
    used: ThreadUse,
    operations: Vec<OperationTotals>,
    first_failure: Option<(u16, Outcome)>,
    connections_opened: u64,
    clients_given_up: u16,
}

impl Recorded {
    /// The notes, and the observations.
    #[must_use]
    pub fn into_notes(self) -> (RecordedNotes, ObservationLog) {
        let Self { recorder, ended, cpu, used } = self;
        let notes = RecordedNotes {
            begun_ns: to_monotonic_ns(recorder.begun),
            ended_ns: to_monotonic_ns(ended),
            cpu,
            used,
            operations: recorder.operations,
            first_failure: recorder.first_failure,
            connections_opened: recorder.connections_opened,
            clients_given_up: recorder.clients_given_up,
        };
        (notes, recorder.log)
    }

    #[must_use]
    pub fn from_notes(notes: RecordedNotes, log: ObservationLog) -> Self {
        let recorder = Recorder {
            begun: from_monotonic_ns(notes.begun_ns),
            cpu_before: Duration::ZERO,
            used_before: ThreadUse::default(),
            log,
            operations: notes.operations,
            first_failure: notes.first_failure,
            connections_opened: notes.connections_opened,
            clients_given_up: notes.clients_given_up,
            counted: None,
        };
        let (cpu, used) = (notes.cpu, notes.used);
        Self { recorder, ended: from_monotonic_ns(notes.ended_ns), cpu, used }
    }
}

impl TrialSample {
    /// A trial of which nothing is known but its length.
    #[must_use]
    pub fn nothing(wall_time: Duration) -> Self {
        let mut sample = Self::assemble(Vec::new());
        sample.wall_time = wall_time.max(Duration::from_nanos(1));
        sample
    }

    /// Puts the notes of all threads on one time line that begins with the first of them.
    pub fn assemble(threads: Vec<Recorded>) -> Self {
        let operations = threads.first().map_or(0, |one| one.recorder.operations.len());
        let mut sample = Self {
            observations: Observations::default(),
            operations: vec![OperationTotals::default(); operations],
            first_failure: None,
            requests_per_second: 0.0,
            wall_time: Duration::ZERO,
            client_cpu_seconds: 0.0,
            client_use: ThreadUse::default(),
            connections_opened: 0,
            clients_given_up: 0,
            offered_per_second: None,
            saturated: false,
        };
        let begun = threads.iter().map(|one| one.recorder.begun).min();
        for Recorded { recorder, ended, cpu, used } in threads {
            let begun = begun.unwrap_or(recorder.begun);
            sample.observations.add(recorder.log, nanoseconds(recorder.begun - begun));
            for (sum, part) in sample.operations.iter_mut().zip(&recorder.operations) {
                sum.add(part);
            }
            sample.first_failure = sample.first_failure.or(recorder.first_failure);
            sample.wall_time = sample.wall_time.max(ended.saturating_duration_since(begun));
            sample.client_cpu_seconds += cpu.as_secs_f64();
            sample.client_use.add(&used);
            sample.connections_opened += recorder.connections_opened;
            sample.clients_given_up += recorder.clients_given_up;
        }
        // Not the sum of the clients' own rates: who waits at the beginning or ends early would count as
        // if it had been as fast all the time.
        let right: u64 = sample.operations.iter().map(|one| one.count - one.failures).sum();
        if !sample.wall_time.is_zero() {
            sample.requests_per_second = right as f64 / sample.wall_time.as_secs_f64();
        }
        sample
    }
}

fn used_by_this_thread() -> (Duration, ThreadUse) {
    (thread_cpu_time(), ThreadUse::of_this_thread())
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(seconds, nanoseconds)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
