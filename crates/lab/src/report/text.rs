//! The report for a terminal: the verdict, all treatments, what each request shows, the warnings.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use stats::{Estimate, Method};

use super::Document;
use super::document::{RatioPart, TreatmentPart};
use crate::analysis::Shown;

/// The report as plain text with tables at most `width` wide where that is given.
pub fn text(document: &Document, width: Option<u16>) -> String {
    let mut parts = vec![
        format!("{}\n{}", document.run.title, document.conditions),
        treatments(document, width),
        document.verdict.headline.clone(),
    ];
    if document.verdict.sentences.len() > 1 {
        parts.push(bullets(document.verdict.sentences.iter().map(String::as_str)));
    }
    if !document.verdict.by_request.is_empty() {
        let sentences = document.verdict.by_request.iter().map(String::as_str);
        parts.push(format!("By request:\n{}", bullets(sentences)));
    }
    for warning in &document.warnings {
        parts.push(format!("Warning: {} {}", warning.message, warning.advice));
    }
    parts.push(format!("Seed {}. {}", document.run.seed, note(document)));
    parts.join("\n\n") + "\n"
}

fn bullets<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    lines.into_iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

fn note(document: &Document) -> &'static str {
    let ranges = |t: &TreatmentPart| t.estimate.is_some_and(|e| e.method == Method::RangeOnly);
    if document.treatments.iter().any(ranges) {
        "In brackets: the smallest and the largest block. Best of three is the article's \
         statistic; a minimum favours the noisier engine."
    } else {
        "In brackets: 95% intervals from the blocks. Best of three is the article's statistic; a \
         minimum favours the noisier engine."
    }
}

fn treatments(document: &Document, width: Option<u16>) -> String {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─')))
        .force_no_tty();
    if let Some(width) = width {
        table.set_width(width);
    }
    let mut header: Vec<String> =
        document.factors.iter().map(|factor| factor.label.clone()).collect();
    header.push("Engine".to_owned());
    header.push("Mean, ms".to_owned());
    if document.engines.len() > 1 {
        let first = document.engines.first().map(|engine| engine.name.as_str());
        header.push(format!("Times {}", first.unwrap_or_default()));
    }
    header.extend(["Best of three, ms", "CPU s/request", "Cores", "Requests"].map(str::to_owned));
    table.set_header(header);
    for row in rows(document) {
        table.add_row(row);
    }
    let factors = document.factors.len();
    for column in table.column_iter_mut().skip(factors + 1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

/// Engines stand under each other for each set of levels.
fn rows(document: &Document) -> Vec<Vec<String>> {
    let engines = document.engines.len().max(1);
    let per_engine = document.treatments.len() / engines;
    let mut order: Vec<(usize, &TreatmentPart)> = document
        .treatments
        .iter()
        .enumerate()
        .map(|(index, treatment)| (index % per_engine.max(1), treatment))
        .collect();
    order.sort_by(|(a, first), (b, second)| first.levels.cmp(&second.levels).then(a.cmp(b)));
    order.into_iter().map(|(_, treatment)| row(document, treatment)).collect()
}

fn row(document: &Document, treatment: &TreatmentPart) -> Vec<String> {
    let mut cells: Vec<String> = document
        .factors
        .iter()
        .map(|factor| {
            let value = treatment.levels.get(&factor.name);
            let level = factor.levels.iter().find(|level| Some(&level.value) == value);
            level.map(|level| level.label.clone()).unwrap_or_default()
        })
        .collect();
    cells.push(treatment.engine.clone());
    cells.push(treatment.estimate.map_or_else(|| "void".to_owned(), |estimate| number(&estimate)));
    if document.engines.len() > 1 {
        cells.push(treatment.ratio.as_ref().map(ratio).unwrap_or_default());
    }
    cells.push(treatment.best_of_three.map(digits).unwrap_or_default());
    cells.push(treatment.cpu_seconds_per_request.map(digits).unwrap_or_default());
    cells.push(treatment.cores_used.map(|cores| format!("{cores:.2}")).unwrap_or_default());
    cells.push(match treatment.failures {
        0 => treatment.requests.to_string(),
        failures => format!("{} ({failures} failed)", treatment.requests),
    });
    cells
}

fn ratio(ratio: &RatioPart) -> String {
    let shown = match ratio.verdict {
        Shown::Faster => " faster",
        Shown::Slower => " slower",
        Shown::Undecided => "",
    };
    format!("{}{shown}", number(&ratio.estimate))
}

/// `52.1 (50.9 to 53.3)`.
fn number(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("{} ({} to {})", digits(estimate.value), digits(low), digits(high))
        }
        _ => digits(estimate.value),
    }
}

/// Three significant digits, no exponent.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -308 and 308")]
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = usize::try_from((2 - magnitude).max(0)).unwrap_or(0);
    format!("{value:.decimals$}")
}
