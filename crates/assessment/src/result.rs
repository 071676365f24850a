//! Results of a try by statement and engine: as rows, as a table, as CSV.

use std::time::Duration;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use record::Finished;
use report::Document;
use report::analysis::{Shown, analyse, digits};
use serde::Serialize;
use stats::Estimate;

use crate::tuned::LABEL;

/// One statement on one engine.
#[derive(Clone, Debug, Serialize)]
pub struct StatementResult {
    pub statement: String,
    pub engine: String,
    /// Mean response time with its interval.
    pub response_time_ms_mean: Option<Estimate>,
    /// Response time as a multiple of SQLite's; none for SQLite itself.
    pub ratio: Option<Estimate>,
    pub verdict: Option<Shown>,
    /// Response time as a multiple of that of SQLite, tuned, on the other engines but SQLite.
    pub ratio_to_tuned: Option<Estimate>,
    pub verdict_to_tuned: Option<Shown>,
}

/// All results of a run and its report.
pub fn rows(document: &Document, finished: &Finished) -> Vec<StatementResult> {
    let mut rows = Vec::new();
    for treatment in &document.treatments {
        for statement in &treatment.requests_by_name {
            rows.push(StatementResult {
                statement: statement.name.clone(),
                engine: treatment.engine.clone(),
                response_time_ms_mean: statement.estimate,
                ratio: statement.ratio.as_ref().map(|ratio| ratio.estimate),
                verdict: statement.ratio.as_ref().map(|ratio| ratio.verdict),
                ratio_to_tuned: None,
                verdict_to_tuned: None,
            });
        }
    }
    compare_with_tuned(&mut rows, finished);
    rows
}

/// The same trials with the tuned line as the one that others are compared with: a family of
/// verdicts of its own, corrected together.
fn compare_with_tuned(rows: &mut [StatementResult], finished: &Finished) {
    let mut plan = finished.plan.clone();
    let Some(place) = plan.engines.iter().position(|engine| engine.label() == LABEL) else {
        return;
    };
    let first = plan.engines[0].label();
    plan.engines.swap(0, place);
    let analysis = analyse(&plan, &finished.cells(), &finished.trials);
    for row in rows.iter_mut().filter(|row| row.engine != first && row.engine != LABEL) {
        let treatment = analysis.treatments.iter().find(|each| each.engine == row.engine);
        let result =
            treatment.and_then(|each| each.by_request.iter().find(|one| one.name == row.statement));
        let ratio = result.and_then(|result| result.ratio.as_ref());
        row.ratio_to_tuned = ratio.map(|ratio| ratio.estimate);
        row.verdict_to_tuned = ratio.map(|ratio| ratio.shown);
    }
}

/// `12.3 ms`, `4.56 s`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds < 1.0 {
        true => format!("{} ms", number(seconds * 1e3)),
        false => format!("{} s", number(seconds)),
    }
}

/// `1 table`, `3 tables`, `61,234 rows`.
pub fn several(count: u64, what: &str) -> String {
    let number = indicatif::HumanCount(count);
    let plural = if count == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// The different values in the order of their first appearance.
pub fn distinct<'r>(
    rows: &'r [StatementResult],
    part: impl Fn(&'r StatementResult) -> &'r str,
) -> Vec<&'r str> {
    let mut found: Vec<&str> = Vec::new();
    for value in rows.iter().map(part) {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// The width that output is made for.
pub const COLUMNS: usize = 80;
/// A statement's column is no narrower.
const STATEMENT_MIN: usize = 16;

/// A block of lines for each statement: its engines, and the ratios of each.
pub fn grid(rows: &[StatementResult]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(400);
    let header = ["statement", "engine", "ms", "ratio", "interval", "verdict"];
    let mut widths = header.map(str::len);
    table.set_header(header);
    let engines = distinct(rows, |row| &row.engine);
    for statement in distinct(rows, |row| &row.statement) {
        let mut block: Vec<[String; 5]> = Vec::new();
        for engine in &engines {
            let row = rows.iter().find(|row| row.statement == statement && row.engine == *engine);
            let Some(row) = row else { continue };
            let time = row.response_time_ms_mean.map_or("-".to_owned(), |it| number(it.value));
            block.push(line(engine, time, row.ratio, row.verdict));
            if row.ratio_to_tuned.is_some() {
                let (ratio, verdict) = (row.ratio_to_tuned, row.verdict_to_tuned);
                block.push(line("  against tuned", String::new(), ratio, verdict));
            }
        }
        for line in &block {
            for (width, cell) in widths.iter_mut().skip(1).zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let column = |place: usize| -> String {
            block.iter().map(|line| line[place].as_str()).collect::<Vec<_>>().join("\n")
        };
        let mut cells = vec![statement.to_owned()];
        cells.extend((0..5).map(column));
        table.add_row(cells);
    }
    // Each column has a blank on both sides.
    let others: usize = widths.iter().skip(1).map(|width| width + 2).sum();
    let room = COLUMNS.saturating_sub(others).max(STATEMENT_MIN);
    let room = u16::try_from(room).unwrap_or(u16::MAX);
    if let Some(column) = table.column_mut(0) {
        column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(room)));
    }
    for place in [2, 3] {
        if let Some(column) = table.column_mut(place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn line(
    engine: &str,
    time: String,
    ratio: Option<Estimate>,
    verdict: Option<Shown>,
) -> [String; 5] {
    [
        engine.to_owned(),
        time,
        ratio.map_or(String::new(), |ratio| number(ratio.value)),
        ratio.map_or(String::new(), |ratio| interval(&ratio)),
        verdict.map_or(String::new(), |verdict| verdict.name().to_owned()),
    ]
}

fn interval(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{}-{}", number(low), number(high)),
        _ => String::new(),
    }
}

/// Three significant digits, thousands set apart.
pub fn number(value: f64) -> String {
    if value.abs() < 1000.0 {
        return digits(value);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number"
    )]
    let whole = {
        let step = 10_f64.powf(value.abs().log10().floor() - 2.0);
        ((value / step).round() * step).round() as u64
    };
    indicatif::HumanCount(whole).to_string()
}

/// A line per statement and engine.
pub fn csv(rows: &[StatementResult]) -> String {
    let mut text = String::from(
        "statement,engine,response_time_ms_mean,response_time_ms_low,response_time_ms_high,\
         ratio,ratio_low,ratio_high,verdict,\
         ratio_to_tuned,ratio_to_tuned_low,ratio_to_tuned_high,verdict_to_tuned\n",
    );
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    for row in rows {
        let parts = |estimate: Option<Estimate>| -> [String; 3] {
            let text =
                |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            [
                text(estimate.map(|estimate| estimate.value)),
                text(estimate.and_then(|estimate| estimate.low)),
                text(estimate.and_then(|estimate| estimate.high)),
            ]
        };
        let name = |verdict: Option<Shown>| verdict.map(Shown::name).unwrap_or_default().to_owned();
        let mut cells = vec![quoted(&row.statement), quoted(&row.engine)];
        cells.extend(parts(row.response_time_ms_mean));
        cells.extend(parts(row.ratio));
        cells.push(name(row.verdict));
        cells.extend(parts(row.ratio_to_tuned));
        cells.push(name(row.verdict_to_tuned));
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

#[cfg(test)]
pub mod tests {
    use super::*;

    fn estimate(value: f64) -> Estimate {
        Estimate {
            value,
            low: Some(value / 2.0),
            high: None,
            confidence_level: 0.95,
            method: stats::Method::StudentT,
            replicates: 5,
        }
    }

    /// A row with what is shown of it against SQLite and against SQLite, tuned.
    pub fn row(
        statement: &str,
        engine: &str,
        ratio: Option<(f64, Shown)>,
        to_tuned: Option<(f64, Shown)>,
    ) -> StatementResult {
        StatementResult {
            statement: statement.to_owned(),
            engine: engine.to_owned(),
            response_time_ms_mean: Some(estimate(2.0)),
            ratio: ratio.map(|(ratio, _)| estimate(ratio)),
            verdict: ratio.map(|(_, shown)| shown),
            ratio_to_tuned: to_tuned.map(|(ratio, _)| estimate(ratio)),
            verdict_to_tuned: to_tuned.map(|(_, shown)| shown),
        }
    }

    #[test]
    fn csv_quotes_names_and_leaves_open_what_is_not_known() {
        let faster = Some((0.5, Shown::Faster));
        let text = csv(&[row("a, \"b\"", "sqlite", None, None), {
            row("a, \"b\"", "postgres:18", faster, Some((1.5, Shown::Undecided)))
        }]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "\"a, \"\"b\"\"\",\"sqlite\",2,1,,,,,,,,,");
        let expected = "\"a, \"\"b\"\"\",\"postgres:18\",2,1,,0.5,0.25,,faster,1.5,0.75,,undecided";
        assert_eq!(lines[2], expected);
    }

    #[test]
    fn a_table_of_three_lines_fits_80_columns() {
        let wide = Estimate { low: Some(0.000_281), high: Some(0.000_301), ..estimate(0.000_291) };
        let mut rows = Vec::new();
        for statement in ["count", "a statement with a long name that says what it asks for"] {
            for engine in ["sqlite", LABEL, "postgres:18"] {
                let shown = (engine != "sqlite").then_some((1.0, Shown::Undecided));
                let mut row = row(statement, engine, shown, shown.filter(|_| engine != LABEL));
                row.ratio = row.ratio.map(|_| wide);
                rows.push(row);
            }
        }
        let text = grid(&rows).to_string();
        assert!(text.lines().all(|line| line.trim_end().chars().count() <= COLUMNS), "{text}");
        assert!(text.contains("0.000291") && text.contains("against tuned"), "{text}");
    }

    #[test]
    fn numbers_have_three_digits_and_separators() {
        for (value, expected) in
            [(0.000_291_4, "0.000291"), (1.0, "1.00"), (999.4, "999"), (12_345.6, "12,300")]
        {
            assert_eq!(number(value), expected);
        }
    }
}
