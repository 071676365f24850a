//! Columns of throughput, beside those of every treatment.

use plan::{Level, Levels};

use super::number as in_full;
use crate::analysis::CLIENTS;
use crate::document::{Document, TreatmentPart};

/// Further columns of a treatment's line of the table for spreadsheets.
pub(super) const COLUMNS: [&str; 12] = [
    "response_time_ms_mean",
    "statements_per_second",
    "statements_per_second_low",
    "statements_per_second_high",
    "over_one_client",
    "over_one_client_low",
    "over_one_client_high",
    "in_peak",
    "before",
    "ratio_to_before",
    "ratio_to_before_low",
    "ratio_to_before_high",
];

pub(super) fn columns(document: &Document, treatment: &TreatmentPart) -> Vec<String> {
    let nothing = || vec![String::new(); COLUMNS.len()];
    let Some(part) = &document.throughput else { return nothing() };
    let Some(clients) = treatment.levels.get(CLIENTS).and_then(Level::number) else {
        return nothing();
    };
    let here = |engine: &str, levels: &Levels| {
        let same = |(name, level): (&String, &Level)| treatment.levels.get(name) == Some(level);
        engine == treatment.engine && levels.iter().all(same)
    };
    let scaling = part.scaling.iter().find(|one| here(&one.engine, &one.levels));
    let over_one = scaling.and_then(|one| {
        let at = one.over_one_client.iter().find(|at| at.clients == clients)?;
        Some(at.estimate)
    });
    let step = part.steps.iter().find(|one| here(&one.engine, &one.levels));
    let result = step.and_then(|step| {
        let result = step.results.iter().find(|result| result.clients == clients)?;
        Some(result.estimate)
    });
    let statements = treatment.statements_per_second;
    let in_peak = scaling.map(|one| one.peak_candidates.contains(&clients).to_string());
    vec![
        in_full(treatment.response_time_ms_mean.map(|estimate| estimate.value)),
        in_full(statements.map(|estimate| estimate.value)),
        in_full(statements.and_then(|estimate| estimate.low)),
        in_full(statements.and_then(|estimate| estimate.high)),
        in_full(over_one.map(|estimate| estimate.value)),
        in_full(over_one.and_then(|estimate| estimate.low)),
        in_full(over_one.and_then(|estimate| estimate.high)),
        in_peak.unwrap_or_default(),
        step.map(|step| step.before.clone()).unwrap_or_default(),
        in_full(result.map(|estimate| estimate.value)),
        in_full(result.and_then(|estimate| estimate.low)),
        in_full(result.and_then(|estimate| estimate.high)),
    ]
}
