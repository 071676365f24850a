//! Scaling, steps between releases and releases, as text.

use plan::Levels;

use crate::analysis::{CLIENTS, Shown, digits, number};
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

/// The article's table, with what stands beside a peak.
fn peaks(document: &Document, part: &ThroughputPart, form: Form) -> String {
    let mut header = factor_titles(document);
    let words = header.len() + 1;
    header.extend(
        ["Engine", "Peak TPS", "Peak performance at # of clients", "TPS at 1 client", "Peak by 1"]
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
    header.extend(
        ["Engine", "Before", "Faster at", "Slower at", "Equal at", "Undecided at", "Times"]
            .map(str::to_owned),
    );
    let words = header.len();
    let rows = part.steps.iter().map(|step| {
        let mut row = factor_cells(document, &step.levels);
        row.extend([step.engine.clone(), step.before.clone()]);
        let all = [Shown::Faster, Shown::Slower, Shown::Equal, Shown::Undecided];
        row.extend(all.map(|wanted| {
            let at = step.results.iter().filter(|result| result.verdict == wanted);
            let failed = step.left_out.iter().filter(|_| wanted == Shown::Undecided);
            let clients = at.map(|result| &result.clients).chain(failed);
            clients.map(f64::to_string).collect::<Vec<_>>().join(", ")
        }));
        let values = || step.results.iter().map(|result| result.estimate.value);
        let ends = values().min_by(f64::total_cmp).zip(values().max_by(f64::total_cmp));
        row.push(ends.map_or_else(String::new, |(low, high)| match low == high {
            true => digits(low),
            false => format!("{} to {}", digits(low), digits(high)),
        }));
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
