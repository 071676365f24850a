//! A comparison for a terminal.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use stats::Method;

use super::{Comparison, Design, Regression, Row, SideRun, Verdict};
use crate::analysis::{digits, number};

/// The headline, a table with a line for each treatment, and what makes it doubtful.
pub fn text(comparison: &Comparison, width: Option<u16>) -> String {
    let mut parts = vec![
        comparison.headline.clone(),
        format!("A: {}\nB: {}", side(&comparison.a), side(&comparison.b)),
        table(comparison, width),
    ];
    for warning in &comparison.warnings {
        parts.push(format!("Warning: {} {}", warning.message, warning.advice));
    }
    parts.push(note(comparison).to_owned());
    parts.join("\n\n") + "\n"
}

fn side(runs: &[SideRun]) -> String {
    runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(", ")
}

fn note(comparison: &Comparison) -> &'static str {
    let is_range = |row: &Row| row.ratio.method == Method::RangeOnly;
    match comparison.design {
        Design::Interleaved if comparison.rows.iter().all(is_range) => {
            "In brackets: the smallest and the largest of the blocks' ratios."
        }
        Design::Interleaved => {
            "In brackets: 95% intervals from pairs of blocks of one sitting. Verdicts are corrected \
             over all treatments."
        }
        Design::SeveralSittings => {
            "In brackets: 95% intervals by Welch's t, with one value for each sitting. Verdicts \
             are corrected over all treatments."
        }
        Design::TooFewSittings => "Times are geometric means over blocks.",
    }
}

fn table(comparison: &Comparison, width: Option<u16>) -> String {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─')))
        .force_no_tty();
    if let Some(width) = width {
        table.set_width(width);
    }
    table.set_header(["Where", "Engine", "A, ms", "B, ms", "B by A", "B is"]);
    for row in &comparison.rows {
        let engine = match row.engine_a == row.engine_b {
            true => row.engine_a.clone(),
            false => format!("{} / {}", row.engine_a, row.engine_b),
        };
        table.add_row([
            row.place.clone(),
            engine,
            digits(row.a_response_time_ms),
            digits(row.b_response_time_ms),
            number(&row.ratio),
            verdict(row).to_owned(),
        ]);
    }
    for column in table.column_iter_mut().skip(2).take(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

fn verdict(row: &Row) -> &'static str {
    match (row.verdict, row.regression) {
        (_, Some(Regression::Yes)) => "slower: a regression",
        (Some(Verdict::Faster), _) => "faster",
        (Some(Verdict::Slower), _) => "slower",
        (Some(Verdict::Equivalent), _) => "equivalent",
        (Some(Verdict::Undecided), _) => "undecided",
        (None, _) => "",
    }
}
