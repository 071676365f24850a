//! Result of a watch, as numbers.

use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use stats::Estimate;

use crate::file::JournalForm;
use crate::lock::Holder;
use crate::state::{WatchOptions, WatchState};
use crate::tally::LockTally;

/// Age from which a reader counts as one that keeps the log from being reset.
const OLD_READER: Duration = Duration::from_secs(1);

/// The locks of one file over a time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LockSummary {
    pub file: String,
    pub journal_mode: JournalForm,
    pub seconds: f64,
    /// Mean time between two looks.
    pub interval_ms: f64,
    pub looks: u64,
    /// Share of the time in which some process had the write lock.
    pub write_lock_held: Option<Estimate>,
    /// Processes that were seen with the write lock, the busiest first.
    pub writers: Vec<ProcessShare>,
    /// One process kept the whole file locked at every look, as `locking_mode=EXCLUSIVE` does: its commits
    /// are not counted then.
    pub is_held_exclusively: bool,
    /// By SQLite's own counter.
    pub commits: u64,
    pub commits_per_second: f64,
    /// Share of time by commits. `None` without a commit, or where no look met a hold.
    pub mean_hold_ms: Option<Estimate>,
    /// One by the mean hold: an upper bound, not a prediction.
    pub commits_per_second_at_most: Option<Estimate>,
    /// `None` where holds are too short to be measured one by one.
    pub hold_p50_ms: Option<f64>,
    pub hold_p95_ms: Option<f64>,
    pub hold_p99_ms: Option<f64>,
    /// Holds under this are not measured one by one.
    pub hold_measured_from_ms: f64,
    /// Share of the time in which a writer waited for readers; rollback mode alone.
    pub writer_waited: Option<Estimate>,
    /// Readers that it waited for, the one that was seen most often first.
    pub waited_for: Vec<BlockingReader>,
    /// Processes that were seen while they moved the log into the database.
    pub checkpointers: Vec<ProcessShare>,
    /// WAL mode alone.
    pub log: Option<LogSummary>,
    /// Processes that had the file open, without those that were seen with the write lock.
    pub open: Vec<OpenProcess>,
    /// Processes whose open files this account may not see.
    pub hidden_processes: usize,
    /// Another file has taken the name since.
    pub is_replaced: bool,
    /// The journal mode changed in that time.
    pub mode_changed: bool,
    /// Processor time of the watch itself, of one core.
    pub own_cpu_share: f64,
}

/// A process with an exclusive lock.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProcessShare {
    /// `None` for a process of another container, or a lock without a process.
    pub pid: Option<i32>,
    pub command: String,
    pub share: Option<Estimate>,
    /// Longest time over which it was seen with the lock and without a commit.
    pub longest_seen_ms: f64,
}

/// A process that read while a writer waited; rollback mode alone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockingReader {
    pub pid: i32,
    pub command: String,
    /// Share of the looks at such a wait in which it read, 0 to 1.
    pub share_of_waits: f64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OpenProcess {
    pub pid: i32,
    pub command: String,
}

/// The write-ahead log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LogSummary {
    pub first_bytes: u64,
    pub largest_bytes: u64,
    pub last_bytes: u64,
    /// Times that it began again at its first page, as far as seen.
    pub resets: u32,
    /// Readers that kept it from that, the longest first.
    pub readers: Vec<OldStateReader>,
}

/// A process that reads an old state of the log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OldStateReader {
    pub pid: i32,
    pub command: String,
    /// Its state is at least so old.
    pub seconds_at_least: f64,
    /// Still so at the last look.
    pub is_there: bool,
    /// Pages of the log that it has not seen, in bytes.
    pub behind_bytes: u64,
}

impl LockSummary {
    pub(crate) fn of(
        path: &Path,
        options: WatchOptions,
        at: Duration,
        own_cpu: Duration,
        seen: &WatchState,
    ) -> Self {
        let seconds = at.as_secs_f64().max(f64::MIN_POSITIVE);
        let commits = seen.writers.commits();
        let mean_hold_ms = seen.writers.mean_hold_ms();
        let writers = shares(&seen.writers, seen);
        let is_writer = |pid: i32| writers.iter().any(|writer| writer.pid == Some(pid));
        let open = seen.open.iter().filter(|pid| !is_writer(**pid));
        let is_wal = seen.journal_mode == JournalForm::Wal;
        Self {
            file: path.display().to_string(),
            journal_mode: seen.journal_mode,
            seconds,
            interval_ms: options.interval.as_secs_f64() * 1e3,
            looks: seen.writers.samples(),
            write_lock_held: seen.writers.share(None),
            is_held_exclusively: is_held_exclusively(seen),
            commits,
            commits_per_second: commits as f64 / seconds,
            commits_per_second_at_most: mean_hold_ms.map(per_second),
            mean_hold_ms,
            hold_p50_ms: seen.writers.hold_quantile_ms(0.5),
            hold_p95_ms: seen.writers.hold_quantile_ms(0.95),
            hold_p99_ms: seen.writers.hold_quantile_ms(0.99),
            hold_measured_from_ms: seen.writers.measured_from().as_secs_f64() * 1e3,
            writer_waited: seen.pending.share(None).filter(|_| !is_wal),
            waited_for: waited_for(seen),
            checkpointers: shares(&seen.checkpointers, seen),
            log: is_wal.then(|| log(seen, at)).flatten(),
            open: open
                .map(|pid| OpenProcess { pid: *pid, command: seen.commands.of(*pid) })
                .collect(),
            hidden_processes: seen.openers.hidden,
            is_replaced: seen.is_replaced,
            mode_changed: seen.mode_changed,
            own_cpu_share: own_cpu.as_secs_f64() / seconds,
            writers,
        }
    }
}

fn is_held_exclusively(seen: &WatchState) -> bool {
    /// Looks from which on a single long transaction is not taken for it.
    const LOOKS_MIN: u64 = 100;
    let looks = seen.writers.samples();
    looks >= LOOKS_MIN && seen.exclusive_looks >= looks && seen.writers.commits() == 0
}

/// How often a time in ms fits into a second.
fn per_second(hold_ms: Estimate) -> Estimate {
    let inverse = |ms: f64| 1e3 / ms;
    let bound = |ms: Option<f64>| ms.filter(|ms| *ms > 0.0).map(inverse);
    Estimate {
        value: inverse(hold_ms.value),
        low: bound(hold_ms.high),
        high: bound(hold_ms.low),
        ..hold_ms
    }
}

fn shares(tally: &LockTally, seen: &WatchState) -> Vec<ProcessShare> {
    let share = |(holder, longest): (Holder, Duration)| {
        let (pid, command) = match holder {
            Holder::Process(pid) => (Some(pid), seen.commands.of(pid)),
            Holder::Unknown => (None, "of another container, or without a process".to_owned()),
        };
        let longest_seen_ms = longest.as_secs_f64() * 1e3;
        ProcessShare { pid, command, share: tally.share(Some(holder)), longest_seen_ms }
    };
    tally.holders().into_iter().map(share).collect()
}

fn waited_for(seen: &WatchState) -> Vec<BlockingReader> {
    let readers = seen.in_the_way.iter().map(|(pid, looks)| BlockingReader {
        pid: *pid,
        command: seen.commands.of(*pid),
        share_of_waits: f64::from(*looks) / f64::from(seen.waits_seen.max(1)),
    });
    let mut readers: Vec<BlockingReader> = readers.collect();
    readers.sort_by(|a, b| b.share_of_waits.total_cmp(&a.share_of_waits));
    readers
}

fn log(seen: &WatchState, at: Duration) -> Option<LogSummary> {
    let sizes = &seen.log_bytes;
    let readers = seen.readers.older_than(OLD_READER).into_iter().map(|reader| OldStateReader {
        pid: reader.pid,
        command: seen.commands.of(reader.pid),
        seconds_at_least: reader.age().as_secs_f64(),
        is_there: at.saturating_sub(reader.last) < OLD_READER,
        behind_bytes: u64::from(reader.frames_behind) * u64::from(seen.page_bytes),
    });
    Some(LogSummary {
        first_bytes: *sizes.first()?,
        largest_bytes: *sizes.iter().max()?,
        last_bytes: *sizes.last()?,
        resets: seen.resets,
        readers: readers.collect(),
    })
}
