//! Clients of SQLite that are processes: started for one trial, and their parts put together.

use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Instant;

use ::oltp::{ConnectedClient, OltpJob, OltpLoad, OltpLoadOptions, OltpPart};
use serde::{Deserialize, Serialize};

use super::load::LoadBench;
use super::notes::TransactionNotes;
use super::of_engine;
use crate::error::RunError;
use crate::workload::ClientJob;
use ::load::{
    ClientChild, ClientProcess, LoadError, Recorded, RecordedNotes, Recorder, in_processes,
};

/// A client's notes of a load, beside its observations.
#[derive(Serialize, Deserialize)]
struct OltpNotes {
    part: OltpPart,
    recorded: RecordedNotes,
}

/// A client process that is connected.
pub(crate) struct OltpChild(ConnectedClient);

impl OltpChild {
    pub(crate) fn prepare(job: OltpJob) -> Result<Self, ::oltp::Error> {
        ConnectedClient::connect(job).map(Self)
    }

    pub(crate) fn work(self, started: Instant, child: &mut ClientChild) -> Result<(), RunError> {
        let begin = || TransactionNotes(Recorder::begin(1));
        let done = self.0.work(started, &begin);
        let (part, kept) = done.map_err(|error| of_engine("sqlite", error))?;
        let (recorded, observations) = kept.into_notes();
        Ok(child.done(&OltpNotes { part, recorded }, &observations.to_bytes())?)
    }
}

/// Offers the load by a process for each client. `begun` hears when its measured part begins.
pub(super) fn run_processes(
    bench: &LoadBench<'_>,
    program: &Path,
    options: &OltpLoadOptions,
    begun: &Sender<()>,
) -> Result<OltpLoad<Recorded>, RunError> {
    let mut processes = Vec::new();
    ClientProcess::start_missing(program, &mut processes, options.clients)?;
    let (started, start) = mpsc::channel::<Instant>();
    let load = thread::scope(|scope| {
        scope.spawn(move || {
            let Ok(start) = start.recv() else { return };
            thread::sleep((start + options.warmup).saturating_duration_since(Instant::now()));
            // Nobody listens where the time is over.
            let _ = begun.send(());
        });
        let (target, tables) = (bench.target, bench.tables);
        ::oltp::run_processes(target, tables, options, bench.interrupted, |job| {
            let job = |client| ClientJob::Oltp(job(client));
            let tell = move |start| {
                // Where its receiver has ended, so has the load.
                let _ = started.send(start);
            };
            let done = in_processes::<_, OltpNotes>(&mut processes, job, &tell, bench.interrupted);
            let part = |(notes, observations): (OltpNotes, _)| {
                (notes.part, Recorded::from_notes(notes.recorded, observations))
            };
            Ok(done?.into_iter().map(part).collect())
        })
    });
    load.map_err(|error| match error {
        ::oltp::Error::Load(ended @ LoadError::ProcessEnded { .. }) => ended.into(),
        other => of_engine(bench.engine, other),
    })
}
