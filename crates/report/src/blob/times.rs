//! Treatments in the units of blobs, what each form takes on storage, and the table of page sizes.

use std::collections::{BTreeMap, BTreeSet};

use stats::Estimate;

use super::board::{Board, is_by_sql, sqlite};
use super::part::{PageSizeRow, PageSizesPart, SpacePart, TimePart};
use crate::analysis::{CONFIDENCE_LEVEL, Treatment};
use plan::Levels;
use plan::{BlobOperation, clients};
use record::counter::BLOB_BYTES;

/// Every treatment that counts, by its levels: sizes that a bisection added have their place.
pub(super) fn times(board: &Board<'_>) -> Vec<TimePart> {
    let time = |one: &Treatment| {
        let trials = one.blocks.len().max(1) as f64;
        let blobs = one.failures.requests as f64 / trials;
        let time_per_blob_us = scaled(one.response_time?, 1e3);
        let checkpoint = geometric_mean(&one.checkpoint_blocks);
        let writes = !one.checkpoint_blocks.is_empty();
        let synced = geometric_mean(&one.blocks).filter(|_| writes);
        let mean_bytes = one.counters.get(BLOB_BYTES).map(|bytes| bytes / blobs);
        Some(TimePart {
            engine: one.engine.clone(),
            levels: one.levels.clone(),
            time_per_blob_us,
            time_per_blob_with_checkpoint_us: checkpoint.map(|time| time.value * 1e3),
            time_per_blob_synced_us: synced.map(|time| scaled(time, 1e3)),
            // Bytes by microseconds; a client is always at a blob.
            megabytes_per_second: mean_bytes
                .map(|bytes| bytes / time_per_blob_us.value * f64::from(clients(&one.levels))),
            open_close_fraction: board.open_close(one).map(|share| share.value),
        })
    };
    let mut times: Vec<TimePart> = board.analysis.treatments.iter().filter_map(time).collect();
    times.sort_by(|a, b| a.levels.cmp(&b.levels));
    times
}

fn geometric_mean(blocks: &[(usize, f64)]) -> Option<Estimate> {
    let values: Vec<f64> = blocks.iter().map(|(_, value)| *value).collect();
    stats::geometric_mean_estimate(&values, CONFIDENCE_LEVEL)
}

fn scaled(estimate: Estimate, factor: f64) -> Estimate {
    Estimate {
        value: estimate.value * factor,
        low: estimate.low.map(|low| low * factor),
        high: estimate.high.map(|high| high * factor),
        ..estimate
    }
}

/// A row for each form, at the cell that is most like the article's.
pub(super) fn space(board: &Board<'_>) -> Vec<SpacePart> {
    let view = board.view(BlobOperation::Read, false);
    let view = view.or_else(|| board.view(BlobOperation::Update, false));
    let Some(view) = view.or_else(|| board.view(BlobOperation::Read, true)) else {
        return Vec::new();
    };
    let deployment = board.design.deployment_levels(&view.levels);
    let found = |label: &str| {
        let record =
            board.finished.run.engines.get(&board.design.start_name(label, &deployment))?;
        record.blobs
    };
    let base = view.first(|line| sqlite(line).is_some()).and_then(found);
    let mut seen = BTreeSet::new();
    let row = |(label, line): &(String, plan::BlobStorage)| {
        let blobs = found(label)?;
        if !seen.insert((line.form_name(), blobs.allocated_bytes)) {
            return None;
        }
        Some(SpacePart {
            engine: label.clone(),
            blobs: blobs.count,
            content_bytes: blobs.content_bytes,
            stored_bytes: blobs.stored_bytes,
            allocated_bytes: blobs.allocated_bytes,
            times_sqlite: base
                .map(|base| blobs.allocated_bytes as f64 / base.allocated_bytes.max(1) as f64),
        })
    };
    view.lines.iter().filter_map(row).collect()
}

/// The table of storage in words.
pub(super) fn space_paragraph(rows: &[SpacePart]) -> String {
    let said = rows.iter().map(|row| {
        let over = row.allocated_bytes as f64 / row.content_bytes.max(1) as f64 - 1.0;
        let beside = row.times_sqlite.filter(|times| (times - 1.0).abs() > 1e-9);
        let beside = beside
            .map_or_else(String::new, |times| format!(", {times:.3} times what SQLite takes"));
        format!("{} takes {:.1}% more than the blobs themselves{beside}", row.engine, over * 100.0)
    });
    let said: Vec<String> = said.collect();
    match said.is_empty() {
        true => String::new(),
        false => format!("{}.", said.join("; ")),
    }
}

/// The first line of files by the first SQLite line, for each size of pages and blobs, where both
/// sizes vary.
pub(super) fn page_sizes(board: &Board<'_>) -> Option<PageSizesPart> {
    let plan = board.plan();
    let view = board.view(BlobOperation::Read, false)?;
    let (of, by) = (view.folder()?, view.first(is_by_sql)?);
    let cells = board.finished.cells();
    let sized = cells.iter().filter_map(|levels| {
        let cell = plan.blob_at(levels).ok()?;
        let same = cell.operation == BlobOperation::Read
            && !cell.cold
            && clients(levels) == clients(&view.levels);
        same.then(|| ((u64::from(cell.page_bytes), cell.bytes), levels))
    });
    let mut by_size: BTreeMap<(u64, u64), &Levels> = BTreeMap::new();
    sized.for_each(|(size, levels)| {
        by_size.entry(size).or_insert(levels);
    });
    let pages: BTreeSet<u64> = by_size.keys().map(|(page, _)| *page).collect();
    let sizes: BTreeSet<u64> = by_size.keys().map(|(_, bytes)| *bytes).collect();
    if pages.len() < 2 {
        return None;
    }
    let ratio = |page: u64, bytes: u64| {
        let levels = by_size.get(&(page, bytes))?;
        board.ratio((of, levels), (by, levels))
    };
    let row = |page: &u64| PageSizeRow {
        page_bytes: *page as f64,
        ratios: sizes.iter().map(|bytes| ratio(*page, *bytes)).collect(),
    };
    Some(PageSizesPart {
        of: of.to_owned(),
        by: by.to_owned(),
        blob_bytes: sizes.iter().map(|bytes| *bytes as f64).collect(),
        rows: pages.iter().map(row).collect(),
    })
}
