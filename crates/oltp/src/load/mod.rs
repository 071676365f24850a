//! Closed load: sessions, their drivers and their results. Connecting and measuring are two turns
//! of threads, so that no client measures while others still connect, and none waits for one that
//! failed to. The workers stamp the beginning of the measured part: a clock read by the main
//! thread between a thousand busy ones would be late.

mod cancel;
mod drawer;
mod files;
mod library;
mod mysql;
mod notes;
mod options;
mod outcome;
mod postgres;
mod process;
mod program;
mod session;
mod sink;
mod sqlite;
mod watchdog;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

pub use options::{Driver, OltpLoadOptions, Until};
pub use outcome::{ClientTotals, OltpLoad, Retries, StatementTotals, Transaction};
pub use process::{ConnectedClient, OltpJob, OltpPart, run_processes};
pub use sink::{Latencies, Sink};

use cancel::Canceller;
use notes::{ClientAccount, FinishedThread, Notes};
use postgres::PostgresLanes;
use program::Program;
use watchdog::Watchdog;

use crate::console::Console;
use crate::target::{MysqlServer, SqliteFile};
use crate::{Error, OltpTarget, catalog};
use plan::oltp::{CharacterSet, Mix, TableOptions};

/// Statements are cancelled at most this often.
const LOOK_UP: Duration = Duration::from_millis(100);

/// Executions of `SELECT 1` of which the median is the round-trip time.
const ROUND_TRIPS: usize = 101;

/// State that all threads of a load share.
struct SharedState<'a> {
    program: Program,
    /// When the first worker began, warm-up included.
    started: OnceLock<Instant>,
    interrupted: &'a AtomicBool,
    cancelled: AtomicBool,
    /// The time is over, and that of the last answers too: what is not done is given up. The busy
    /// handlers of SQLite share it.
    cut_off: Arc<AtomicBool>,
    /// How many threads offer the load.
    threads: usize,
}

impl SharedState<'_> {
    fn check_not_stopped(&self) -> Result<(), Error> {
        match self.interrupted.load(Ordering::Relaxed) || self.cancelled.load(Ordering::Relaxed) {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    }

    /// Whether clients must no longer wait for answers; sets `cut_off` when the time is over.
    fn gives_up(&self) -> bool {
        let options = &self.program.options;
        if let Until::Time(time) = options.until {
            let at_most = options.warmup + time + options.grace;
            let is_over = self.started.get().is_some_and(|started| started.elapsed() > at_most);
            self.cut_off.fetch_or(is_over, Ordering::Relaxed);
        }
        self.cut_off.load(Ordering::Relaxed) || self.check_not_stopped().is_err()
    }
}

/// The clients of one thread.
trait Worker: Send {
    /// Offers load until the time of every client is over.
    fn work<S: Sink>(
        self,
        shared: &SharedState<'_>,
        notes: &mut Notes<'_, S>,
    ) -> Result<Vec<ClientAccount>, Error>;
}

/// Connects every client, prepares its statements once, offers the load and disconnects. Threads
/// inherit the processors of the calling thread. A client whose connection breaks ends, and is
/// reported ([`ClientTotals::ended_by`]); the load ends when all have, and no later than
/// [`LoadOptions::grace`] and one cancelled statement after its time.
pub fn run<S: Sink>(
    target: &OltpTarget,
    tables: &TableOptions,
    options: &OltpLoadOptions,
    begin: &(impl Fn() -> S + Sync),
    interrupted: &AtomicBool,
) -> Result<OltpLoad<S::Kept>, Error> {
    let (oldest, round_trip) = examined(target, tables, options, interrupted)?;
    let clients = usize::from(options.clients);
    let threads = match (target, options.driver) {
        (OltpTarget::Postgres { .. }, Driver::Fitting) => {
            postgres::fitting_threads(options.clients)
        }
        (OltpTarget::Postgres { .. }, Driver::EventLoops) => postgres::event_loops(clients),
        (OltpTarget::Postgres { .. }, Driver::Threads)
        | (OltpTarget::Sqlite { .. } | OltpTarget::Mysql { .. }, _) => clients,
    };
    let program = Program::new(tables, options, oldest);
    let shared = SharedState {
        program,
        started: OnceLock::new(),
        interrupted,
        cancelled: AtomicBool::new(false),
        cut_off: Arc::default(),
        threads,
    };
    let done = offer(target, &shared, begin)?;
    Ok(assemble(&shared.program, shared.threads, round_trip, done))
}

/// Checks what is asked for, and that the tables are there; the lowest key of each where they are
/// needed, and the median time of `SELECT 1`.
fn examined(
    target: &OltpTarget,
    tables: &TableOptions,
    options: &OltpLoadOptions,
    interrupted: &AtomicBool,
) -> Result<(Vec<u64>, Duration), Error> {
    check(target, tables, options)?;
    files::make_room(options.clients)?;
    let mut console = Console::open(target, interrupted)?;
    catalog::require(&mut console, tables)?;
    let oldest = match options.mix {
        Mix::Churn => catalog::lowest_keys(&mut console, tables.tables)?,
        _ => Vec::new(),
    };
    let mut console = Console::open_as_client(target, interrupted)?;
    Ok((oldest, round_trip(&mut console)?))
}

/// Connects the clients and lets them work.
fn offer<S: Sink>(
    target: &OltpTarget,
    shared: &SharedState<'_>,
    begin: &(impl Fn() -> S + Sync),
) -> Result<FinishedLoad<S::Kept>, Error> {
    let connecting = Instant::now();
    let (threads, clients) = (shared.threads, usize::from(shared.program.clients));
    let canceller = |sessions| Canceller::new(target, sessions, shared.interrupted);
    match target {
        OltpTarget::Postgres { url, session, .. } => {
            let connect = |worker: usize| {
                let clients = (worker..clients).step_by(threads).map(|client| client as u16);
                PostgresLanes::connect(url, session, clients, shared)
            };
            let lanes = connect_all(threads, shared, connect)?;
            let connect_time = connecting.elapsed();
            let watched = lanes.iter().flat_map(PostgresLanes::watched);
            let mut watchdog = Watchdog::new(watched, shared.program.options.timeout);
            let look_up = &mut || watchdog.look_up(shared);
            let mut canceller = canceller(lanes.iter().map(PostgresLanes::sessions).collect());
            let cancel = &mut |workers: &[usize]| canceller.cancel(workers);
            let threads = drive(lanes, shared, begin, look_up, cancel)?;
            Ok(FinishedLoad { connect_time, threads })
        }
        OltpTarget::Sqlite { path, pragmas, library: None } => {
            let file = SqliteFile { path, pragmas };
            let connect = |worker: usize| sqlite::SqliteClient::open(file, worker as u16, shared);
            let opened = connect_all(threads, shared, connect)?;
            let (workers, handles): (Vec<_>, Vec<_>) = opened.into_iter().unzip();
            let connect_time = connecting.elapsed();
            let cancel = &mut |workers: &[usize]| {
                for handle in workers.iter().filter_map(|worker| handles.get(*worker)) {
                    handle.interrupt();
                }
            };
            let threads = drive(workers, shared, begin, &mut || {}, cancel)?;
            Ok(FinishedLoad { connect_time, threads })
        }
        OltpTarget::Sqlite { library: Some(library), .. } => {
            let text = format!("{library} is held by processes of its own, not by threads");
            Err(Error::Options(text))
        }
        OltpTarget::Mysql { url, session } => {
            let server = MysqlServer { url, session };
            let connect =
                |worker: usize| mysql::MysqlClient::connect(server, worker as u16, shared);
            let workers = connect_all(threads, shared, connect)?;
            let connect_time = connecting.elapsed();
            let sessions = workers.iter().map(|worker| vec![worker.session_number()]);
            let mut canceller = canceller(sessions.collect());
            let cancel = &mut |workers: &[usize]| canceller.cancel(workers);
            let threads = drive(workers, shared, begin, &mut || {}, cancel)?;
            Ok(FinishedLoad { connect_time, threads })
        }
    }
}

fn check(
    target: &OltpTarget,
    tables: &TableOptions,
    options: &OltpLoadOptions,
) -> Result<(), Error> {
    tables.check().map_err(Error::Options)?;
    let wrong = |text: String| Err(Error::Options(text));
    if options.clients == 0 {
        return wrong("a load needs at least one client".to_owned());
    }
    if options.until == Until::Transactions(0) || options.until == Until::Time(Duration::ZERO) {
        return wrong("a load needs time, or at least one transaction".to_owned());
    }
    if options.mix.schema() != tables.schema {
        return wrong(format!(
            "the workload {} needs tables of {}, not of {}",
            options.mix,
            options.mix.schema().name(),
            tables.schema.name()
        ));
    }
    let set = options.character_set;
    if set == CharacterSet::Utf16
        || (set == CharacterSet::Latin2 && matches!(target, OltpTarget::Sqlite { .. }))
    {
        let text = "the client's texts are utf8 (any engine) or latin2 (PostgreSQL, MariaDB)";
        return wrong(format!("{text}, not {}", set.name()));
    }
    Ok(())
}

/// The median time of `SELECT 1`.
fn round_trip(console: &mut Console<'_>) -> Result<Duration, Error> {
    median_time(|| console.rows("SELECT 1", &mut |_| {}))
}

fn median_time(mut ask: impl FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let begun = Instant::now();
        ask()?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(ROUND_TRIPS / 2).copied().unwrap_or_default())
}

/// Makes every worker, as many at once as there are processors.
fn connect_all<W: Send>(
    workers: usize,
    shared: &SharedState<'_>,
    connect: impl Fn(usize) -> Result<W, Error> + Sync,
) -> Result<Vec<W>, Error> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(workers);
    let made = load::in_threads(0..threads, "connecting", None, |first, gate| {
        gate.wait_for_all(None, || ())?;
        let made = (first..workers).step_by(threads).map(|worker| -> Result<(usize, W), Error> {
            shared.check_not_stopped()?;
            Ok((worker, connect(worker)?))
        });
        let made: Result<Vec<(usize, W)>, Error> = made.collect();
        shared.cancelled.fetch_or(made.is_err(), Ordering::Relaxed);
        made
    })?;
    let mut made = first_error(made)?.into_iter().flatten().collect::<Vec<_>>();
    made.sort_by_key(|(worker, _)| *worker);
    Ok(made.into_iter().map(|(_, worker)| worker).collect())
}

/// An interruption is the answer to another thread's error, which says more.
fn first_error<T>(results: Vec<Result<T, Error>>) -> Result<Vec<T>, Error> {
    let mut interrupted = false;
    let mut values = Vec::with_capacity(results.len());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(Error::Interrupted) => interrupted = true,
            Err(error) => return Err(error),
        }
    }
    if interrupted { Err(Error::Interrupted) } else { Ok(values) }
}

/// Results of a thread.
struct ThreadDone<K> {
    accounts: Vec<ClientAccount>,
    finished: FinishedThread,
    kept: K,
}

struct FinishedLoad<K> {
    connect_time: Duration,
    threads: Vec<ThreadDone<K>>,
}

/// Runs every worker in a thread of its own. `look_up` is called again and again; `cancel` ends the
/// statements of the clients at these places, when clients must no longer wait.
fn drive<W: Worker, S: Sink>(
    workers: Vec<W>,
    shared: &SharedState<'_>,
    begin: &(impl Fn() -> S + Sync),
    look_up: &mut dyn FnMut(),
    cancel: &mut dyn FnMut(&[usize]),
) -> Result<Vec<ThreadDone<S::Kept>>, Error> {
    let mut asked: Option<Instant> = None;
    let watch = &mut |working: &[usize]| {
        look_up();
        if shared.gives_up() && asked.is_none_or(|asked| asked.elapsed() >= LOOK_UP) {
            cancel(working);
            asked = Some(Instant::now());
        }
    };
    let done = load::in_threads(workers.into_iter(), "client", Some(watch), |worker, gate| {
        gate.wait_for_all(None, || ())?;
        let mut notes = Notes::new(shared, begin);
        let accounts = worker.work(shared, &mut notes);
        shared.cancelled.fetch_or(accounts.is_err(), Ordering::Relaxed);
        let (finished, kept) = notes.finish();
        Ok(ThreadDone { accounts: accounts?, finished, kept })
    })?;
    first_error(done)
}

/// Puts the notes of all threads together.
fn assemble<K>(
    program: &Program,
    threads: usize,
    round_trip: Duration,
    done: FinishedLoad<K>,
) -> OltpLoad<K> {
    let mut load = OltpLoad {
        clients: Vec::new(),
        per_second: Vec::new(),
        transactions_per_second: 0.0,
        statements: BTreeMap::new(),
        kept: Vec::new(),
        threads,
        round_trip,
        connect_time: done.connect_time,
        wall_time: Duration::ZERO,
        first_failure: None,
    };
    let mut accounts = Vec::new();
    let mut first_failure = None;
    let mut in_time = 0;
    for thread in done.threads {
        let FinishedThread {
            per_second, ended_in_time, statements, last_end, measured_from, ..
        } = thread.finished;
        let failure = thread.finished.first_failure;
        in_time += ended_in_time;
        load.wall_time = load.wall_time.max(last_end - measured_from);
        if load.per_second.len() < per_second.len() {
            load.per_second.resize(per_second.len(), 0);
        }
        load.per_second.iter_mut().zip(per_second).for_each(|(sum, count)| *sum += count);
        for (statement, part) in program.statements.iter().zip(statements) {
            let sum = load.statements.entry(*statement).or_default();
            sum.executions += part.executions;
            sum.rows += part.rows;
        }
        let earlier = |one: &(Instant, _, _), other: &(Instant, _, _)| one.0 <= other.0;
        first_failure = match (first_failure, failure) {
            (Some(one), Some(other)) if earlier(&one, &other) => Some(one),
            (one, other) => other.or(one),
        };
        load.kept.push(thread.kept);
        accounts.extend(thread.accounts);
    }
    accounts.sort_by_key(|account: &ClientAccount| account.client);
    load.clients = accounts.into_iter().map(|account| account.totals).collect();
    load.first_failure = first_failure.map(|(_, failure, text)| (failure, text));
    let time = match program.options.until {
        Until::Time(time) => time,
        Until::Transactions(_) => load.wall_time,
    };
    // Where every client was lost in the warm-up, no time was measured.
    if !time.is_zero() {
        load.transactions_per_second = in_time as f64 / time.as_secs_f64();
    }
    load
}
