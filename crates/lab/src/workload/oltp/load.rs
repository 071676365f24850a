//! One load: crate oltp's clients, their observations noted as every workload's are, and a watch of
//! the server side during the load.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use ::oltp::{OltpLoad, OltpLoadOptions, OltpTarget, Until};
use plan::oltp::TableOptions;

use super::notes::TransactionNotes;
use super::of_engine;
use super::process::run_processes;
use super::watch::watch;
use crate::error::RunError;
use crate::workload::{Counters, MeasuredPart};
use host::Distance;
use host::observe::Watch;
use load::resource::{ServerSide, pin_this_thread};
use load::{LoadError, Recorded, Recorder, TrialSample};

/// Where a load goes, and under whose eyes.
pub(super) struct LoadBench<'a> {
    pub engine: &'a str,
    pub target: &'a OltpTarget,
    pub tables: &'a TableOptions,
    /// Processors of the clients; of the engine too where it lives in this process.
    pub cpus: Option<Vec<usize>>,
    pub side: Option<&'a ServerSide>,
    pub distance: &'a Distance,
    /// The program that is started for each client that is a process; none where they are threads.
    pub program: Option<&'a Path>,
    pub interrupted: &'a AtomicBool,
}

/// Result of one load.
pub(super) struct Offered {
    pub sample: TrialSample,
    pub part: MeasuredPart,
    /// The first failure, in the engine's words.
    pub words: Option<String>,
    /// Why the trial does not count, if it does not.
    pub ended: Option<String>,
    /// Rows inserted less rows deleted.
    pub rows_added: i64,
}

pub(super) fn offer(
    bench: &LoadBench<'_>,
    options: &OltpLoadOptions,
    watcher: &mut dyn Watch,
) -> Result<Offered, RunError> {
    let time = match options.until {
        Until::Time(time) => time,
        Until::Transactions(_) => Duration::MAX,
    };
    let (begun, heard) = mpsc::channel();
    let (load, (mut part, watched)) = thread::scope(|scope| {
        let runner = scope.spawn(move || run(bench, options, begun));
        let seen = watch((bench.side, bench.distance), watcher, &heard, time);
        let load = runner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (load, seen)
    });
    let load = match load {
        Err(RunError::Load(ended @ LoadError::ProcessEnded { .. })) => {
            return Ok(Offered {
                sample: TrialSample::nothing(watched),
                part,
                words: None,
                ended: Some(ended_words(bench.target, &ended)),
                rows_added: 0,
            });
        }
        load => load?,
    };
    part.answers_by_second.clone_from(&load.per_second);
    part.counters.extend(counters(&load));
    let words = load.first_failure.as_ref().map(|(_, words)| words.clone());
    let rows_added = load.clients.iter().map(|client| client.rows_added).sum();
    let ended = void_reason(&load, options);
    let (clients, rate) = (load.clients.len(), load.transactions_per_second);
    let mut sample = TrialSample::assemble(load.kept);
    sample.connections_opened = clients as u64;
    // By client it would leave out who still waits when the time is over.
    sample.requests_per_second = rate;
    // Use was counted for this long: the last answers came later, and are not part of it.
    sample.wall_time = if watched.is_zero() { sample.wall_time } else { watched };
    Ok(Offered { sample, part, words, ended, rows_added })
}

/// The end of a client, with its library where that is named.
fn ended_words(target: &OltpTarget, ended: &LoadError) -> String {
    match target {
        OltpTarget::Sqlite { library: Some(library), .. } => format!("{library}: {ended}"),
        OltpTarget::Sqlite { library: None, .. }
        | OltpTarget::Postgres { .. }
        | OltpTarget::Mysql { .. } => ended.to_string(),
    }
}

/// Clients were lost, or the engine is too slow for the time of a trial.
fn void_reason(load: &OltpLoad<Recorded>, options: &OltpLoadOptions) -> Option<String> {
    let ended = load.clients.iter().filter(|client| client.ended_by.is_some()).count();
    if ended > 0 {
        let clients = load.clients.len();
        let words = load.first_failure.as_ref().map(|(_, words)| format!(": {words}"));
        let words = words.unwrap_or_default();
        return Some(format!("{ended} of {clients} clients ended before their time{words}"));
    }
    let Until::Time(time) = options.until else { return None };
    (load.transactions_per_second <= 0.0).then(|| {
        let seconds = time.as_secs();
        format!("no transaction came to its end within {seconds} s: give trials more time")
    })
}

/// In a thread of its own, whose processors those of the clients inherit.
fn run(
    bench: &LoadBench<'_>,
    options: &OltpLoadOptions,
    begun: Sender<()>,
) -> Result<OltpLoad<Recorded>, RunError> {
    if let Some(cpus) = &bench.cpus {
        pin_this_thread(cpus).map_err(LoadError::from)?;
    }
    if let Some(program) = bench.program {
        return run_processes(bench, program, options, &begun);
    }
    let begin = || {
        // Nobody listens where the time is over.
        let _ = begun.send(());
        TransactionNotes(Recorder::begin(1))
    };
    ::oltp::run(bench.target, bench.tables, options, &begin, bench.interrupted)
        .map_err(|error| of_engine(bench.engine, error))
}

fn counters(load: &OltpLoad<Recorded>) -> Counters {
    let clients = &load.clients;
    let sum =
        |of: &dyn Fn(&::oltp::ClientTotals) -> u64| clients.iter().map(of).sum::<u64>() as f64;
    let transactions = sum(&|client| client.transactions);
    let slowest = clients.iter().map(|client| client.transactions).min().unwrap_or(0) as f64;
    let mean = transactions / clients.len().max(1) as f64;
    // Statements of a transaction, retries included, as often as transactions end.
    let rate = (transactions > 0.0).then(|| {
        let each = sum(&|client| client.statements) / transactions;
        ("client_statements_per_second", each * load.transactions_per_second)
    });
    let counts = [
        ("client_retries_after_deadlocks", sum(&|client| client.retries.deadlocks)),
        (
            "client_retries_after_serialization_failures",
            sum(&|client| client.retries.serialization_failures),
        ),
        ("client_retries_after_duplicate_keys", sum(&|client| client.retries.duplicate_keys)),
        ("client_retries_after_lock_timeouts", sum(&|client| client.retries.lock_timeouts)),
        ("client_transactions_cut_off", sum(&|client| client.cut_off)),
        ("client_slowest_by_mean", if mean > 0.0 { slowest / mean } else { 0.0 }),
        ("client_threads", load.threads as f64),
        ("client_round_trip_seconds", load.round_trip.as_secs_f64()),
        ("client_connect_seconds", load.connect_time.as_secs_f64()),
        ("sqlite_busy_waits", sum(&|client| client.busy_waits)),
    ];
    let told = counts.into_iter().chain(rate).filter(|(name, value)| {
        // A counter that stayed at zero and is not a measure gets no line.
        let may_be_missing = ["client_retries", "client_transactions", "sqlite"];
        *value != 0.0 || !may_be_missing.iter().any(|beginning| name.starts_with(beginning))
    });
    told.map(|(name, value)| (name.to_owned(), value)).collect::<BTreeMap<_, _>>()
}

#[cfg(test)]
mod tests {
    use ::oltp::{ClientTotals, Failure};
    use plan::oltp::Mix;

    use super::*;

    fn load(transactions_per_second: f64, client: ClientTotals) -> OltpLoad<Recorded> {
        OltpLoad {
            clients: vec![client],
            per_second: Vec::new(),
            transactions_per_second,
            statements: BTreeMap::new(),
            kept: Vec::new(),
            threads: 1,
            round_trip: Duration::ZERO,
            connect_time: Duration::ZERO,
            wall_time: Duration::ZERO,
            first_failure: Some((Failure::Lost, "it has gone".to_owned())),
        }
    }

    #[test]
    fn a_load_cut_off_or_with_lost_clients_is_void() {
        let options = OltpLoadOptions::new(Mix::ReadOnly, 1, Duration::from_secs(10));
        let cut_off = ClientTotals { transactions: 2, cut_off: 1, ..ClientTotals::default() };
        let slow = load(0.0, ClientTotals { transactions: 0, ..cut_off.clone() });
        let why = void_reason(&slow, &options).unwrap();
        assert!(why.starts_with("no transaction came to its end within 10 s"), "{why}");
        let some = load(0.2, cut_off);
        assert_eq!(void_reason(&some, &options), None);
        assert_eq!(counters(&some)["client_transactions_cut_off"], 1.0);
        let lost = ClientTotals { ended_by: Some(Failure::Lost), ..ClientTotals::default() };
        let why = void_reason(&load(5.0, lost), &options).unwrap();
        assert_eq!(why, "1 of 1 clients ended before their time: it has gone");
    }
}
