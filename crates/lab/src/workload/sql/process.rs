//! Clients of SQLite that are processes: their jobs, their notes, and how these become a sample.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use connect::sqlite_library::HeldLibrary;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::entry::{EntryJob, EntryNotes, StatementEntry};
use super::load::{Pool, SqlClients};
use super::remote::LibraryFile;
use super::sqlite::OpenMode;
use super::target::{SqlTarget, not_opened};
use crate::error::RunError;
use crate::workload::Counters;
use load::resource::pin_this_thread;
use load::{Client as _, ClientChild, Clients as _, RecordedNotes, run_client};
use plan::LoadOptions;

/// A client's part of a trial.
#[derive(Serialize, Deserialize)]
pub(crate) struct SqlJob {
    pub number: u16,
    pub path: PathBuf,
    pub access: OpenMode,
    pub settings: Vec<(String, String)>,
    /// The library by which this process opens the file; none: as sessions of the laboratory do.
    pub library: Option<HeldLibrary>,
    pub entries: Vec<EntryJob>,
    pub changing: bool,
    pub seed: u64,
    pub weights: Vec<u32>,
    pub options: LoadOptions,
}

/// A client's notes of a trial, beside its observations.
#[derive(Serialize, Deserialize)]
pub(crate) struct SqlNotes {
    pub recorded: RecordedNotes,
    pub entries: Vec<EntryNotes>,
    /// Of its connection since it was opened.
    pub counters: Counters,
}

/// A client process with its session, which is kept from trial to trial.
pub(crate) struct SqlChild {
    job: SqlJob,
    target: SqlTarget,
    pool: Pool<'static>,
}

impl SqlJob {
    fn target(&self) -> Result<SqlTarget, RunError> {
        let (path, access, settings) = (self.path.clone(), self.access, self.settings.clone());
        let Some(library) = self.library.clone() else {
            return Ok(SqlTarget::Sqlite { path, access, settings, handles: Mutex::default() });
        };
        let file = LibraryFile { library, path, access, settings };
        let library = file.library.load().map_err(|error| not_opened(&file, &error));
        let library = Arc::new(library.map_err(host::DeployError::from)?);
        Ok(SqlTarget::SqliteByLibrary { library, file })
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl SqlChild {
    pub(crate) fn prepare(job: SqlJob, before: Option<Self>) -> Result<Self, RunError> {
        if let Some(cpus) = &job.options.client_cpus {
            pin_this_thread(cpus).map_err(load::LoadError::from)?;
        }
        let (target, pool) = match before {
            Some(before) => (before.target, before.pool),
            None => (job.target()?, Pool::default()),
        };
        let child = Self { job, target, pool };
        child.with_clients(|clients| clients.client(child.job.number).warm_up());
        Ok(child)
    }

    pub(crate) fn work(&self, child: &mut ClientChild) -> Result<(), RunError> {
        let SqlJob { number, weights, .. } = &self.job;
        let before = self.counters();
        let (recorded, entries) = self.with_clients(|clients| {
            let recorded = run_client(clients, *number, weights, clients.options, child);
            (recorded, clients.entries.iter().map(|entry| entry.notes()).collect())
        });
        let (recorded, observations) = recorded?.into_notes();
        let grown = self.counters().into_iter().map(|(name, value)| {
            let before = before.get(&name).copied().unwrap_or_default();
            (name, value - before)
        });
        let notes = SqlNotes { recorded, entries, counters: grown.collect() };
        Ok(child.done(&notes, &observations.to_bytes())?)
    }

    /// Of its connection, since that was opened.
    fn counters(&self) -> Counters {
        let mut sessions = self.pool.lock();
        sessions.iter_mut().flatten().flat_map(|session| session.counters()).collect()
    }

    fn with_clients<T>(&self, work: impl FnOnce(&SqlClients<'_, 'static>) -> T) -> T {
        let entries = self.job.entries.iter().map(|job| Arc::new(StatementEntry::of_job(job)));
        work(&SqlClients {
            target: &self.target,
            pool: &self.pool,
            entries: entries.collect(),
            changing: self.job.changing,
            seed: self.job.seed,
            options: &self.job.options,
            interrupted: &NEVER,
        })
    }
}
