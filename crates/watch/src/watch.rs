//! The loop of looks at the locks.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::error::WatchError;
use crate::file::{DatabaseFile, JournalForm, LogIndex};
use crate::lock::{self, HeldLock, Holder};
use crate::process::openers;
use crate::state::{WatchOptions, WatchState};
use crate::summary::LockSummary;

/// Time between two looks at all locks of the system, which cost more than one at a byte.
const READERS_INTERVAL: Duration = Duration::from_millis(250);
/// Time between two looks through the open files of all processes.
const OPENERS_INTERVAL: Duration = Duration::from_secs(10);
/// The fractions of the golden ratio's multiples fill an interval evenly: looks at equal distances would
/// meet a writer with the same period always in the same state.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// A watch that has begun.
pub struct LockWatch {
    file: DatabaseFile,
    options: WatchOptions,
    began: Instant,
    own_cpu_began: Duration,
    seen: WatchState,
}

impl LockWatch {
    pub fn begin(path: &Path, options: WatchOptions) -> Result<Self, WatchError> {
        let file = DatabaseFile::open(path)?;
        let seen = WatchState::new(file.journal_mode(), options);
        Ok(Self { file, options, began: Instant::now(), own_cpu_began: own_cpu(), seen })
    }

    /// Looks until the time is over or `interrupted` is set; each second `each` gets the time since the
    /// beginning.
    pub fn run(
        mut self,
        interrupted: &AtomicBool,
        mut each: impl FnMut(&LockSummary),
    ) -> LockSummary {
        let (mut at, mut looks) = (Duration::ZERO, 0_u32);
        let (mut readers_due, mut openers_due, mut each_due) =
            (Duration::ZERO, Duration::ZERO, Duration::from_secs(1));
        while at < self.options.time && !interrupted.load(Ordering::Relaxed) {
            self.look(at);
            if at >= readers_due {
                self.look_at_all(at);
                readers_due = at + READERS_INTERVAL;
            }
            if at >= openers_due {
                self.look_for_openers();
                openers_due = at + OPENERS_INTERVAL;
            }
            if at >= each_due {
                each(&self.summary(at));
                each_due += Duration::from_secs(1);
            }
            looks += 1;
            let jitter = 0.5 + (f64::from(looks) * GOLDEN).fract();
            let due = at + self.options.interval.mul_f64(jitter);
            std::thread::sleep(due.saturating_sub(self.began.elapsed()));
            at = self.began.elapsed();
        }
        for tally in [&mut self.seen.writers, &mut self.seen.checkpointers, &mut self.seen.pending]
        {
            tally.finish();
        }
        self.summary(at)
    }

    fn summary(&self, at: Duration) -> LockSummary {
        let own_cpu = own_cpu().saturating_sub(self.own_cpu_began);
        LockSummary::of(&self.file.named, self.options, at, own_cpu, &self.seen)
    }

    /// One look at the exclusive locks and the counter of commits.
    fn look(&mut self, at: Duration) {
        match self.seen.journal_mode {
            JournalForm::Wal => self.look_at_log(at),
            JournalForm::Rollback => self.look_at_database(at),
        }
    }

    fn look_at_log(&mut self, at: Duration) {
        let seen = &mut self.seen;
        let Some(index) = &self.file.log_index else {
            // With locking_mode=EXCLUSIVE the index is in the program's own memory.
            let database = &self.file.database.file;
            let holder = holder(database, lock::SHARED, lock::SHARED_BYTES);
            seen.exclusive_looks += u64::from(holder.is_some());
            seen.writers.add(at, holder, None);
            seen.checkpointers.add(at, None, None);
            seen.remember([holder, None]);
            return;
        };
        // Both bytes at once; only where one is locked, which of them.
        let any = holder(&index.file, lock::WRITE, 2);
        let writer = any.and_then(|_| holder(&index.file, lock::WRITE, 1));
        let checkpointer = any.and_then(|_| holder(&index.file, lock::CHECKPOINT, 1));
        let read = LogIndex::read(&index.file);
        seen.writers.add(at, writer, read.map(|index| index.commits));
        seen.checkpointers.add(at, checkpointer, None);
        seen.remember([writer, checkpointer]);
        if let Some(now) = read {
            if let Some(before) = seen.last_index {
                seen.resets += u32::from(before.salt != now.salt && before.frames > 0);
            }
            seen.page_bytes = now.page_bytes;
            seen.last_index = Some(now);
        }
    }

    fn look_at_database(&mut self, at: Duration) {
        let seen = &mut self.seen;
        let file = &self.file.database.file;
        let any = holder(file, lock::PENDING, 2 + lock::SHARED_BYTES);
        let writer = any.and_then(|_| holder(file, lock::RESERVED, 1));
        let writer =
            writer.or_else(|| any.and_then(|_| holder(file, lock::SHARED, lock::SHARED_BYTES)));
        let pending = any.and_then(|_| holder(file, lock::PENDING, 1));
        let exclusive = any.and_then(|_| holder(file, lock::SHARED, lock::SHARED_BYTES));
        seen.exclusive_looks += u64::from(exclusive.is_some());
        seen.writers.add(at, writer, self.file.commits());
        // With the exclusive lock in hand it waits no longer.
        seen.pending.add(at, pending.filter(|_| exclusive.is_none()), None);
        seen.remember([writer, pending]);
    }

    /// A look at all locks, the size of the log, and the file itself.
    fn look_at_all(&mut self, at: Duration) {
        let mode = self.file.journal_mode();
        self.seen.mode_changed |= mode != self.seen.journal_mode;
        self.seen.journal_mode = mode;
        self.seen.is_replaced |= self.file.is_replaced();
        self.file.follow_log_index();
        let Ok(locks) = lock::read_held_locks() else { return };
        match (&self.file.log_index, mode) {
            (Some(index), JournalForm::Wal) => {
                let mut held = lock::held_on(&locks, index.identity);
                lock::add_missed_readers(&index.file, &mut held);
                let open = held.iter().filter(|held| held.covers(lock::OPEN));
                let open: Vec<i32> = open.map(|held| held.pid).collect();
                self.seen.note_open(&open);
                if let Some(index) = self.seen.last_index {
                    self.seen.readers.look(at, &held, &index);
                }
                self.seen.log_bytes.extend(self.file.log_bytes());
            }
            (_, JournalForm::Rollback) => {
                let held = lock::held_on(&locks, self.file.database.identity);
                let readers = held.iter().filter(|held| held.covers(lock::SHARED));
                let open: Vec<i32> = readers.map(|held| held.pid).collect();
                self.seen.note_open(&open);
                self.note_in_the_way(&held);
            }
            (None, JournalForm::Wal) => {}
        }
    }

    /// Counts the readers that a writer waits for, if one does.
    fn note_in_the_way(&mut self, held: &[HeldLock]) {
        let waits = |one: &&HeldLock| one.exclusive && one.covers(lock::PENDING);
        let Some(writer) = held.iter().find(waits) else { return };
        let reads =
            |one: &&HeldLock| !one.exclusive && one.covers(lock::SHARED) && one.pid != writer.pid;
        let readers: BTreeSet<i32> = held.iter().filter(reads).map(|one| one.pid).collect();
        self.seen.waits_seen += u32::from(!readers.is_empty());
        for pid in readers {
            *self.seen.in_the_way.entry(pid).or_default() += 1;
        }
    }

    fn look_for_openers(&mut self) {
        let found = openers(self.file.database.identity);
        self.seen.note_open(&found.pids);
        self.seen.openers = found;
    }
}

/// A file that is gone has no holder.
fn holder(file: &std::fs::File, start: u64, length: u64) -> Option<Holder> {
    lock::exclusive_holder(file, start, length).ok().flatten()
}

/// Processor time of this thread.
fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}
