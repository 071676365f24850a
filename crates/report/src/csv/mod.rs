//! Results as tables for spreadsheets, in long form: a line per treatment or a line per trial, of
//! one run or of several, numbers in full. A factor that a run does not have is empty in its lines.

mod steps;
mod throughput;

use std::collections::BTreeSet;

use crate::document::{Document, RatioPart, TreatmentPart};
use notation::csv_table;
use plan::Level;
use plan::Levels;
use record::Finished;
use record::{PERCENTILES, Status, Trial};

/// After the engine and the response, which stands under its own name.
const TREATMENT_COLUMNS: [&str; 15] = [
    "low",
    "high",
    "replicates",
    "ratio",
    "ratio_low",
    "ratio_high",
    "verdict",
    "best_of_three_ms",
    "cpu_seconds_per_request",
    "cores_used",
    "requests_per_second",
    "requests",
    "failures",
    "void_trials",
    "offered_per_second",
];

/// One line per treatment of every run.
pub fn csv(documents: &[Document]) -> String {
    if let [Document { steps: Some(part), .. }] = documents {
        return steps::csv(part);
    }
    let names = documents.iter().flat_map(|d| d.factors.iter().map(|factor| factor.name.clone()));
    let factors: BTreeSet<String> = names.collect();
    let percentiles = PERCENTILES.map(|(name, _)| percentile_column(name));
    let mut header = vec!["run"];
    header.extend(factors.iter().map(String::as_str));
    header.extend(["engine", response_name(documents)]);
    header.extend(TREATMENT_COLUMNS);
    header.extend(percentiles.iter().map(String::as_str));
    let throughput = documents.iter().any(|document| document.throughput.is_some());
    if throughput {
        header.extend(throughput::COLUMNS);
    }
    let rows = documents.iter().flat_map(|document| {
        let run = &document.run.id;
        document.treatments.iter().map(|treatment| {
            let mut row = row_of_treatment(run, &factors, treatment);
            if throughput {
                row.extend(throughput::columns(document, treatment));
            }
            row
        })
    });
    csv_table(&header, rows)
}

/// `response` where the runs have not the same.
fn response_name(documents: &[Document]) -> &'static str {
    let mut names = documents.iter().map(|document| document.response.name);
    let first = names.next().unwrap_or("response");
    if names.all(|name| name == first) { first } else { "response" }
}

fn row_of_treatment(run: &str, factors: &BTreeSet<String>, one: &TreatmentPart) -> Vec<String> {
    let estimate = one.estimate;
    let ratio = one.ratio.as_ref().map(|ratio| ratio.estimate);
    let mut row = vec![run.to_owned()];
    row.extend(levels(factors, &one.levels));
    row.extend([
        one.engine.clone(),
        number(estimate.map(|e| e.value)),
        number(estimate.and_then(|e| e.low)),
        number(estimate.and_then(|e| e.high)),
        estimate.map(|e| e.replicates.to_string()).unwrap_or_default(),
        number(ratio.map(|e| e.value)),
        number(ratio.and_then(|e| e.low)),
        number(ratio.and_then(|e| e.high)),
        verdict(one.ratio.as_ref()),
        number(one.best_of_three),
        number(one.cpu_seconds_per_request),
        number(one.cores_used),
        number(one.requests_per_second),
        one.requests.to_string(),
        one.failures.to_string(),
        one.void_trials.to_string(),
        number(one.offered_per_second),
    ]);
    row.extend(PERCENTILES.map(|(_, p)| {
        number(one.percentiles.iter().find(|found| found.p == p).map(|found| found.value_ms))
    }));
    row
}

const TRIAL_COLUMNS: [&str; 16] = [
    "engine",
    "block",
    "trial",
    "status",
    "started",
    "wall_seconds",
    "response_time_ms_mean",
    "requests",
    "failures",
    "requests_per_second",
    "cpu_seconds_per_request",
    "cores_used",
    "client_cores_used",
    "other_cores_used",
    "steal_fraction",
    "offered_per_second",
];

/// One line per trial of every run, with every percentile and counter that any trial has.
pub fn csv_of_trials(runs: &[Finished]) -> String {
    let trials = || runs.iter().flat_map(|run| &run.trials);
    let factors: BTreeSet<String> = trials().flat_map(|t| t.levels.keys().cloned()).collect();
    let counters: BTreeSet<&String> = trials().flat_map(|trial| trial.counters.keys()).collect();
    let percentiles = PERCENTILES.map(|(name, _)| percentile_column(name));
    let mut header = vec!["run"];
    header.extend(factors.iter().map(String::as_str));
    header.extend(TRIAL_COLUMNS);
    header.extend(percentiles.iter().map(String::as_str));
    header.extend(counters.iter().map(|name| name.as_str()));
    let rows = runs.iter().flat_map(|run| {
        run.trials.iter().map(|trial| {
            let mut row = vec![run.run.id.clone()];
            row.extend(levels(&factors, &trial.levels));
            row.extend(columns_of_trial(trial));
            let percentiles = &trial.response_time_ms_percentiles;
            row.extend(PERCENTILES.map(|(name, _)| number(percentiles.get(name).copied())));
            row.extend(counters.iter().map(|name| number(trial.counters.get(*name).copied())));
            row
        })
    });
    csv_table(&header, rows)
}

fn columns_of_trial(trial: &Trial) -> [String; 16] {
    let status = match &trial.status {
        Status::Ok => "ok".to_owned(),
        Status::Void(why) => format!("void: {why}"),
    };
    [
        trial.engine.clone(),
        trial.block.to_string(),
        trial.number.to_string(),
        status,
        trial.started.to_string(),
        trial.wall_seconds.to_string(),
        number(trial.response_time_ms_mean),
        trial.requests.to_string(),
        trial.failures.to_string(),
        trial.requests_per_second.to_string(),
        number(trial.cpu_seconds_per_request),
        number(trial.cores_used),
        trial.client_cores_used.to_string(),
        number(trial.other_cores_used),
        number(trial.steal_fraction),
        number(trial.offered_per_second),
    ]
}

fn levels<'a>(
    factors: &'a BTreeSet<String>,
    levels: &'a Levels,
) -> impl Iterator<Item = String> + 'a {
    factors.iter().map(|name| levels.get(name).map(Level::to_string).unwrap_or_default())
}

fn percentile_column(name: &str) -> String {
    format!("response_time_ms_{name}")
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Corrected for all verdicts of the experiment, unlike the interval.
fn verdict(ratio: Option<&RatioPart>) -> String {
    ratio.map(|ratio| ratio.verdict.name()).unwrap_or_default().to_owned()
}
