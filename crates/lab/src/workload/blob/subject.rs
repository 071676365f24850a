//! One line, ready to be measured: every blob of it checked, its load offered, every blob checked
//! again.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use blob::{Access as _, BlobForm, FileAccess};
use parking_lot::Mutex;
use plan::storage::FileSettings;

use super::deploy::DeployedBlobs;
use super::opening::opening;
use super::session::{BlobPlace, BlobSession};
use super::store::failed;
use super::trial::{TrialDone, TrialWork, offer};
use super::watch::watched;
use crate::error::RunError;
use crate::workload::{Answers, Counters, MeasuredPart, Subject, WriteBack};
use host::postgres::PostgresDatabase;
use host::{Site, prewarm};
use load::TrialSample;
use load::resource::ServerSide;
use plan::BlobOperation;
use plan::Levels;
use plan::StorageForm;
use plan::{LoadOptions, Mode};
use record::EngineRecord;
use record::counter::{BLOB_BYTES, FILE_OPEN_CLOSE_US, FILE_READ_US, FROM_STORAGE_SHARE_MAX};

/// Dirty pages of earlier writes are waited for so long before a trial that writes.
const SETTLE_AT_MOST: Duration = Duration::from_secs(2);

/// How much of a sample may still lie in the page cache before a trial that is called cold.
const RESIDENT_SHARE_MAX: f64 = 0.05;

/// So often at most are warm reads offered until they are warm.
const OFFERS_MAX: u32 = 3;

/// The share of a sample of pages that was in the page cache before a cold trial.
pub(crate) const RESIDENT: &str = "blob_resident_before_fraction";
/// How often warm reads were offered again, since they had to read from storage.
pub(crate) const OFFERED_AGAIN: &str = "blob_offers_again";

/// The timeout of a session that is not timed.
const UNTIMED_TIMEOUT: Duration = Duration::from_secs(600);

/// A line of the plan.
pub(super) struct BlobSubject<'a> {
    site: &'a Site<'a>,
    deployed: DeployedBlobs,
    /// By id, how often a blob was overwritten in this turn.
    generations: Mutex<Vec<u64>>,
    first_error: Mutex<Option<String>>,
    counters: Counters,
    part: Option<MeasuredPart>,
    /// Of the last load, if it wrote.
    write_back: Option<WriteBack>,
    /// Files and folders that are evicted before a cold trial.
    evicted_paths: Vec<PathBuf>,
}

/// Result of a load.
struct OfferedOperations {
    sample: TrialSample,
    done: TrialDone,
    /// None where it ended before all of its clients were ready.
    part: Option<MeasuredPart>,
}

impl OfferedOperations {
    /// The share of what was read that came from storage; none where it is unknown.
    fn storage_share(&self) -> Option<f64> {
        let bytes = self.part.as_ref()?.used?.read_bytes?;
        Some(bytes as f64 / self.done.bytes.max(1) as f64)
    }
}

impl<'a> BlobSubject<'a> {
    /// Caches that must be cold are emptied here already, so that the record says how far that
    /// goes.
    pub(super) fn new(site: &'a Site<'a>, deployed: DeployedBlobs) -> Result<Self, RunError> {
        let blobs = usize::try_from(deployed.recipe.count).unwrap_or(0);
        let evicted_paths = match (&deployed.place, deployed.cell.cold) {
            (BlobPlace::Sqlite { file, .. }, true) => vec![file.clone()],
            (BlobPlace::Files { folder, .. }, true) => vec![folder.clone()],
            (BlobPlace::Lookup { names, folder, .. }, true) => vec![names.clone(), folder.clone()],
            _ => Vec::new(),
        };
        let mut subject = Self {
            site,
            deployed,
            generations: Mutex::new(vec![0; blobs + 1]),
            first_error: Mutex::default(),
            counters: Counters::new(),
            part: None,
            write_back: None,
            evicted_paths,
        };
        if subject.deployed.cell.cold {
            subject.make_cold()?;
        }
        Ok(subject)
    }

    /// A session that only reads.
    fn session<'s>(&'s self, interrupted: &'s AtomicBool) -> Result<BlobSession<'s>, RunError> {
        let opened = self.deployed.place.open(true, UNTIMED_TIMEOUT, interrupted);
        opened.map_err(|error| self.wrong(&error.0))
    }

    fn wrong(&self, what: &str) -> RunError {
        RunError::Blob(format!("{}: {what}", self.deployed.record.name))
    }

    /// Reads every blob and compares all of its bytes with what was written last. A trial that is
    /// measured is checked to its end despite an interruption: cut off it would be void.
    fn check_every_blob(&self) -> Result<(), RunError> {
        static GOING_ON: AtomicBool = AtomicBool::new(false);
        let mut session = self.session(&GOING_ON)?;
        let generations = self.generations.lock();
        let recipe = &self.deployed.recipe;
        let ended = |error: super::session_error::SessionError| self.wrong(&error.0);
        session.begin().map_err(ended)?;
        for (id, generation) in (0_u64..).zip(generations.iter()).skip(1) {
            let mut found = None;
            let there = session
                .read(id, &mut |bytes| found = recipe.generation_of(id, *generation, bytes))
                .map_err(ended)?;
            if !there || found != Some(*generation) {
                let what = match there {
                    false => format!("blob {id} is missing"),
                    true => format!("wrong bytes in blob {id}"),
                };
                return Err(
                    self.wrong(&format!("{what}: times of different work cannot be compared"))
                );
            }
        }
        session.commit().map_err(ended)
    }

    fn count(&mut self, name: &str, value: f64) {
        *self.counters.entry(name.to_owned()).or_default() += value;
    }

    /// Empties the page cache of the blobs and makes sure of it.
    fn make_cold(&mut self) -> Result<(), RunError> {
        let evicted = blob::evict(&self.evicted_paths, self.site.interrupted).map_err(failed)?;
        // The files are this user's, so the kernel tells.
        let resident_share = evicted.resident_share.unwrap_or(1.0);
        if resident_share > RESIDENT_SHARE_MAX {
            let share = resident_share * 100.0;
            return Err(self.wrong(&format!(
                "{share:.0}% of a sample of the blobs stayed in the page cache, so nothing is cold; \
                 is the data folder on a file system in memory? Measure warm, or name another \
                 folder by CROSSOVER_DATA_DIR"
            )));
        }
        self.count(RESIDENT, resident_share);
        let settings = &mut self.deployed.record.settings;
        if let Some((_, state)) = settings.iter_mut().find(|(name, _)| name == "cache") {
            *state = evicted.name();
        }
        Ok(())
    }

    /// Files are restored without syncing them: they are not made again for each
    /// turn, as a database is.
    fn restore_files(&self) -> Result<(), RunError> {
        let (folder, form) = match &self.deployed.place {
            BlobPlace::Files { folder, form, .. } => (folder, *form),
            BlobPlace::Lookup { folder, .. } => (folder, BlobForm::Folder),
            BlobPlace::Sqlite { .. } | BlobPlace::Postgres { .. } => return Ok(()),
        };
        let mut files = FileAccess::open(folder, form, &FileSettings::default()).map_err(failed)?;
        let mut generations = self.generations.lock();
        let mut bytes = Vec::new();
        for (id, generation) in (0_u64..).zip(generations.iter_mut()) {
            if *generation > 0 {
                self.deployed.recipe.blob(id, 0, &mut bytes);
                files.update(id, &bytes).map_err(failed)?;
                *generation = 0;
            }
        }
        Ok(())
    }

    /// Whether blobs are read that shall lie in memory.
    fn reads_warm(&self) -> bool {
        let cell = &self.deployed.cell;
        cell.operation == BlobOperation::Read && !cell.cold
    }

    /// Whether what opening and closing costs is measured beside the trials.
    fn opens_files(&self) -> bool {
        self.reads_warm() && matches!(self.deployed.line.form, StorageForm::Files { .. })
    }

    /// The counters of this line.
    fn counted(&self) -> Vec<&'static str> {
        let mut names = vec![BLOB_BYTES];
        if self.deployed.cell.cold {
            names.push(RESIDENT);
        }
        if self.reads_warm() {
            names.push(OFFERED_AGAIN);
        }
        if self.opens_files() {
            names.extend([FILE_READ_US, FILE_OPEN_CLOSE_US]);
        }
        names
    }

    fn is_in_this_process(&self) -> bool {
        !matches!(self.deployed.line.form, StorageForm::Postgres)
    }

    /// Offers load and watches the machine at the same time.
    fn offered(&self, options: &LoadOptions) -> Result<OfferedOperations, RunError> {
        *self.first_error.lock() = None;
        let (work, side) = (self.work(options), self.deployed.side.as_ref());
        let (offered, part) = watched(options.clients, side, |edges| offer(&work, edges));
        let (sample, done) = offered?;
        Ok(OfferedOperations { sample, done, part })
    }

    /// Offers load; warm reads again while too much of what they read came from storage. Something had
    /// dropped it from the page cache after all, and that offer was one more warm-up. Where memory is
    /// limited, reading from storage is what was asked for.
    fn offered_warm(&mut self, options: &LoadOptions) -> Result<OfferedOperations, RunError> {
        let mut offered = self.offered(options)?;
        let shall_be_warm = self.reads_warm() && self.site.memory.is_none();
        for _ in 1..OFFERS_MAX {
            let share = offered.storage_share().filter(|_| shall_be_warm);
            if share.is_none_or(|share| share <= FROM_STORAGE_SHARE_MAX) {
                break;
            }
            self.count(OFFERED_AGAIN, 1.0);
            offered = self.offered(options)?;
        }
        Ok(offered)
    }

    fn work<'s>(&'s self, options: &'s LoadOptions) -> TrialWork<'s> {
        TrialWork {
            place: &self.deployed.place,
            recipe: &self.deployed.recipe,
            cell: &self.deployed.cell,
            data_path: self.deployed.data_paths.first(),
            transaction_per_blob: self.deployed.line.transaction_per_blob,
            options,
            interrupted: self.site.interrupted,
            generations: &self.generations,
            first_error: &self.first_error,
        }
    }

    fn options(&self, levels: &Levels, options: &LoadOptions) -> Result<LoadOptions, RunError> {
        let mut options = options.clone();
        if let (true, Some(cpus)) =
            (self.is_in_this_process(), self.site.plan.server_cpus_at(levels)?)
        {
            options.client_cpus = Some(cpus);
        }
        Ok(options)
    }
}

impl Subject for BlobSubject<'_> {
    fn engine(&self) -> &EngineRecord {
        &self.deployed.record
    }

    fn side(&self) -> Option<&ServerSide> {
        self.deployed.side.as_ref()
    }

    fn data_paths(&self) -> &[PathBuf] {
        &self.deployed.data_paths
    }

    /// Each session begins with a pass of reads, or a transaction of updates, that is not recorded;
    /// a cold trial needs no warm-up.
    fn includes_warm_up(&self) -> bool {
        true
    }

    /// Nothing: after each trial every byte is compared, which finds no less.
    fn check_answers(&mut self, _cells: &[Levels], _answers: &mut Answers) -> Result<(), RunError> {
        Ok(())
    }

    /// The first transaction of updates is not recorded: it meets a copy, or files, without any
    /// write since they were made.
    fn prepare(&mut self, levels: &Levels) -> Result<(), RunError> {
        if self.deployed.cell.operation == BlobOperation::Read {
            return Ok(());
        }
        let load = self.options(levels, &self.site.plan.load_at(levels, 0)?)?;
        let offered = self.offered(&LoadOptions { mode: Mode::Passes(1), ..load })?;
        match offered.sample.failures() {
            0 => Ok(()),
            _ => Err(self.wrong(&self.failure_message(0).unwrap_or_default())),
        }
    }

    fn load(&mut self, levels: &Levels, options: &LoadOptions) -> Result<TrialSample, RunError> {
        let options = self.options(levels, options)?;
        let updates = self.deployed.cell.operation == BlobOperation::Update;
        if self.deployed.cell.cold {
            self.make_cold()?;
        }
        if let (true, Some(path)) = (updates, self.deployed.data_paths.first()) {
            prewarm::settle(path, SETTLE_AT_MOST, self.site.interrupted)?;
        }
        let OfferedOperations { mut sample, done, part } = self.offered_warm(&options)?;
        let opening = match self.opens_files() {
            true => Some(opening(&self.work(&options))?),
            false => None,
        };
        self.part = part;
        self.count(BLOB_BYTES, done.bytes as f64);
        self.write_back = updates.then_some(done.write_back);
        if let Some(opening) = opening {
            self.count(FILE_READ_US, opening.reading_us);
            self.count(FILE_OPEN_CLOSE_US, opening.opening_and_closing_us);
        }
        if self.is_in_this_process() {
            // The clients' threads are the engine's; all of their time is the server side's.
            sample.client_cpu_seconds = 0.0;
        }
        Ok(sample)
    }

    fn measured_part(&mut self) -> Option<MeasuredPart> {
        self.part.take()
    }

    /// Made by the load itself, since its client holds the session.
    fn write_back(&mut self) -> Result<Option<WriteBack>, RunError> {
        Ok(self.write_back.take())
    }

    fn failure_message(&self, _operation: u16) -> Option<String> {
        self.first_error.lock().clone()
    }

    fn counters(&mut self) -> Counters {
        let mut counters = self.counters.clone();
        // A counter that a trial leaves must be there before the first.
        for name in self.counted() {
            counters.entry(name.to_owned()).or_default();
        }
        let DeployedBlobs { place, database, .. } = &mut self.deployed;
        let postgres = database.as_mut().and_then(PostgresDatabase::of_mut);
        if let (BlobPlace::Postgres { url }, Some(postgres)) = (place, postgres) {
            counters.extend(postgres.counters_at(url, self.site.runtime));
        }
        counters
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        self.session(self.site.interrupted).map(drop)
    }

    /// After reads too: inside the clock lengths alone are looked at.
    fn check_data(&mut self) -> Result<(), RunError> {
        self.check_every_blob()
    }

    fn retire(mut self: Box<Self>) -> Result<(), RunError> {
        let updated = self.deployed.cell.operation == BlobOperation::Update;
        if updated {
            self.restore_files()?;
        }
        let Some(database) = self.deployed.database.take() else { return Ok(()) };
        if let (true, Some(postgres)) = (updated, PostgresDatabase::of(&database)) {
            // A server that has died keeps its copy until its next start.
            let _ = postgres.administration(self.site).drop_copy();
        }
        Ok(database.hosted.retire(self.site.runtime)?)
    }
}
