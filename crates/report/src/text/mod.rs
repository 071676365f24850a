//! The report for a terminal or as Markdown: the answer, all treatments, what each factor and
//! each request shows, thresholds, warnings; several runs side by side.

mod blob;
mod course;
mod pairs;
mod requests;
mod steps;
mod throughput;

use std::collections::BTreeSet;

use stats::Method;

use crate::document::Document;
use crate::document::{CrossingPart, ThresholdPart, TreatmentPart};
use crate::grid::{Form, escaped, heading};
use crate::table;
use crate::warning::{self, WarningPart};

/// The report as plain text with tables at most `width` wide where that is given.
pub fn text(document: &Document, width: Option<u16>) -> String {
    let mut parts = vec![document.run.title.clone()];
    parts.extend(body(document, Form::Terminal(width)));
    parts.join("\n\n") + "\n"
}

/// Several runs as plain text: all treatments side by side, then what each run says.
pub fn text_of_several(
    documents: &[Document],
    warnings: &[WarningPart],
    width: Option<u16>,
) -> String {
    several(documents, warnings, Form::Terminal(width))
}

/// One run or several as Markdown.
pub fn markdown(documents: &[Document], warnings: &[WarningPart]) -> String {
    if let [document] = documents {
        let mut parts = vec![format!("# {}", escaped(&document.run.title, Form::Markdown))];
        parts.extend(body(document, Form::Markdown));
        return parts.join("\n\n") + "\n";
    }
    several(documents, warnings, Form::Markdown)
}

fn several(documents: &[Document], warnings: &[WarningPart], form: Form) -> String {
    let runs = documents.iter().map(|document| {
        let (run, summary) = (&document.run, &document.summary);
        format!("{} ({}, {}): {}", run.id, run.title, machine(document), summary.headline)
    });
    let mut parts = vec![bullets(runs, form), table::side_by_side(documents, form)];
    parts.extend(blob::pictures_side_by_side(documents, form));
    parts.extend(warning::lines(warnings, form));
    for document in documents {
        parts.push(heading(&document.run.id, form));
        parts.extend(body(document, form));
    }
    parts.join("\n\n") + "\n"
}

fn body(document: &Document, form: Form) -> Vec<String> {
    let mut parts = vec![escaped(&document.summary.headline, form)];
    let versions = document.steps.iter().flat_map(|steps| &steps.versions);
    parts.extend(versions.map(|line| escaped(line, form)));
    if !document.summary.sentences.is_empty() {
        parts.push(bullets(document.summary.sentences.iter().cloned(), form));
    }
    match &document.steps {
        Some(steps) => parts.extend(steps::sections(&document.summary.products, steps, form)),
        None => {
            parts.push(table::treatments(document, form));
            parts.extend(pairs::section(document, form));
            parts.extend(requests::section(document, form));
        }
    }
    if let Some(throughput) = &document.throughput {
        parts.extend(throughput::sections(document, throughput, form));
    }
    parts.extend(blob::body(document, form));
    if !document.effects.is_empty() && document.steps.is_none() {
        parts.push(heading("What each factor does", form));
        parts.push(table::effects(document, form));
    }
    if !document.interactions.is_empty() {
        parts.push(heading("Whether the effect of one factor depends on another", form));
        parts.push(table::interactions(document, form));
    }
    let changes = plan_changes(document);
    if !changes.is_empty() {
        parts.push(format!("Plans that change:\n{}{}", gap(form), bullets(changes, form)));
    }
    if !document.thresholds.is_empty() {
        let thresholds = document.thresholds.iter().map(threshold);
        parts.push(format!("Thresholds:\n{}{}", gap(form), bullets(thresholds, form)));
    }
    let notes = notes(document);
    if !notes.is_empty() {
        parts.push(format!("Seen by the counters:\n{}{}", gap(form), bullets(notes, form)));
    }
    parts.extend(warning::lines(&document.warnings, form));
    parts.push(format!("Conditions: {}.", escaped(&document.conditions, form)));
    parts.push(format!("Seed {}. {}", document.run.seed, note(document)));
    parts
}

/// Markdown wants an empty line before a list.
fn gap(form: Form) -> &'static str {
    match form {
        Form::Terminal(_) => "",
        Form::Markdown => "\n",
    }
}

fn bullets(lines: impl IntoIterator<Item = String>, form: Form) -> String {
    let lines = lines.into_iter().map(|line| format!("- {}", escaped(&line, form)));
    lines.collect::<Vec<_>>().join("\n")
}

fn threshold(threshold: &ThresholdPart) -> String {
    let ThresholdPart { rule, place, measured, met, .. } = threshold;
    let outcome = match met {
        Some(true) => "met",
        Some(false) => "missed",
        None => "undecided",
    };
    format!("{outcome}: {rule}, {place}: {measured}")
}

/// Changes of plans along the swept factor, then by a step of another; the page has the plans themselves.
fn plan_changes(document: &Document) -> Vec<String> {
    let along = document.crossings.iter().filter_map(|crossing| plan_change(document, crossing));
    let by_step = document.effects.iter().filter(|effect| !effect.plan_changes.is_empty());
    let by_step = by_step.map(|effect| {
        let level = |level| table::level_label(document, &effect.factor, level);
        let place = match table::levels_in_words(document, &effect.levels) {
            place if place.is_empty() => place,
            place => place + ": ",
        };
        format!(
            "{place}{} has another plan at {} than at {} ({})",
            effect.engine,
            level(&effect.to),
            level(&effect.from),
            effect.plan_changes.join(", ")
        )
    });
    let mut told = BTreeSet::new();
    along.chain(by_step).filter(|change| told.insert(change.clone())).collect()
}

/// Of all requests together.
fn plan_change(document: &Document, crossing: &CrossingPart) -> Option<String> {
    let change = crossing.plan_change.as_ref().filter(|_| crossing.request.is_none())?;
    let place = table::varied_in_words(document, &crossing.levels);
    let place = if place.is_empty() { place } else { format!("{place}: ") };
    let (low, high) = change.between;
    let operations = change.operations.join(", ");
    Some(format!(
        "{place}{} changes its plan between {low} and {high} ({operations})",
        change.engine
    ))
}

/// The counters of each treatment in words; of those that share their trials once, and a note that
/// is the same of many, in one line.
fn notes(document: &Document) -> Vec<String> {
    let mut told = BTreeSet::new();
    let mut notes: Vec<(&String, Vec<String>)> = Vec::new();
    for treatment in &document.treatments {
        if told.insert((&treatment.engine, &treatment.measured_at)) {
            let place = table::place(document, treatment);
            for note in &treatment.notes {
                match notes.iter_mut().find(|(other, _)| *other == note) {
                    Some((_, places)) => places.push(place.clone()),
                    None => notes.push((note, vec![place.clone()])),
                }
            }
        }
    }
    notes.into_iter().flat_map(|(note, places)| lines(note, &places, told.len())).collect()
}

/// A note of these of all treatments: a line for each, or one for many.
fn lines(note: &str, places: &[String], all: usize) -> Vec<String> {
    /// Above it they are counted.
    const PLACES_MAX: usize = 3;
    match places.len() {
        ..=PLACES_MAX => places.iter().map(|place| format!("{place}: {note}")).collect(),
        many if many == all => vec![format!("all {all} treatments: {note}")],
        many => vec![format!("{many} of {all} treatments (the report tells which): {note}")],
    }
}

fn machine(document: &Document) -> String {
    let of_interest = ["CPU", "CPUs usable", "Memory"];
    let found = |name: &str| document.environment.iter().find(|row| row.name == name);
    let values = of_interest.iter().filter_map(|name| found(name)).map(|row| row.value.clone());
    values.collect::<Vec<_>>().join(", ")
}

/// The meaning of the figures in brackets, and of other figures that need one.
fn note(document: &Document) -> String {
    let ranges = |t: &TreatmentPart| t.estimate.is_some_and(|e| e.method == Method::RangeOnly);
    if document.steps.is_some() {
        return "Means are geometric means over blocks; the page, CSV and JSON have their intervals."
            .to_owned();
    }
    let brackets = match document.treatments.iter().any(ranges) {
        true => "In brackets: the smallest and the largest block.",
        false => "In brackets: 95% intervals from the blocks.",
    };
    let means = document.response.lower_is_better;
    let parts = [
        means.then_some("Means are geometric means over blocks."),
        Some(brackets),
        (means && document.run.of_the_article).then_some(
            "Best of three is the article's statistic; a minimum favours the noisier engine.",
        ),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn few_treatments_are_named_and_many_are_counted() {
        let places: Vec<String> = (1..=4).map(|place| format!("place {place}")).collect();
        assert_eq!(lines("spills", &places[..2], 2), ["place 1: spills", "place 2: spills"]);
        assert_eq!(lines("spills", &places, 4), ["all 4 treatments: spills"]);
        assert_eq!(
            lines("spills", &places, 6),
            ["4 of 6 treatments (the report tells which): spills"]
        );
    }
}
