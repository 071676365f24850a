//! Verification report as text and CSV: the answer, rows that differ, tables.

use std::fmt::Write as _;

use notation::{column_table, counted, drawn, thousands};

use super::differences::{DifferenceKind, RowDifference};
use super::{StructureComparison, TableVerification, VerificationReport};
use crate::display::{TextOptions, escaped, first_of, list, rows, wrapped};
use crate::finding::Losses;
use crate::value::ColumnConversion;

/// Digits of a digest in tables: enough to compare two by eye.
const DIGITS_SHOWN: usize = 16;
/// Most tables named unless all are asked for; those that differ come first,
/// then the largest.
const TABLES_NAMED: usize = 10;
/// Most differing tables named in the answer.
const DIFFERING_NAMED: usize = 5;

impl VerificationReport {
    /// The verification as text, ending with a newline.
    pub fn to_text(&self, options: &TextOptions) -> String {
        let losses = self.not_carried_over.as_ref().and_then(Losses::line);
        let mut text = String::new();
        for line in [self.answer()].into_iter().chain(losses) {
            let _ = writeln!(text, "{}", wrapped(&line, options.width, "  "));
        }
        for (table, conversion) in self.conversions() {
            let problem = conversion.finding(table).problem();
            let _ = writeln!(text, "{}", wrapped(&problem, options.width, "  "));
        }
        if let Some(structure) = &self.structure {
            text.push_str(&structure.to_text(options));
        }
        for table in self.tables.iter().filter(|table| !table.equal) {
            text.push_str(&table.differences_text());
        }
        if self.tables.iter().any(|table| !table.unfit.is_empty()) {
            text.push_str(
                "Values that the target's type cannot hold: if the file was moved with --map, verify it \
                 with the same --map\n",
            );
        }
        let mut tables: Vec<&TableVerification> = self.tables.iter().collect();
        tables.sort_by_key(|table| (table.equal, std::cmp::Reverse(table.source_rows)));
        let named = if options.verbose { tables.len() } else { TABLES_NAMED };
        let header = ["table", "rows of source", "rows of target", "digest", ""];
        let mut grid = column_table(header, [1, 2], options.width);
        for table in tables.iter().take(named) {
            grid.add_row([
                escaped(&table.table),
                thousands(table.source_rows),
                thousands(table.target_rows),
                table.target_digest[..DIGITS_SHOWN].to_owned(),
                if table.equal { "equal" } else { "DIFFERS" }.to_owned(),
            ]);
        }
        if !tables.is_empty() {
            let _ = write!(text, "\n{}", drawn(&grid));
        }
        if tables.len() > named {
            let others = counted((tables.len() - named) as u64, "table");
            let _ = writeln!(text, "  and {others} more (-v names all)");
        }
        text
    }

    /// The stated conversions with their tables.
    pub fn conversions(&self) -> Vec<(&str, &ColumnConversion)> {
        let mut all = Vec::new();
        for table in &self.tables {
            all.extend(table.conversions.iter().map(|each| (table.table.as_str(), each)));
        }
        all
    }

    fn answer(&self) -> String {
        let compared: u64 = self.tables.iter().map(|table| table.source_rows).sum();
        let differing: Vec<&str> =
            self.tables.iter().filter(|each| !each.equal).map(|each| each.table.as_str()).collect();
        let all = counted(self.tables.len(), "table");
        let under = match self.conversions().len() {
            0 => String::new(),
            1 => ", under the conversion below".to_owned(),
            several => format!(", under the {} conversions below", thousands(several)),
        };
        match differing.len() {
            0 if self.leaves_rows_behind() => format!(
                "equal: {} in {all}, every column{under}, but other rows were left behind",
                rows(compared)
            ),
            0 => format!("equal: {} in {all}, every column{under}", rows(compared)),
            count => format!(
                "{} of {all} {}: {}",
                thousands(count),
                if count == 1 { "differs" } else { "differ" },
                first_of(&differing, DIFFERING_NAMED)
            ),
        }
    }

    fn leaves_rows_behind(&self) -> bool {
        self.not_carried_over.as_ref().is_some_and(|losses| !losses.rows.is_empty())
    }

    /// The tables as CSV with a header, ending with a newline.
    pub fn to_csv(&self) -> String {
        let header =
            ["table", "source_rows", "target_rows", "equal", "source_digest", "target_digest"];
        let line = |table: &TableVerification| {
            [
                table.table.clone(),
                table.source_rows.to_string(),
                table.target_rows.to_string(),
                table.equal.to_string(),
                table.source_digest.clone(),
                table.target_digest.clone(),
            ]
        };
        notation::csv_table(&header, self.tables.iter().map(line))
    }
}

impl StructureComparison {
    /// The answer, differences, and what the target has besides.
    fn to_text(&self, options: &TextOptions) -> String {
        let same = counted(self.same as u64, "part");
        let mut answer = match self.differences.len() {
            0 => format!("the structure is as promised: {same}"),
            count => format!(
                "the structure differs from what was promised in {} ({same} as promised)",
                counted(count as u64, "part")
            ),
        };
        let named = if options.verbose { self.additions.len() } else { 0 };
        if !self.additions.is_empty() && named == 0 {
            let besides = counted(self.additions.len() as u64, "part");
            let _ = write!(answer, "; the target has {besides} besides (-v names them)");
        }
        let additions = self.additions.iter().take(named);
        let lines = self.differences.iter().chain(additions);
        let lines = lines.map(|each| format!("  {}", escaped(&each.sentence())));
        let mut text = String::new();
        for line in std::iter::once(answer).chain(lines) {
            let _ = writeln!(text, "{}", wrapped(&line, options.width, "    "));
        }
        text
    }
}

impl TableVerification {
    /// The differences of this table, a line each.
    pub fn differences_text(&self) -> String {
        let (mut text, table) = (String::new(), escaped(&self.table));
        for difference in &self.differences {
            let _ = writeln!(text, "{table}: {}", escaped(&line(difference)));
        }
        for row in &self.unfit {
            let _ = writeln!(text, "{}", escaped(row));
        }
        if self.differences.is_empty() && self.unfit.is_empty() {
            let columns = list(self.differing_columns.iter().map(|column| escaped(column)));
            let _ = writeln!(text, "{table}: the digests differ ({columns})");
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
