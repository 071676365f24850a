//! What pictures and claims ask of a run: which line is which, what it took where.

use std::collections::BTreeMap;

use blob::{By, FileSettings, JournalMode, Reading, SqliteSettings, Synchronous, Writing};
use stats::{Estimate, ratio_comparison};

use crate::analysis::{Analysis, CONFIDENCE_LEVEL, Treatment};
use crate::plan::{BlobCell, BlobOperation, Plan};
use crate::run::Finished;
use crate::schedule::Levels;
use crate::workload::blob::{Line, LineForm};

/// The mean size of the article's blobs.
const ARTICLE_BYTES: f64 = 10_000.0;

/// A run, as the article looks at it.
pub(super) struct Board<'a> {
    pub finished: &'a Finished,
    pub analysis: &'a Analysis,
}

/// One cell of the run and the lines in it.
pub(super) struct View {
    pub levels: Levels,
    pub cell: BlobCell,
    /// By label, in the order of the plan.
    pub lines: Vec<(String, Line)>,
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
            let page = (f64::from(cell.page_bytes) / 4_096.0).ln().abs();
            ((crate::plan::clients(levels), cell.transaction_per_blob), size + page)
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
            let (_, line) = Line::at(&engine, &cell).ok()?;
            Some((engine.label(), line))
        };
        let lines = (0..plan.engines.len()).filter_map(line).collect();
        Some(View { levels, cell, lines })
    }

    /// A treatment without failures.
    pub(super) fn treatment(&self, engine: &str, levels: &Levels) -> Option<&'a Treatment> {
        let mut all = self.analysis.treatments.iter();
        all.find(|one| one.engine == engine && one.levels == *levels && one.failures == 0)
    }

    /// The time of one treatment by that of another, paired by block.
    pub(super) fn ratio(&self, above: (&str, &Levels), below: (&str, &Levels)) -> Option<Estimate> {
        let above = self.treatment(above.0, above.1)?;
        let below = self.treatment(below.0, below.1)?;
        let of_below: BTreeMap<usize, f64> = below.blocks.iter().copied().collect();
        let pairs = above.blocks.iter();
        let pairs = pairs.filter_map(|(block, value)| Some((*value, *of_below.get(block)?)));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
        ratio_comparison(&a, &b, CONFIDENCE_LEVEL).map(|comparison| comparison.ratio)
    }
}

impl View {
    /// The first line that `is` so.
    pub(super) fn first(&self, is: impl Fn(&Line) -> bool) -> Option<&str> {
        self.all(is).next()
    }

    pub(super) fn all(&self, is: impl Fn(&Line) -> bool) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(move |(_, line)| is(line)).map(|(label, _)| label.as_str())
    }

    /// Files in one folder, read as the article's program does where there is such a line.
    pub(super) fn folder(&self) -> Option<&str> {
        let stdio = |line: &Line| {
            is_folder(line) && files(line).is_some_and(|one| one.reading == Reading::Stdio)
        };
        self.first(stdio).or_else(|| self.first(is_folder))
    }

    pub(super) fn tree(&self) -> Option<&str> {
        self.first(|line| matches!(line.form, LineForm::Files { tree: true, .. }) && is_plain(line))
    }
}

/// SQLite's settings, of a line that keeps its transaction for all blobs.
pub(super) fn sqlite(line: &Line) -> Option<&SqliteSettings> {
    match &line.form {
        LineForm::Sqlite(settings) if !line.transaction_per_blob => Some(settings),
        _ => None,
    }
}

fn files(line: &Line) -> Option<&FileSettings> {
    match &line.form {
        LineForm::Files { settings, .. } => Some(settings),
        _ => None,
    }
}

/// Files that are overwritten and not synced.
pub(super) fn is_plain(line: &Line) -> bool {
    files(line).is_some_and(overwrites)
}

fn overwrites(files: &FileSettings) -> bool {
    !files.fsync && files.writing == Writing::Overwrite
}

pub(super) fn is_folder(line: &Line) -> bool {
    matches!(line.form, LineForm::Files { tree: false, .. }) && is_plain(line)
}

/// A file for each blob, however named; not one that is there for how it is written.
pub(super) fn is_file_per_blob(line: &Line) -> bool {
    match &line.form {
        LineForm::Files { settings, .. } | LineForm::Lookup(_, settings) => overwrites(settings),
        LineForm::Sqlite(_) | LineForm::Postgres => false,
    }
}

pub(super) fn is_by_sql(line: &Line) -> bool {
    sqlite(line).is_some_and(|one| one.by == By::Sql && one.mmap_bytes == 0)
}

pub(super) fn is_by_blob_api(line: &Line) -> bool {
    sqlite(line).is_some_and(|one| one.by == By::BlobApi && one.mmap_bytes == 0)
}

pub(super) fn is_mapped(line: &Line) -> bool {
    sqlite(line).is_some_and(|one| one.mmap_bytes > 0)
}

/// A write-ahead log, synced at checkpoints.
pub(super) fn is_wal_normal(line: &Line) -> bool {
    let is = |one: &SqliteSettings| {
        one.journal_mode == Some(JournalMode::Wal) && one.synchronous == Some(Synchronous::Normal)
    };
    sqlite(line).is_some_and(is)
}

/// No journal and no sync.
pub(super) fn is_all_off(line: &Line) -> bool {
    let is = |one: &SqliteSettings| {
        one.journal_mode == Some(JournalMode::Off) && one.synchronous == Some(Synchronous::Off)
    };
    sqlite(line).is_some_and(is)
}
