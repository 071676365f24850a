//! Lookup of a run's lines and their times, for pictures and claims.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use plan::Design;
use plan::storage::{By, FileSettings, JournalMode, Reading, SqliteSettings, Synchronous, Writing};
use stats::{Estimate, mean_estimate, ratio_comparison};

use crate::analysis::{Analysis, CONFIDENCE_LEVEL, Treatment};
use plan::Levels;
use plan::{BlobCell, BlobOperation, Plan, clients};
use plan::{BlobStorage, StorageForm};
use record::Finished;
use record::counter::{FILE_OPEN_CLOSE_US, FILE_READ_US};

/// The mean size of the article's blobs.
const ARTICLE_BYTES: f64 = 10_000.0;
/// Means that are still called 10 kB: the article's blobs themselves are as far apart.
const ARTICLE_BYTES_ABOUT: RangeInclusive<u64> = 8_000..=12_000;
const ARTICLE_PAGE_BYTES: u32 = 4_096;

/// A run, as the article looks at it.
pub(super) struct Board<'a> {
    pub finished: &'a Finished,
    pub design: &'a Design<'a>,
    pub analysis: &'a Analysis,
}

/// One cell of the run and the lines in it.
pub(super) struct View {
    pub levels: Levels,
    pub cell: BlobCell,
    /// By label, in the order of the plan.
    pub lines: Vec<(String, BlobStorage)>,
}

impl<'a> Board<'a> {
    pub(super) fn plan(&self) -> &'a Plan {
        &self.finished.plan
    }

    /// The cell that is most like the article's for this operation: one client, one transaction,
    /// 10,000 bytes.
    pub(super) fn view(&self, operation: BlobOperation, cold: bool) -> Option<View> {
        let plan = self.plan();
        let likeness = |levels: &Levels, cell: &BlobCell| {
            let size = (cell.bytes as f64 / ARTICLE_BYTES).ln().abs();
            let page = (f64::from(cell.page_bytes) / f64::from(ARTICLE_PAGE_BYTES)).ln().abs();
            ((clients(levels), cell.transaction_per_blob), size + page)
        };
        let cells = self.finished.cells().into_iter().filter_map(|levels| {
            let cell = plan.blob_at(&levels).ok()?;
            (cell.operation == operation && cell.cold == cold).then_some((levels, cell))
        });
        let (levels, cell) = cells.min_by(|(a, first), (b, second)| {
            let (a, b) = (likeness(a, first), likeness(b, second));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })?;
        let line = |index: usize| {
            let engine = plan.engine_at(index, &levels).ok()?;
            let (_, line) = BlobStorage::at(&engine, &cell).ok()?;
            Some((engine.label(), line))
        };
        let measured =
            (0..plan.engines.len()).filter(|index| !plan.rules().repeats(*index, &levels));
        let lines = measured.filter_map(line).collect();
        Some(View { levels, cell, lines })
    }

    pub(super) fn treatment(&self, engine: &str, levels: &Levels) -> Option<&'a Treatment> {
        let mut all = self.analysis.treatments.iter();
        all.find(|one| one.engine == engine && one.levels == *levels && one.standing.is_judged())
    }

    /// The time of one treatment by that of another, paired by block: until the last COMMIT or close,
    /// as the article measures.
    pub(super) fn ratio(&self, above: (&str, &Levels), below: (&str, &Levels)) -> Option<Estimate> {
        let above = self.treatment(above.0, above.1)?;
        let below = self.treatment(below.0, below.1)?;
        let of_below: BTreeMap<usize, f64> = below.time_blocks.iter().copied().collect();
        let pairs = above.time_blocks.iter();
        let pairs = pairs.filter_map(|(block, value)| Some((*value, *of_below.get(block)?)));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
        ratio_comparison(&a, &b, CONFIDENCE_LEVEL).map(|comparison| comparison.ratio)
    }

    /// Of the time of a file the share of opening and closing it (0 to 1), where that was measured:
    /// by two samples, so that more than the whole means that one of them was disturbed.
    pub(super) fn open_close(&self, treatment: &Treatment) -> Option<Estimate> {
        let trials = self.finished.trials.iter();
        let counting = trials.filter(|trial| treatment.trials.contains(&trial.number));
        let share = counting.map(|trial| {
            let opening = trial.counters.get(FILE_OPEN_CLOSE_US)?;
            let reading = trial.counters.get(FILE_READ_US)?;
            (*reading > 0.0 && opening <= reading).then(|| opening / reading)
        });
        mean_estimate(&share.collect::<Option<Vec<f64>>>()?, CONFIDENCE_LEVEL)
    }
}

impl View {
    /// Whether what was measured here is what the article measured.
    pub(super) fn is_the_articles(&self) -> bool {
        let BlobCell { bytes, page_bytes, transaction_per_blob, .. } = self.cell;
        ARTICLE_BYTES_ABOUT.contains(&bytes)
            && page_bytes == ARTICLE_PAGE_BYTES
            && !transaction_per_blob
            && clients(&self.levels) == 1
    }

    /// The first line that `is` so.
    pub(super) fn first(&self, is: impl Fn(&BlobStorage) -> bool) -> Option<&str> {
        self.all(is).next()
    }

    pub(super) fn all(&self, is: impl Fn(&BlobStorage) -> bool) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(move |(_, line)| is(line)).map(|(label, _)| label.as_str())
    }

    /// Files in one folder, read as the article's program does where there is such a line.
    pub(super) fn folder(&self) -> Option<&str> {
        let stdio = |line: &BlobStorage| {
            is_folder(line) && files(line).is_some_and(|one| one.reading == Reading::Stdio)
        };
        self.first(stdio).or_else(|| self.first(is_folder))
    }

    pub(super) fn tree(&self) -> Option<&str> {
        self.first(|line| {
            matches!(line.form, StorageForm::Files { tree: true, .. }) && is_plain(line)
        })
    }
}

/// SQLite's settings, of a line that keeps its transaction for all blobs.
pub(super) fn sqlite(line: &BlobStorage) -> Option<&SqliteSettings> {
    match &line.form {
        StorageForm::Sqlite(settings) if !line.transaction_per_blob => Some(settings),
        _ => None,
    }
}

fn files(line: &BlobStorage) -> Option<&FileSettings> {
    match &line.form {
        StorageForm::Files { settings, .. } => Some(settings),
        _ => None,
    }
}

/// Files that are overwritten and not synced.
pub(super) fn is_plain(line: &BlobStorage) -> bool {
    files(line).is_some_and(overwrites)
}

fn overwrites(files: &FileSettings) -> bool {
    !files.fsync && files.writing == Writing::Overwrite
}

fn is_folder(line: &BlobStorage) -> bool {
    matches!(line.form, StorageForm::Files { tree: false, .. }) && is_plain(line)
}

/// A file for each blob, however named; not one that is there for how it is written.
pub(super) fn is_file_per_blob(line: &BlobStorage) -> bool {
    match &line.form {
        StorageForm::Files { settings, .. } | StorageForm::Lookup(_, settings) => {
            overwrites(settings)
        }
        StorageForm::Sqlite(_) | StorageForm::Postgres => false,
    }
}

pub(super) fn is_by_sql(line: &BlobStorage) -> bool {
    sqlite(line).is_some_and(|one| one.by == By::Sql && one.mmap_bytes == 0)
}

pub(super) fn is_by_blob_api(line: &BlobStorage) -> bool {
    sqlite(line).is_some_and(|one| one.by == By::BlobApi && one.mmap_bytes == 0)
}

/// The article reads a mapped file by the blob API.
pub(super) fn is_mapped(line: &BlobStorage) -> bool {
    sqlite(line).is_some_and(|one| one.by == By::BlobApi && one.mmap_bytes > 0)
}

/// A write-ahead log, synced at checkpoints.
pub(super) fn is_wal_normal(line: &BlobStorage) -> bool {
    let is = |one: &SqliteSettings| {
        one.journal_mode == Some(JournalMode::Wal) && one.synchronous == Some(Synchronous::Normal)
    };
    sqlite(line).is_some_and(is)
}

/// No journal and no sync.
pub(super) fn is_all_off(line: &BlobStorage) -> bool {
    let is = |one: &SqliteSettings| {
        one.journal_mode == Some(JournalMode::Off) && one.synchronous == Some(Synchronous::Off)
    };
    sqlite(line).is_some_and(is)
}
