//! The article's pictures: the time of files by that of SQLite, with a paragraph from the numbers.

use super::board::{
    Board, View, is_all_off, is_by_blob_api, is_by_sql, is_file_per_blob, is_mapped, is_plain,
    is_wal_normal,
};
use super::part::{BarPart, PicturePart};
use crate::analysis::number;
use notation::{counted, digits};
use plan::{BlobOperation, clients};
use plan::{BlobStorage, StorageForm};

/// A picture: its name, its title, the operation, and the line that is 1.
struct PictureSubject {
    id: &'static str,
    title: &'static str,
    operation: BlobOperation,
    base: fn(&BlobStorage) -> bool,
}

const SUBJECTS: [PictureSubject; 5] = [
    PictureSubject {
        id: "read_sql",
        title: "Reads, by SQLite's SQL",
        operation: BlobOperation::Read,
        base: is_by_sql,
    },
    PictureSubject {
        id: "read_blob_api",
        title: "Reads, by SQLite's blob API",
        operation: BlobOperation::Read,
        base: is_by_blob_api,
    },
    PictureSubject {
        id: "read_mmap",
        title: "Reads, by SQLite with the file mapped into memory",
        operation: BlobOperation::Read,
        base: is_mapped,
    },
    PictureSubject {
        id: "update_wal",
        title: "Updates, SQLite in WAL mode with synchronous NORMAL",
        operation: BlobOperation::Update,
        base: is_wal_normal,
    },
    PictureSubject {
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

fn picture(board: &Board<'_>, subject: &PictureSubject) -> Option<PicturePart> {
    let view = board.view(subject.operation, false)?;
    let base = view.first(subject.base)?;
    let beside = |line: &BlobStorage| match subject.operation {
        BlobOperation::Read => is_file_per_blob(line) || line.form == StorageForm::Postgres,
        BlobOperation::Update => is_plain(line),
    };
    let lines = view.lines.iter().filter(|(_, line)| beside(line));
    let bars = lines.filter_map(|(engine, _)| {
        let ratio = board.ratio((engine, &view.levels), (base, &view.levels))?;
        Some(BarPart { engine: engine.clone(), ratio })
    });
    let bars: Vec<BarPart> = bars.collect();
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
    let time = board.treatment(base, &view.levels)?.response_time?;
    let verb = match operation {
        BlobOperation::Read => "reads",
        BlobOperation::Update => "overwrites",
    };
    let clients = match clients(&view.levels) {
        1 => String::new(),
        several => format!(", with {} at a time", counted(several, "client")),
    };
    let mut said = format!(
        "{base} {verb} one of {} blobs of about {} bytes in {} µs on average{clients}. {}",
        view.cell.count,
        view.cell.bytes,
        digits(time.value * 1e3),
        compared(bars)
    );
    let folder = view.folder().and_then(|engine| {
        let share = board.open_close(board.treatment(engine, &view.levels)?)?;
        Some(format!(
            " Opening and closing take {:.0}% of the time of {engine}.",
            share.value * 100.0
        ))
    });
    said.push_str(&folder.unwrap_or_default());
    Some(said)
}

/// The value of each bar, the longest first, and the result of all of them together.
fn compared(bars: &[BarPart]) -> String {
    let mut bars: Vec<&BarPart> = bars.iter().collect();
    bars.sort_by(|a, b| b.ratio.value.total_cmp(&a.ratio.value));
    let each: Vec<String> =
        bars.iter().map(|bar| format!("{} {}", bar.engine, number(&bar.ratio))).collect();
    let slower = bars.iter().filter(|bar| bar.ratio.low.is_some_and(|low| low > 1.0)).count();
    let faster = bars.iter().filter(|bar| bar.ratio.high.is_some_and(|high| high < 1.0)).count();
    let blocks = bars.iter().map(|bar| bar.ratio.replicates).min().unwrap_or(0);
    let together = match (slower, faster, bars.len()) {
        _ if blocks < stats::INTERVAL_MIN_REPLICATES => {
            format!("{}: intervals, and what they decide, need 5.", counted(blocks, "block"))
        }
        (all, _, count) if all == count => "SQLite is faster than every one of them.".to_owned(),
        (_, all, count) if all == count => "Every one of them is faster than SQLite.".to_owned(),
        (slower, faster, count) => {
            let open = match count - slower - faster {
                0 => String::new(),
                open => format!("; undecided, since the interval holds 1: {open}"),
            };
            format!("Slower than SQLite: {slower} of {count}; faster: {faster}{open}.")
        }
    };
    format!("The others, in multiples of that: {}. {together}", each.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(engine: &str, low: f64, high: f64, replicates: usize) -> BarPart {
        let ratio = stats::Estimate {
            value: low.midpoint(high),
            low: Some(low),
            high: Some(high),
            confidence_level: 0.95,
            method: stats::Method::StudentTLogRatio,
            replicates,
        };
        BarPart { engine: engine.to_owned(), ratio }
    }

    #[test]
    fn a_paragraph_says_what_the_intervals_show_and_no_more() {
        let (tree, dir) = (bar("tree", 1.9, 2.1, 7), bar("dir", 1.4, 1.6, 7));
        assert_eq!(
            compared(&[dir.clone(), tree.clone()]),
            "The others, in multiples of that: tree 2.00 (1.90 to 2.10); dir 1.50 (1.40 to 1.60). \
             SQLite is faster than every one of them."
        );
        let said = compared(&[bar("a", 0.7, 0.8, 7), bar("b", 0.8, 0.9, 7)]);
        assert!(said.ends_with(" Every one of them is faster than SQLite."), "{said}");
        let said = compared(&[tree.clone(), bar("plain", 0.8, 0.9, 7)]);
        assert!(said.ends_with(" Slower than SQLite: 1 of 2; faster: 1."), "{said}");
        let said = compared(&[tree, dir, bar("openat", 0.95, 1.05, 7)]);
        assert!(
            said.ends_with(
                "Slower than SQLite: 2 of 3; faster: 0; undecided, since the interval holds 1: 1."
            ),
            "{said}"
        );
        // The line with the fewest blocks decides what is said.
        let said = compared(&[bar("tree", 1.9, 2.1, 7), bar("dir", 1.4, 1.6, 4)]);
        assert!(said.ends_with("4 blocks: intervals, and what they decide, need 5."), "{said}");
    }
}
