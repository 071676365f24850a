//! Verification report as text and CSV: one line per table, and below it the rows that differ.

use std::fmt::Write as _;

use super::differences::{DifferenceKind, RowDifference};
use super::{TableVerification, VerificationReport};
use crate::display::{rows, thousands};
use crate::finding::Losses;
use crate::grid::grid;

/// Digits of a digest in tables: enough to compare two by eye.
const DIGITS_SHOWN: usize = 16;

impl VerificationReport {
    /// The verification as text, ending with a newline.
    pub fn to_text(&self) -> String {
        let mut grid = grid(["table", "source rows", "target rows", "digest", ""], &[1, 2]);
        for table in &self.tables {
            grid.add_row([
                table.table.clone(),
                thousands(table.source_rows),
                thousands(table.target_rows),
                table.target_digest[..DIGITS_SHOWN].to_owned(),
                if table.equal { "equal" } else { "DIFFERS" }.to_owned(),
            ]);
        }
        let mut text = format!("{grid}\n");
        for table in self.tables.iter().filter(|table| !table.equal) {
            text.push_str(&table.differences_text());
        }
        let compared: u64 = self.tables.iter().map(|table| table.source_rows).sum();
        let differing = self.tables.iter().filter(|table| !table.equal).count();
        let summary = match differing {
            0 if self.leaves_rows_behind() => {
                format!("equal: {} in every column, but others were left behind", rows(compared))
            }
            0 => format!("equal: {} in every column", rows(compared)),
            _ => format!("{differing} of {} tables differ", self.tables.len()),
        };
        let losses = self.not_carried_over.as_ref().and_then(Losses::line);
        for line in losses.into_iter().chain([summary]) {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    fn leaves_rows_behind(&self) -> bool {
        self.not_carried_over.as_ref().is_some_and(|losses| !losses.rows.is_empty())
    }

    /// The tables as CSV with a header, ending with a newline.
    pub fn to_csv(&self) -> String {
        let mut text =
            String::from("table,source_rows,target_rows,equal,source_digest,target_digest\n");
        for table in &self.tables {
            let name = table.table.replace('"', "\"\"");
            let _ = writeln!(
                text,
                "\"{name}\",{},{},{},{},{}",
                table.source_rows,
                table.target_rows,
                table.equal,
                table.source_digest,
                table.target_digest
            );
        }
        text
    }
}

impl TableVerification {
    /// The differences of this table, a line each.
    pub fn differences_text(&self) -> String {
        let mut text = String::new();
        for difference in &self.differences {
            let _ = writeln!(text, "{}: {}", self.table, line(difference));
        }
        for row in &self.unfit {
            let _ = writeln!(text, "{row}");
        }
        if self.differences.is_empty() && self.unfit.is_empty() {
            let columns = self.differing_columns.join(", ");
            let _ = writeln!(text, "{}: the digests differ ({columns})", self.table);
        }
        text
    }
}

fn line(difference: &RowDifference) -> String {
    let key = &difference.key;
    match difference.kind {
        DifferenceKind::Missing => format!("{key}: in the source only"),
        DifferenceKind::Extra => format!("{key}: in the target only"),
        DifferenceKind::Changed => {
            let columns = difference.columns.iter().map(|column| {
                format!("{} is {}, not {}", column.column, column.target, column.source)
            });
            format!("{key}: {}", columns.collect::<Vec<_>>().join("; "))
        }
    }
}
