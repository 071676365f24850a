//! Each request alone, since a mean over all can hide which of them crosses: time, ratio and verdict of
//! every engine; of many, at which levels each is faster.

use plan::{Level, Levels};

use super::course::{AtLevel, cells, range, titles};
use crate::analysis::{number, speed, speed_title};
use crate::document::{Document, RequestPart, TreatmentPart};
use crate::grid::{Form, drawn, heading};
use crate::table::{level_label, levels_in_words, varied_in_words};

/// A longer table has a row for each sweep instead of each level.
const ROWS_MAX: usize = 48;

/// Title and table; nothing of a single request that only reads, which all together show.
pub(super) fn section(document: &Document, form: Form) -> Vec<String> {
    let names = names(document);
    if names.len() < 2 && !writes(document) {
        return Vec::new();
    }
    let rows = names.len() * document.treatments.len();
    let has_sweep = document.factors.iter().any(|factor| factor.swept && factor.levels.len() > 1);
    // A rate is that of all together: by request there are times, and no comparison.
    let is_compared = document.response.lower_is_better;
    let is_long = rows > ROWS_MAX && has_sweep && document.engines.len() > 1;
    let table = match is_long && is_compared {
        true => by_sweep(document, &names, form),
        false => by_level(document, &names, form),
    };
    let unit = document.run.unit_of_work;
    vec![heading(&format!("Each {unit} alone"), form), table]
}

fn names(document: &Document) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for request in document.treatments.iter().flat_map(|one| &one.requests_by_name) {
        if !names.contains(&request.name.as_str()) {
            names.push(&request.name);
        }
    }
    names
}

/// Whether a request writes whose effects are counted.
fn writes(document: &Document) -> bool {
    let mut requests = document.treatments.iter().flat_map(|one| &one.requests_by_name);
    requests.any(|request| request.without_effect_fraction.is_some())
}

fn first_engine(document: &Document) -> &str {
    document.engines.first().map(|engine| engine.name.as_str()).unwrap_or_default()
}

/// Every treatment's result of the request, in the order of the document.
fn of_request<'d>(
    document: &'d Document,
    name: &'d str,
) -> impl Iterator<Item = (&'d TreatmentPart, &'d RequestPart)> {
    document.treatments.iter().filter_map(move |treatment| {
        let request = treatment.requests_by_name.iter().find(|one| one.name == name)?;
        Some((treatment, request))
    })
}

fn title(document: &Document) -> String {
    notation::capitalised(document.run.unit_of_work)
}

fn by_level(document: &Document, names: &[&str], form: Form) -> String {
    let is_compared = document.engines.len() > 1;
    let has_factors = !document.factors.is_empty();
    let mut header = vec![title(document)];
    header.extend(has_factors.then(|| "Where".to_owned()));
    header.push("Engine".to_owned());
    let words = header.len();
    header.push("Geom. mean, ms".to_owned());
    let writes = writes(document);
    header.extend(writes.then(|| "Without effect".to_owned()));
    if is_compared {
        let first = first_engine(document);
        header.push(speed_title(document.response.lower_is_better, first));
        header.push("Verdict".to_owned());
    }
    let mut rows = Vec::new();
    for name in names {
        // Engines stand under each other at each set of levels.
        let mut all: Vec<(&TreatmentPart, &RequestPart)> = of_request(document, name).collect();
        let place =
            |levels: &Levels| document.treatments.iter().position(|one| one.levels == *levels);
        all.sort_by_key(|(treatment, _)| place(&treatment.levels));
        for (treatment, request) in all {
            let mut row = vec![(*name).to_owned()];
            row.extend(has_factors.then(|| levels_in_words(document, &treatment.levels)));
            row.push(treatment.engine.clone());
            row.push(request.estimate.map_or_else(|| "none".to_owned(), |one| number(&one)));
            row.extend(writes.then(|| without_effect(request)));
            if is_compared {
                row.extend(against_first(document, treatment, request));
            }
            rows.push(row);
        }
    }
    drawn(header, rows, words, form)
}

/// The share of executions that changed no row; of a request that only reads a blank.
fn without_effect(request: &RequestPart) -> String {
    let share = request.without_effect_fraction;
    share.map_or_else(String::new, |share| format!("{}%", notation::digits(share * 100.0)))
}

/// Ratio and verdict against the first engine, which has none.
fn against_first(
    document: &Document,
    treatment: &TreatmentPart,
    request: &RequestPart,
) -> [String; 2] {
    match &request.ratio {
        Some(ratio) => {
            let speed = speed(document.response.lower_is_better, ratio.estimate);
            [number(&speed), ratio.verdict.name().to_owned()]
        }
        None if treatment.engine == first_engine(document) => [String::new(), String::new()],
        None => [String::new(), "not compared".to_owned()],
    }
}

/// One engine along the swept factor, for one request.
struct RequestSweep<'d> {
    others: Levels,
    engine: &'d str,
    results: Vec<AtLevel>,
    left_out: Vec<String>,
}

fn by_sweep(document: &Document, names: &[&str], form: Form) -> String {
    let sweeps: Vec<(&str, Vec<RequestSweep<'_>>)> =
        names.iter().map(|name| (*name, sweeps_of(document, name))).collect();
    let any_left_out = sweeps.iter().flat_map(|(_, all)| all).any(|one| !one.left_out.is_empty());
    let place = |one: &RequestSweep<'_>| varied_in_words(document, &one.others);
    let has_place = sweeps.iter().flat_map(|(_, all)| all).any(|one| !place(one).is_empty());
    let mut header = vec![title(document)];
    header.extend(has_place.then(|| "Where".to_owned()));
    header.push("Engine".to_owned());
    header.extend(titles(any_left_out));
    let words = header.len();
    header.push(speed_title(document.response.lower_is_better, first_engine(document)));
    let rows = sweeps.into_iter().flat_map(|(name, sweeps)| {
        let row = |one: RequestSweep<'_>| {
            let mut row = vec![name.to_owned()];
            row.extend(has_place.then(|| place(&one)));
            row.push(one.engine.to_owned());
            row.extend(cells(&one.results, &one.left_out, any_left_out));
            row.push(range(&one.results));
            row
        };
        sweeps.into_iter().map(row).collect::<Vec<_>>()
    });
    drawn(header, rows.collect(), words, form)
}

/// Of every engine but the first.
fn sweeps_of<'d>(document: &'d Document, name: &'d str) -> Vec<RequestSweep<'d>> {
    let axis = document.factors.iter().find(|factor| factor.swept);
    let axis = axis.map(|factor| factor.name.as_str());
    let mut sweeps: Vec<RequestSweep<'d>> = Vec::new();
    for (treatment, request) in of_request(document, name) {
        let engine = treatment.engine.as_str();
        if engine == first_engine(document) {
            continue;
        }
        let (others, level) = without(&treatment.levels, axis);
        let level = level.zip(axis).map(|(level, axis)| level_label(document, axis, level));
        let level = level.unwrap_or_default();
        let is_it = |one: &RequestSweep<'_>| one.others == others && one.engine == engine;
        let index = sweeps.iter().position(is_it).unwrap_or_else(|| {
            let (results, left_out) = (Vec::new(), Vec::new());
            sweeps.push(RequestSweep { others, engine, results, left_out });
            sweeps.len() - 1
        });
        let Some(sweep) = sweeps.get_mut(index) else { continue };
        match &request.ratio {
            Some(ratio) => sweep.results.push(AtLevel {
                level,
                speed: speed(document.response.lower_is_better, ratio.estimate),
                verdict: ratio.verdict,
            }),
            None => sweep.left_out.push(level),
        }
    }
    sweeps
}

/// The levels without that of the swept factor, and that level.
fn without<'l>(levels: &'l Levels, axis: Option<&str>) -> (Levels, Option<&'l Level>) {
    let mut others = levels.clone();
    axis.map(|axis| others.remove(axis));
    (others, axis.and_then(|axis| levels.get(axis)))
}
