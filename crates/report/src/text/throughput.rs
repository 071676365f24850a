//! Scaling, steps between releases and releases, as text.

use plan::Levels;

use super::course::{AtLevel, cells, range, titles};
use crate::analysis::{CLIENTS, number, speed, speed_title};
use crate::document::Document;
use crate::grid::{Form, drawn, heading};
use crate::table::levels_in_words;
use crate::throughput::ThroughputPart;

/// The tables of the text report.
pub(super) fn sections(document: &Document, part: &ThroughputPart, form: Form) -> Vec<String> {
    let mut sections = vec![heading("Peaks", form), peaks(document, part, form)];
    if !part.steps.is_empty() {
        sections.push(heading("Each engine against the one before", form));
        sections.push(steps(document, part, form));
    }
    if !part.releases.is_empty() {
        sections.push(heading("Releases", form));
        sections.push(release_table(part, form));
    }
    sections
}

fn factor_titles(document: &Document) -> Vec<String> {
    let others = document.factors.iter().filter(|factor| factor.name != CLIENTS);
    others.map(|factor| factor.label.clone()).collect()
}

fn factor_cells(document: &Document, levels: &Levels) -> Vec<String> {
    let others = document.factors.iter().filter(|factor| factor.name != CLIENTS);
    others
        .map(|factor| {
            let one = levels.get_key_value(&factor.name);
            let one = one.map(|(name, level)| Levels::from([(name.clone(), level.clone())]));
            one.map(|levels| levels_in_words(document, &levels)).unwrap_or_default()
        })
        .collect()
}

/// The article's table, with what is beside a peak.
fn peaks(document: &Document, part: &ThroughputPart, form: Form) -> String {
    let mut header = factor_titles(document);
    let words = header.len() + 1;
    header.extend(
        [
            "Engine",
            "Peak per second",
            "Peak at # of clients",
            "Per second at 1 client",
            "Peak by 1",
        ]
        .map(str::to_owned),
    );
    header.extend(["At 4 x the peak's clients", "At 16 x"].map(str::to_owned));
    let rows = part.scaling.iter().map(|one| {
        let mut row = factor_cells(document, &one.levels);
        row.push(one.engine.clone());
        row.push(number(&one.peak));
        row.push(clients_in_words(&one.peak_candidates, one.peak_clients));
        row.push(one.one_client.map(|one| number(&one)).unwrap_or_default());
        let at_peak = one.over_one_client.iter().find(|at| at.clients == one.peak_clients);
        row.push(at_peak.map(|at| number(&at.estimate)).unwrap_or_default());
        row.extend([4.0, 16.0].map(|times| {
            let found = one.beyond_peak.iter().find(|beyond| beyond.times == times);
            found.map_or_else(|| "not measured".to_owned(), |found| number(&found.estimate))
        }));
        row
    });
    drawn(header, rows.collect(), words, form)
}

/// `2, 4`, or the best alone.
fn clients_in_words(candidates: &[f64], best: f64) -> String {
    let all: Vec<String> = candidates.iter().map(f64::to_string).collect();
    if all.len() < 2 { best.to_string() } else { format!("{} (best {best})", all.join(", ")) }
}

fn steps(document: &Document, part: &ThroughputPart, form: Form) -> String {
    let mut header = factor_titles(document);
    header.extend(["Engine".to_owned(), "Before".to_owned()]);
    let any_left_out = part.steps.iter().any(|step| !step.left_out.is_empty());
    header.extend(titles(any_left_out));
    header.push(speed_title(document.response.lower_is_better, "before"));
    let words = header.len();
    let rows = part.steps.iter().map(|step| {
        let mut row = factor_cells(document, &step.levels);
        row.extend([step.engine.clone(), step.before.clone()]);
        let results = step.results.iter().map(|result| AtLevel {
            level: result.clients.to_string(),
            speed: speed(document.response.lower_is_better, result.estimate),
            verdict: result.verdict,
        });
        let results: Vec<AtLevel> = results.collect();
        let left_out: Vec<String> = step.left_out.iter().map(f64::to_string).collect();
        row.extend(cells(&results, &left_out, any_left_out));
        row.push(range(&results));
        row
    });
    drawn(header, rows.collect(), words, form)
}

fn release_table(part: &ThroughputPart, form: Form) -> String {
    let header = ["Engine", "Branch", "First release", "Tested", "Its release"];
    let header = header.map(str::to_owned).to_vec();
    let rows = part.releases.iter().map(|release| {
        let date = |date: Option<&str>| date.unwrap_or("not known here").to_owned();
        vec![
            release.engine.clone(),
            release.branch.clone(),
            date(release.first_release),
            release.tested.clone(),
            date(release.tested_release),
        ]
    });
    drawn(header, rows.collect(), 5, form)
}
