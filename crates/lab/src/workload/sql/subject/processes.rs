//! The clients of SQLite as processes: started when a trial needs them, kept for later ones.

use std::time::Instant;

use connect::SqliteCounters;
use record::counter::{WRITE_LOCK_HELD, WRITE_LOCK_WAIT};

use super::SqlSubject;
use crate::error::RunError;
use crate::workload::sql::process::{SqlJob, SqlNotes};
use crate::workload::sql::target::SqlTarget;
use crate::workload::{ClientJob, Counters};
use load::{ClientProcess, LoadError, Recorded, TrialSample, in_processes, prepare_processes};
use plan::{ClientsAs, Levels, LoadOptions};

/// The processes of one of the plan's steps.
#[derive(Default)]
pub(super) struct ProcessPool {
    processes: Vec<ClientProcess>,
    /// Of each one's connection in all trials.
    counters: Vec<Counters>,
}

impl ProcessPool {
    pub(super) fn counters(&self) -> impl Iterator<Item = (&String, f64)> {
        self.counters.iter().flatten().map(|(name, value)| (name, *value))
    }
}

impl SqlSubject<'_> {
    pub(super) fn are_processes(&self, levels: &Levels) -> Result<bool, RunError> {
        let is_embedded = self.at(levels)?.0.kind().properties().is_embedded;
        Ok(is_embedded && self.site.plan.clients_as(levels)? == ClientsAs::Processes)
    }

    pub(super) fn prepare_processes(
        &mut self,
        levels: &Levels,
        options: &LoadOptions,
    ) -> Result<(), RunError> {
        let interrupted = self.site.interrupted;
        let mut prepare = || {
            self.with_processes(levels, options, |pool, clients, job| {
                let processes = pool.processes.get_mut(..clients).unwrap_or_default();
                prepare_processes(processes, job, interrupted)?;
                // What has no reading before a trial has no growth in it.
                pool.counters.resize_with(pool.processes.len(), nothing_counted);
                Ok(())
            })
        };
        let prepared = match prepare() {
            // Others take its place, as after a trial.
            Err(RunError::Load(LoadError::ProcessEnded { .. })) => prepare(),
            prepared => prepared,
        };
        match prepared {
            Err(RunError::Load(ended @ LoadError::ProcessEnded { .. })) => {
                Err(RunError::EngineCrashed(self.ended_words(levels, &ended)?))
            }
            prepared => prepared,
        }
    }

    /// The end of a client, with its engine, and its library where that is named.
    fn ended_words(&self, levels: &Levels, ended: &LoadError) -> Result<String, RunError> {
        let label = self.label();
        Ok(match self.at(levels)?.0 {
            SqlTarget::SqliteElsewhere { file, .. } => {
                format!("{label}: {}: {ended}", file.library)
            }
            SqlTarget::Sqlite { .. }
            | SqlTarget::SqliteByLibrary { .. }
            | SqlTarget::Postgres { .. }
            | SqlTarget::Mysql { .. } => format!("{label}: {ended}"),
        })
    }

    /// A trial whose client has ended does not count; it is void, and says why.
    pub(super) fn load_by_processes(
        &mut self,
        levels: &Levels,
        options: &LoadOptions,
    ) -> Result<TrialSample, RunError> {
        let (interrupted, begun) = (self.site.interrupted, Instant::now());
        let done = self.with_processes(levels, options, |pool, clients, job| {
            let processes = pool.processes.get_mut(..clients).unwrap_or_default();
            let done = in_processes::<_, SqlNotes>(processes, job, &|_| {}, interrupted)?;
            for (kept, (notes, _)) in pool.counters.iter_mut().zip(&done) {
                for (name, grown) in &notes.counters {
                    *kept.entry(name.clone()).or_default() += grown;
                }
            }
            Ok(done)
        });
        let done = match done {
            Err(RunError::Load(ended @ LoadError::ProcessEnded { .. })) => {
                self.ended = Some(self.ended_words(levels, &ended)?);
                self.processes.clear();
                return Ok(TrialSample::nothing(begun.elapsed()));
            }
            done => done?,
        };
        let entries = self.cell(levels)?;
        let mut recorded = Vec::with_capacity(done.len());
        for (notes, observations) in done {
            for (entry, notes) in entries.iter().zip(&notes.entries) {
                if !entry.add_notes(notes) {
                    let name = &entry.script.name;
                    let message = format!(
                        "{}, {name}: two clients got different answers from one file",
                        self.label()
                    );
                    return Err(RunError::Statement(message));
                }
            }
            recorded.push(Recorded::from_notes(notes.recorded, observations));
        }
        Ok(TrialSample::assemble(recorded))
    }

    fn with_processes<T>(
        &mut self,
        levels: &Levels,
        options: &LoadOptions,
        work: impl FnOnce(
            &mut ProcessPool,
            usize,
            &(dyn Fn(u16) -> ClientJob + Sync),
        ) -> Result<T, LoadError>,
    ) -> Result<T, RunError> {
        let entries: Vec<_> = self.cell(levels)?;
        let weights = self.site.plan.operations_at(levels);
        let (target, _) = self.at(levels)?;
        let (path, access, settings, library) = match target {
            SqlTarget::Sqlite { path, access, settings, .. } => (path, access, settings, None),
            SqlTarget::SqliteElsewhere { file, .. } => {
                (&file.path, &file.access, &file.settings, Some(file.library.clone()))
            }
            SqlTarget::SqliteByLibrary { .. }
            | SqlTarget::Postgres { .. }
            | SqlTarget::Mysql { .. } => {
                let message = format!("{}: its clients are threads", self.label());
                return Err(RunError::Statement(message));
            }
        };
        let (path, access, settings) = (path.clone(), *access, settings.clone());
        let job = |number| {
            ClientJob::Sql(SqlJob {
                number,
                path: path.clone(),
                access,
                settings: settings.clone(),
                library: library.clone(),
                entries: entries.iter().map(|entry| entry.job()).collect(),
                changing: self.data_use == super::DataUse::Change,
                seed: self.site.plan.seed.unwrap_or_default(),
                weights: weights.iter().map(|one| one.weight).collect(),
                options: options.clone(),
            })
        };
        let step = self.step_at(levels).to_owned();
        let mut pool = self.processes.remove(&step).unwrap_or_default();
        let clients = usize::from(options.clients);
        ClientProcess::start_missing(self.site.program, &mut pool.processes, options.clients)?;
        let done = work(&mut pool, clients, &job);
        self.processes.insert(step, pool);
        Ok(done?)
    }
}

fn nothing_counted() -> Counters {
    let of_connection = SqliteCounters::default().named().map(|(name, ..)| name);
    let names = of_connection.into_iter().chain([WRITE_LOCK_HELD, WRITE_LOCK_WAIT]);
    names.map(|name| (name.to_owned(), 0.0)).collect()
}
