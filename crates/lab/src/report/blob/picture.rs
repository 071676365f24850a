//! The article's pictures: the time of files by that of SQLite, with a paragraph from the numbers.

use std::collections::BTreeSet;

use super::board::{
    Board, View, is_all_off, is_by_blob_api, is_by_sql, is_file_per_blob, is_mapped, is_plain,
    is_wal_normal,
};
use super::part::{BarPart, PicturePart};
use super::times::open_close_fraction;
use crate::analysis::{digits, number};
use crate::plan::BlobOperation;
use crate::workload::blob::{Line, LineForm};

/// A picture: its name, its title, the operation, and the line that is 1.
struct Subject {
    id: &'static str,
    title: &'static str,
    operation: BlobOperation,
    base: fn(&Line) -> bool,
}

const SUBJECTS: [Subject; 5] = [
    Subject {
        id: "read_sql",
        title: "Reads, by SQLite's SQL",
        operation: BlobOperation::Read,
        base: is_by_sql,
    },
    Subject {
        id: "read_blob_api",
        title: "Reads, by SQLite's blob API",
        operation: BlobOperation::Read,
        base: is_by_blob_api,
    },
    Subject {
        id: "read_mmap",
        title: "Reads, by SQLite with the file mapped into memory",
        operation: BlobOperation::Read,
        base: is_mapped,
    },
    Subject {
        id: "update_wal",
        title: "Updates, SQLite in WAL mode with synchronous NORMAL",
        operation: BlobOperation::Update,
        base: is_wal_normal,
    },
    Subject {
        id: "update_off",
        title: "Updates, SQLite without journal and without sync",
        operation: BlobOperation::Update,
        base: is_all_off,
    },
];

/// Those that the run can draw.
pub(super) fn pictures(board: &Board<'_>) -> Vec<PicturePart> {
    SUBJECTS.iter().filter_map(|subject| picture(board, subject)).collect()
}

fn picture(board: &Board<'_>, subject: &Subject) -> Option<PicturePart> {
    let view = board.view(subject.operation, false)?;
    let base = view.first(subject.base)?;
    let beside = |line: &Line| match subject.operation {
        BlobOperation::Read => is_file_per_blob(line) || line.form == LineForm::Postgres,
        BlobOperation::Update => is_plain(line),
    };
    // How a file is read makes no difference to overwriting it: of such lines the first is shown.
    let mut forms = BTreeSet::new();
    let mut is_new =
        |line: &Line| subject.operation == BlobOperation::Read || forms.insert(line.form_name());
    let lines = view.lines.iter().filter(|(_, line)| beside(line));
    let bars: Vec<BarPart> = lines
        .filter(|(_, line)| is_new(line))
        .filter_map(|(engine, _)| {
            let ratio = board.ratio((engine, &view.levels), (base, &view.levels))?;
            Some(BarPart { engine: engine.clone(), ratio })
        })
        .collect();
    if bars.is_empty() {
        return None;
    }
    let paragraph = paragraph(board, &view, base, &bars, subject.operation)?;
    let base = base.to_owned();
    Some(PicturePart { id: subject.id, title: subject.title, base, bars, paragraph })
}

fn paragraph(
    board: &Board<'_>,
    view: &View,
    base: &str,
    bars: &[BarPart],
    operation: BlobOperation,
) -> Option<String> {
    let time = board.treatment(base, &view.levels)?.estimate?;
    let verb = match operation {
        BlobOperation::Read => "reads",
        BlobOperation::Update => "overwrites",
    };
    let mut said = format!(
        "{base} {verb} a blob of {} bytes on average in {} µs.",
        view.cell.bytes,
        digits(time.value * 1e3),
    );
    let mut bars: Vec<&BarPart> = bars.iter().collect();
    bars.sort_by(|a, b| b.ratio.value.total_cmp(&a.ratio.value));
    let each: Vec<String> =
        bars.iter().map(|bar| format!("{} {} times", bar.engine, number(&bar.ratio))).collect();
    said.push_str(&format!(" Of that time take: {}.", each.join("; ")));
    let slower = bars.iter().filter(|bar| bar.ratio.low.is_some_and(|low| low > 1.0)).count();
    let faster = bars.iter().filter(|bar| bar.ratio.high.is_some_and(|high| high < 1.0)).count();
    let blocks = bars.first().map_or(0, |bar| bar.ratio.replicates);
    said.push_str(&match (slower, faster, bars.len()) {
        _ if blocks < stats::INTERVAL_MIN_REPLICATES => {
            format!(" Blocks: {blocks}; there are intervals from 5 on.")
        }
        (all, _, count) if all == count => " SQLite is faster than every one of them.".to_owned(),
        (_, all, count) if all == count => " Every one of them is faster than SQLite.".to_owned(),
        (slower, faster, count) => format!(
            " Of these {count}, slower than SQLite: {slower}; faster: {faster}; the intervals of \
             the rest hold 1."
        ),
    });
    let folder = view.folder().and_then(|engine| {
        let share = open_close_fraction(board.treatment(engine, &view.levels)?)?;
        Some(format!(" {:.0}% of the time of {engine} is opening and closing.", share * 100.0))
    });
    said.push_str(&folder.unwrap_or_default());
    Some(said)
}
