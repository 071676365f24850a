//! Load of workload `blob`: clients that read all or some blobs once in a pass, in a random order.
//! The order is drawn again for each pass and divided among the clients. For updates one client
//! overwrites some blobs in a transaction. Each blob is timed by itself: two readings of
//! the clock cost about 50 ns.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use blob::Recipe;
use parking_lot::Mutex;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom as _;

use super::session::{BlobPlace, BlobSession};
use super::session_error::SessionError;
use super::watch::Edges;
use crate::workload::WriteBack;
use host::prewarm;
use load::{LoadError, Recorded, Recorder, TrialSample, in_threads};
use plan::{BlobCell, BlobOperation};
use plan::{LoadOptions, Mode, derive_seed};
use record::Outcome;

/// The only operation of the mix.
const OPERATION: u16 = 0;

/// How many operations lie between two looks whether the user asked to stop.
const LOOK_UP_EVERY: u64 = 64;

/// Failures one after another before a client gives up.
const FAILURES_MAX: u32 = 10;

/// One trial: its place, its blobs, its limits.
pub(super) struct TrialWork<'t> {
    pub place: &'t BlobPlace,
    pub recipe: &'t Recipe,
    pub cell: &'t BlobCell,
    /// A file or folder of the data: what is written there is synced in the end.
    pub data_path: Option<&'t PathBuf>,
    pub transaction_per_blob: bool,
    pub options: &'t LoadOptions,
    pub interrupted: &'t AtomicBool,
    /// By id, how often a blob was overwritten.
    pub generations: &'t Mutex<Vec<u64>>,
    /// The message when a blob first failed.
    pub first_error: &'t Mutex<Option<String>>,
}

/// Results of a trial beside its observations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TrialDone {
    pub bytes: u64,
    /// Between and after the transactions, in the time of none: what was committed moved to its
    /// final place, and from memory to storage.
    pub write_back: WriteBack,
}

/// Offers the load of one trial.
pub(super) fn offer(
    work: &TrialWork<'_>,
    edges: &Edges,
) -> Result<(TrialSample, TrialDone), LoadError> {
    let clients = work.options.clients;
    let ended = in_threads(0..clients, "client", None, |number, gate| {
        let opened = gate.wait_for_all(work.options.client_cpus.as_deref(), || {
            let opened = work.open_for_trial();
            edges.ready();
            opened
        })?;
        let mut client = TrialClient {
            work,
            number,
            session: opened?,
            recorder: Recorder::begin(1),
            done: TrialDone::default(),
            failures: 0,
        };
        match work.cell.operation {
            BlobOperation::Read => client.read_passes()?,
            BlobOperation::Update => client.update_transactions()?,
        }
        let ended = client.end();
        edges.ended();
        ended
    })?;
    let ended: Vec<_> = ended.into_iter().collect::<Result<_, LoadError>>()?;
    let (recorded, done): (Vec<Recorded>, Vec<TrialDone>) = ended.into_iter().unzip();
    let sum = done.iter().fold(TrialDone::default(), |sum, one| TrialDone {
        bytes: sum.bytes + one.bytes,
        // One client writes.
        write_back: match one.write_back.sync {
            Some(_) => one.write_back,
            None => sum.write_back,
        },
    });
    Ok((TrialSample::assemble(recorded), sum))
}

impl TrialWork<'_> {
    pub(super) fn open(&self) -> Result<BlobSession<'_>, LoadError> {
        let read_only = self.cell.operation == BlobOperation::Read;
        self.place
            .open(read_only, self.options.timeout, self.interrupted)
            .map_err(|error| LoadError::InvalidLoad(error.0))
    }

    /// A session for the trial. The first pass of a fresh one costs more: pages of a mapped file
    /// are faulted in, and a server's process fills its own caches. A warm trial therefore begins
    /// with a pass that is not recorded; a cold one measures just that.
    fn open_for_trial(&self) -> Result<BlobSession<'_>, LoadError> {
        let mut session = self.open()?;
        if self.cell.operation == BlobOperation::Update || self.cell.cold {
            return Ok(session);
        }
        let failed = |error: SessionError| LoadError::InvalidLoad(error.0);
        session.begin().map_err(failed)?;
        for id in 1..=self.recipe.count {
            self.look_up(id)?;
            session.read(id, &mut |_| {}).map_err(failed)?;
        }
        session.commit().map_err(failed)?;
        Ok(session)
    }

    /// Now and then looks whether the user asked to stop.
    fn look_up(&self, id: u64) -> Result<(), LoadError> {
        let wanted = id.is_multiple_of(LOOK_UP_EVERY);
        match wanted && self.interrupted.load(Ordering::Relaxed) {
            true => Err(LoadError::Interrupted),
            false => Ok(()),
        }
    }

    /// The blobs of one pass in their order, the same for all clients.
    pub(super) fn order(&self, pass: u64) -> Vec<u64> {
        let mut ids: Vec<u64> = (1..=self.recipe.count).collect();
        let seed = derive_seed(self.options.seed, &[pass]);
        ids.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        ids.truncate(usize::try_from(self.cell.per_pass).unwrap_or(usize::MAX));
        ids
    }

    /// Whether a trial is over after `passes` and `elapsed`. A cold blob is read once.
    fn is_over(&self, passes: u64, elapsed: Duration) -> bool {
        if self.cell.cold && passes > 0 {
            return true;
        }
        match self.options.mode {
            Mode::Passes(wanted) => passes >= u64::from(wanted),
            Mode::EachOnce => passes >= 1,
            Mode::Steady { time, minimum_rounds } => {
                elapsed >= time && (self.cell.cold || passes >= u64::from(minimum_rounds))
            }
            // Refused by the plan.
            Mode::Open { time, .. } => elapsed >= time,
        }
    }
}

/// One client at work, and its notes.
struct TrialClient<'t, 'w> {
    work: &'t TrialWork<'w>,
    number: u16,
    session: BlobSession<'t>,
    recorder: Recorder,
    done: TrialDone,
    failures: u32,
}

impl TrialClient<'_, '_> {
    /// Reads this client's share of each pass, in one transaction or one for each blob.
    fn read_passes(&mut self) -> Result<(), LoadError> {
        let work = self.work;
        let clients = usize::from(work.options.clients);
        let one_transaction = !work.transaction_per_blob;
        if one_transaction {
            self.control(|session| session.begin())?;
        }
        let begun = self.recorder.begun();
        let mut pass = 0;
        let mut end = begun;
        'trial: while !work.is_over(pass, end - begun) {
            let ids = work.order(pass);
            for id in ids.into_iter().skip(usize::from(self.number)).step_by(clients) {
                work.look_up(id)?;
                end = self.read(id);
                if self.failures >= FAILURES_MAX || work.is_over(pass, end - begun) {
                    break 'trial;
                }
            }
            pass += 1;
            end = Instant::now();
        }
        if one_transaction {
            self.control(|session| session.commit())?;
        }
        Ok(())
    }

    /// Reads one blob inside the clock; when that was done.
    fn read(&mut self, id: u64) -> Instant {
        let expected = self.work.recipe.size(id);
        let per_blob = self.work.transaction_per_blob;
        let session = &mut self.session;
        let mut length = None;
        let start = Instant::now();
        let done = in_transaction(session, per_blob, per_blob, |session| {
            session.read(id, &mut |bytes| length = Some(bytes.len()))
        });
        let end = Instant::now();
        let outcome = match done {
            Ok(_) if length == Some(expected) => Outcome::Ok,
            Ok(_) => Outcome::WrongAnswer,
            Err(error) => self.note(error),
        };
        self.observe(start, end, outcome, length.unwrap_or(0));
        end
    }

    /// Overwrites blobs chosen at random, a fixed number per transaction; ends at the end of one.
    fn update_transactions(&mut self) -> Result<(), LoadError> {
        let work = self.work;
        let begun = self.recorder.begun();
        let each = work.transaction_per_blob;
        let mut generations = work.generations.lock();
        let mut bytes = Vec::new();
        let mut pass = 0;
        while !work.is_over(pass, begun.elapsed().saturating_sub(self.done.write_back.checkpoint)) {
            let ids = work.order(pass);
            let last = ids.len().saturating_sub(1);
            for (place, id) in ids.into_iter().enumerate() {
                work.look_up(id)?;
                let index = usize::try_from(id).unwrap_or(0);
                let generation = generations.get(index).map_or(1, |generation| generation + 1);
                work.recipe.blob(id, generation, &mut bytes);
                let session = &mut self.session;
                let start = Instant::now();
                let (first, last) = (each || place == 0, each || place == last);
                let done =
                    in_transaction(session, first, last, |session| session.update(id, &bytes));
                let end = Instant::now();
                if let Some(known) = generations.get_mut(index) {
                    // Of a failed one too: it is what the check has to find.
                    *known = generation;
                }
                let outcome = match done {
                    Ok(true) => Outcome::Ok,
                    Ok(false) => Outcome::WrongAnswer,
                    Err(error) => self.note(error),
                };
                self.observe(start, end, outcome, bytes.len());
                if outcome.is_failure() {
                    // The rest of its transaction is lost too; the check will tell.
                    return Ok(());
                }
            }
            pass += 1;
            // Otherwise the next transaction would look every page up in the write-ahead log of
            // this one. A server checkpoints by itself, and each forced one would make it log
            // whole pages again.
            if matches!(self.session, BlobSession::Here(_)) {
                self.checkpoint()?;
            }
        }
        Ok(())
    }

    /// The clock has stopped: what is left to do is timed by itself.
    fn end(mut self) -> Result<(Recorded, TrialDone), LoadError> {
        self.recorder.note_connections(1, u16::from(self.failures >= FAILURES_MAX));
        let recorded = self.recorder.end();
        // After a failure a transaction may be open still, and nothing may be moved.
        if self.work.cell.operation == BlobOperation::Update && self.failures == 0 {
            let start = Instant::now();
            let moved = self.session.checkpoint();
            self.done.write_back.checkpoint += start.elapsed();
            moved.map_err(|error| LoadError::InvalidLoad(error.0))?;
            if let Some(path) = self.work.data_path {
                let start = Instant::now();
                prewarm::sync_file_system(path).map_err(LoadError::Poll)?;
                self.done.write_back.sync = Some(start.elapsed());
            }
        }
        Ok((recorded, self.done))
    }

    /// Between two transactions, and not in the time of either.
    fn checkpoint(&mut self) -> Result<(), LoadError> {
        let start = Instant::now();
        self.control(|session| session.checkpoint())?;
        self.done.write_back.checkpoint += start.elapsed();
        Ok(())
    }

    fn observe(&mut self, start: Instant, end: Instant, outcome: Outcome, bytes: usize) {
        self.recorder.observe(self.number, OPERATION, start, end, outcome);
        self.done.bytes += bytes as u64;
        self.failures = if outcome.is_failure() { self.failures + 1 } else { 0 };
    }

    /// Keeps the words of the first failure.
    fn note(&self, error: SessionError) -> Outcome {
        let mut first = self.work.first_error.lock();
        first.get_or_insert(error.0);
        Outcome::Refused
    }

    fn control(
        &mut self,
        control: impl FnOnce(&mut BlobSession<'_>) -> Result<(), SessionError>,
    ) -> Result<(), LoadError> {
        control(&mut self.session).map_err(|error| LoadError::InvalidLoad(error.0))
    }
}

/// Does `work` after the beginning and before the end of a transaction, where there are such.
fn in_transaction<'a, T>(
    session: &mut BlobSession<'a>,
    begins: bool,
    ends: bool,
    work: impl FnOnce(&mut BlobSession<'a>) -> Result<T, SessionError>,
) -> Result<T, SessionError> {
    if begins {
        session.begin()?;
    }
    let done = work(session)?;
    if ends {
        session.commit()?;
    }
    Ok(done)
}
