//! Steps as text: a table by statement, what to do, what was not measured.

use std::fmt::Write as _;

use super::{bullets, gap};
use crate::analysis::{Shown, digits};
use crate::answer::quoted;
use crate::document::Document;
use crate::grid::{Form, fitted, heading};
use crate::steps::{StepRow, StepsPart};

pub(super) fn sections(document: &Document, part: &StepsPart, form: Form) -> Vec<String> {
    let mut sections = vec![table(document, part, form)];
    if !part.to_do.is_empty() {
        sections.push(heading(part.to_do_heading(), form));
        sections.push(to_do(document, part, form));
    }
    if !part.not_measured.is_empty() {
        sections.push(heading("Not measured", form));
        let left_out = part.not_measured.iter().map(|one| {
            let place = one.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
            format!("{}{place}: {}", quoted(&one.name), one.why)
        });
        sections.push(bullets(left_out, form));
    }
    if !part.notes.is_empty() {
        sections.push(format!(
            "Notes:\n{}{}",
            gap(form),
            bullets(part.notes.iter().cloned(), form)
        ));
    }
    sections
}

/// Mean response times, ms, by step; the ratio of both at their best last.
fn table(document: &Document, part: &StepsPart, form: Form) -> String {
    let product = |engine: &str| {
        document.summary.products.get(engine).cloned().unwrap_or_else(|| engine.to_owned())
    };
    let mut header = vec!["Mean ms".to_owned()];
    let mut spare = Vec::new();
    for of in &part.engines {
        for step in &of.steps {
            let title = format!("{}, {step}", product(&of.engine));
            if *step != of.best && of.steps.first() != Some(step) {
                spare.push(title.clone());
            }
            header.push(title);
        }
    }
    let others = part.engines.iter().skip(1);
    header.extend(others.map(|of| format!("at their best, by {}", product(&of.engine))));
    let rows = part.rows.iter().map(|row| line(part, row)).collect();
    fitted(header, rows, 1, &spare, form)
}

fn line(part: &StepsPart, row: &StepRow) -> Vec<String> {
    let name = match (&row.statement, row.executions) {
        (None, _) => "the whole log".to_owned(),
        (Some(name), None) => quoted(name).trim_matches('"').to_owned(),
        (Some(name), Some(count)) => format!("{} x {count}", quoted(name).trim_matches('"')),
    };
    let time = |time: &crate::steps::StepTimePart| match time.response_time_ms_mean {
        Some(mean) => digits(mean.value),
        None => "-".to_owned(),
    };
    let mut cells = vec![name];
    cells.extend(row.times.iter().map(time));
    for of in part.engines.iter().skip(1) {
        let best = row.best.iter().find(|best| best.engine == of.engine);
        cells.push(best.map_or_else(
            || "not compared".to_owned(),
            |best| {
                let word = match best.verdict {
                    Shown::Faster | Shown::Slower if !best.is_felt => "not felt",
                    shown => shown.name(),
                };
                format!("{} {word}", digits(best.ratio.value))
            },
        ));
    }
    cells
}

fn to_do(document: &Document, part: &StepsPart, form: Form) -> String {
    let mut text = String::new();
    for one in &part.to_do {
        let product = document.summary.products.get(&one.engine).unwrap_or(&one.engine);
        let _ = writeln!(text, "{}-- {product}, {}", indent(form), one.step);
        for sql in &one.sql {
            let _ = writeln!(text, "{}{sql}", indent(form));
        }
        for setting in &one.settings {
            let _ = writeln!(text, "{}{setting} -- on every connection", indent(form));
        }
    }
    text.trim_end().to_owned()
}

/// Markdown takes indented lines for code.
fn indent(form: Form) -> &'static str {
    match form {
        Form::Terminal(_) => "  ",
        Form::Markdown => "    ",
    }
}
