//! Closed load: one thread per client, each waiting for its answer before it sends again.
//! Response time is therefore service time; open load (arrivals by a rate) is another file.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::gate::Gate;
use super::order::Rounds;
use super::{Expected, Observation, Outcome, TrialSample};
use crate::http::{Answer, Connection, HttpError, PreparedRequest, Target};
use crate::resource::{ResourceError, pin_this_thread};

/// Connections that fail one after another before a client of a steady trial gives up: a dead
/// server refuses a hundred thousand times per second.
const CONNECTION_FAILURES_MAX: u32 = 10;

/// How long a trial goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every client walks this many rounds. A round is every request as often as its weight says,
    /// shuffled anew.
    Passes(u32),
    /// Every client walks rounds until `time` has passed since its own start, and until every
    /// client has finished `minimum_rounds`: those that are ahead go on meanwhile, so that the
    /// last ones are not measured with fewer clients than were asked for. A request counts if and
    /// only if it was sent before that moment; the one under way is waited for and counted.
    /// (To drop it would favour short requests; the number of requests sent before a moment, plus
    /// the one under way, is a stopping time, so their mean is unbiased by Wald's equation.)
    Steady {
        /// Length of the trial.
        time: Duration,
        /// With at least 1 every request is observed, however slow the server is.
        minimum_rounds: u32,
    },
}

/// What becomes of a connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionUse {
    /// Opened before the clocks start and kept. If the server closes it, opening another
    /// counts in the next request's response time.
    PerClient,
    /// Opened for each request, and counted in its response time, as curl does.
    PerRequest,
}

/// How to load.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Number of clients, 1 to 65,535; each is a thread.
    pub clients: u16,
    /// When to stop.
    pub mode: Mode,
    /// Whether connections are kept.
    pub connection: ConnectionUse,
    /// Seed of this trial (see [`super::derive_seed`]); each client derives its own from it.
    pub seed: u64,
    /// Limit of each request.
    pub timeout: Duration,
    /// Processors that the clients may use; `None`: all.
    pub client_cpus: Option<Vec<usize>>,
}

/// A trial that could not be run. A server that fails is not such an error: its failures are
/// observations.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The lists do not fit together, or there is nothing to do.
    #[error("load: {0}")]
    InvalidLoad(String),
    /// A thread could not be started.
    #[error("load: client {client} of {clients} cannot be started: {source}; use fewer clients")]
    Thread {
        /// Number of the client, from 1.
        client: usize,
        /// How many were wanted.
        clients: u16,
        /// What the system said.
        source: io::Error,
    },
    /// The clients could not be bound to their processors.
    #[error("load: {0}")]
    Cpus(#[from] ResourceError),
    /// The user asked to stop; nothing of the trial is kept.
    #[error("interrupted")]
    Interrupted,
}

/// Runs one trial. `weights` and `expected` go with `requests` one by one; think time is 0.
///
/// # Errors
/// [`LoadError`] where the trial could not be run as asked for.
pub fn run_closed(
    target: &Target,
    requests: &[PreparedRequest],
    weights: &[u32],
    expected: &[Expected],
    options: &LoadOptions,
    interrupted: &AtomicBool,
) -> Result<TrialSample, LoadError> {
    check(requests, weights, expected, options)?;
    let gate = Gate::default();
    let first = vec![OnceLock::new(); requests.len()];
    let behind = AtomicUsize::new(usize::from(options.clients));
    let trial = Trial { target, requests, expected, first, options, interrupted, behind };
    let results = thread::scope(|scope| {
        let mut clients = Vec::with_capacity(usize::from(options.clients));
        for client in 0..options.clients {
            let (trial, gate) = (&trial, &gate);
            let rounds = Rounds::new(weights, options.seed, client);
            let name = format!("client {client}");
            let spawned = thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, move || trial.run_client(client, rounds, gate));
            match spawned {
                Ok(handle) => clients.push(handle),
                Err(source) => {
                    gate.call_off();
                    let client = clients.len() + 1;
                    return Err(LoadError::Thread { client, clients: options.clients, source });
                }
            }
        }
        gate.open_for(clients.len());
        clients
            .into_iter()
            .map(|client| client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Result<Vec<_>, _>>()
    })?;
    Ok(assemble(results))
}

fn check(
    requests: &[PreparedRequest],
    weights: &[u32],
    expected: &[Expected],
    options: &LoadOptions,
) -> Result<(), LoadError> {
    let refuse = |reason: String| Err(LoadError::InvalidLoad(reason));
    if requests.len() != weights.len() || requests.len() != expected.len() {
        return refuse(format!(
            "{} requests, {} weights and {} expected answers: there must be as many of each",
            requests.len(),
            weights.len(),
            expected.len()
        ));
    }
    if requests.len() > usize::from(u16::MAX) {
        return refuse(format!("{} requests are more than 65,535", requests.len()));
    }
    if weights.iter().all(|&weight| weight == 0) {
        return refuse("no request with a weight above 0".to_owned());
    }
    if options.clients == 0 {
        return refuse("0 clients; at least 1 is needed".to_owned());
    }
    if options.mode == Mode::Passes(0) {
        return refuse("0 passes; at least 1 is needed".to_owned());
    }
    Ok(())
}

/// What all clients of a trial share.
struct Trial<'a> {
    target: &'a Target,
    requests: &'a [PreparedRequest],
    expected: &'a [Expected],
    /// The first answer of each request, where only likeness is expected.
    first: Vec<OnceLock<Answer>>,
    options: &'a LoadOptions,
    interrupted: &'a AtomicBool,
    /// Clients of a steady trial that have not finished their minimum of rounds.
    behind: AtomicUsize,
}

impl Trial<'_> {
    /// The life of one client's thread.
    fn run_client(
        &self,
        number: u16,
        mut rounds: Rounds,
        gate: &Gate,
    ) -> Result<ClientSample, LoadError> {
        let pinned = self.options.client_cpus.as_deref().map_or(Ok(()), pin_this_thread);
        let mut client = Client::new(self, number);
        if self.options.connection == ConnectionUse::PerClient {
            // A refusal here is met again, and recorded, by the first request.
            let _ = client.connect();
        }
        let started = gate.pass();
        pinned?;
        if !started {
            return Err(LoadError::Interrupted);
        }
        let cpu_before = thread_cpu_time();
        let begun = Instant::now();
        let mut place = Place::behind(&self.behind);
        while !client.has_given_up() {
            place.update(rounds.finished() >= self.minimum_rounds());
            if !self.goes_on(&rounds, begun) {
                break;
            }
            client.observe(rounds.next(), begun)?;
        }
        drop(place);
        Ok(ClientSample {
            begun,
            ended: Instant::now(),
            cpu: thread_cpu_time().saturating_sub(cpu_before),
            given_up: client.has_given_up(),
            connections_opened: client.connections_opened,
            observations: client.observations,
        })
    }

    fn goes_on(&self, rounds: &Rounds, begun: Instant) -> bool {
        match self.options.mode {
            Mode::Passes(passes) => rounds.finished() < passes,
            Mode::Steady { time, .. } => {
                begun.elapsed() < time || self.behind.load(Ordering::Relaxed) > 0
            }
        }
    }

    fn minimum_rounds(&self) -> u32 {
        match self.options.mode {
            Mode::Passes(_) => 0,
            Mode::Steady { minimum_rounds, .. } => minimum_rounds,
        }
    }
}

/// One client's part of [`Trial::behind`]; given back however the client ends, so that nobody
/// waits for one that has failed.
struct Place<'a> {
    behind: &'a AtomicUsize,
    is_behind: bool,
}

impl<'a> Place<'a> {
    fn behind(behind: &'a AtomicUsize) -> Self {
        Self { behind, is_behind: true }
    }

    fn update(&mut self, finished_minimum: bool) {
        if finished_minimum && self.is_behind {
            self.is_behind = false;
            self.behind.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.update(true);
    }
}

/// One client at work.
struct Client<'a> {
    trial: &'a Trial<'a>,
    number: u16,
    connection: Connection<'a>,
    connections_opened: u64,
    /// Connections that could not be made, since the last that could.
    connection_failures: u32,
    /// `start_ns` is counted from this client's own start until all clients are known.
    observations: Vec<Observation>,
}

impl<'a> Client<'a> {
    fn new(trial: &'a Trial<'a>, number: u16) -> Self {
        Self {
            trial,
            number,
            connection: Connection::closed(trial.target, trial.options.timeout, trial.interrupted),
            connections_opened: 0,
            connection_failures: 0,
            observations: Vec::new(),
        }
    }

    fn connect(&mut self) -> Result<(), HttpError> {
        self.connection.connect()?;
        self.connections_opened += 1;
        Ok(())
    }

    /// Sends one request between two looks at the clock.
    fn observe(&mut self, request: u16, begun: Instant) -> Result<(), LoadError> {
        let index = usize::from(request);
        let start = Instant::now();
        let result = self.exchange(index);
        let end = Instant::now();
        if self.trial.options.connection == ConnectionUse::PerRequest {
            self.connection.close();
        }
        let outcome = match result {
            Ok(answer) => self.trial.expected[index].judge(&answer, &self.trial.first[index]),
            Err(error) => Outcome::of_error(&error).ok_or(LoadError::Interrupted)?,
        };
        match outcome {
            Outcome::ConnectionFailed => self.connection_failures += 1,
            _ => self.connection_failures = 0,
        }
        self.observations.push(Observation {
            client: self.number,
            request,
            start_ns: nanoseconds(start - begun),
            response_time_ns: nanoseconds(end - start),
            outcome,
        });
        if self.trial.interrupted.load(Ordering::Relaxed) {
            return Err(LoadError::Interrupted);
        }
        Ok(())
    }

    fn exchange(&mut self, index: usize) -> Result<Answer, HttpError> {
        if !self.connection.is_open() {
            self.connect()?;
        }
        self.connection.send(&self.trial.requests[index])
    }

    fn has_given_up(&self) -> bool {
        self.connection_failures >= CONNECTION_FAILURES_MAX
            && matches!(self.trial.options.mode, Mode::Steady { .. })
    }
}

/// What one client saw.
struct ClientSample {
    begun: Instant,
    ended: Instant,
    cpu: Duration,
    given_up: bool,
    connections_opened: u64,
    observations: Vec<Observation>,
}

/// Puts the clients' samples on one time line that begins with the first of them.
fn assemble(clients: Vec<ClientSample>) -> TrialSample {
    let mut sample = TrialSample {
        observations: Vec::with_capacity(clients.iter().map(|one| one.observations.len()).sum()),
        wall_time: Duration::ZERO,
        client_cpu_seconds: 0.0,
        connections_opened: 0,
        clients_given_up: 0,
    };
    let begun = clients.iter().map(|client| client.begun).min();
    for mut client in clients {
        let begun = begun.unwrap_or(client.begun);
        let late = nanoseconds(client.begun - begun);
        for observation in &mut client.observations {
            observation.start_ns += late;
        }
        sample.observations.append(&mut client.observations);
        sample.wall_time = sample.wall_time.max(client.ended - begun);
        sample.client_cpu_seconds += client.cpu.as_secs_f64();
        sample.connections_opened += client.connections_opened;
        sample.clients_given_up += u16::from(client.given_up);
    }
    sample
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
