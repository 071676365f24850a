//! The part of a report that only throughput over clients has: peaks, scaling, what becomes of it
//! beyond the peak, each release against the one before, and when the releases came out.

use engine::EngineSource;
use serde::Serialize;
use stats::Estimate;

use super::csv::number as in_full;
use super::document::{Document, TreatmentPart};
use super::table::{Form, drawn, levels_in_words};
use super::text::heading;
use crate::analysis::{Analysis, Beyond, CLIENTS, Scaling, Shown, Sweep, digits, number, sentence};
use crate::plan::{Level, Plan};
use crate::run::Finished;
use crate::schedule::Levels;

/// What throughput shows over the number of clients.
#[derive(Clone, Debug, Serialize)]
pub struct ThroughputPart {
    /// Processors that the server side could use: where the peak would be if nothing else mattered.
    pub cores: usize,
    pub scaling: Vec<ScalingPart>,
    pub steps: Vec<StepPart>,
    pub releases: Vec<ReleasePart>,
}

/// One engine over the clients.
#[derive(Clone, Debug, Serialize)]
pub struct ScalingPart {
    pub engine: String,
    pub levels: Levels,
    /// The number of clients with the largest mean.
    pub peak_clients: f64,
    pub peak: Estimate,
    /// Every number of clients that is not shown to be below it.
    pub peak_candidates: Vec<f64>,
    pub one_client: Option<Estimate>,
    /// Throughput at so many clients by that at one.
    pub over_one_client: Vec<AtClients>,
    /// Throughput at a multiple of the peak's clients by that at the peak.
    pub beyond_peak: Vec<BeyondPart>,
}

/// A ratio at a number of clients.
#[derive(Clone, Debug, Serialize)]
pub struct AtClients {
    pub clients: f64,
    pub estimate: Estimate,
}

/// A ratio at a multiple of the peak's clients.
#[derive(Clone, Debug, Serialize)]
pub struct BeyondPart {
    pub times: f64,
    pub clients: f64,
    pub estimate: Estimate,
}

/// One engine against the one before it of its kind.
#[derive(Clone, Debug, Serialize)]
pub struct StepPart {
    pub engine: String,
    pub before: String,
    pub levels: Levels,
    pub results: Vec<StepResult>,
    /// Numbers of clients that have no result, since one of the two failed there.
    #[serde(skip)]
    pub left_out: Vec<f64>,
    /// Where the lines cross, or who leads.
    pub sentence: String,
}

/// Throughput by that of the engine before, at a number of clients.
#[derive(Clone, Debug, Serialize)]
pub struct StepResult {
    pub clients: f64,
    pub estimate: Estimate,
    /// Corrected over all steps of the run.
    pub verdict: Shown,
}

/// A release of PostgreSQL; dates are days, none where this program does not know them.
#[derive(Clone, Debug, Serialize)]
pub struct ReleasePart {
    pub engine: String,
    pub branch: String,
    pub first_release: Option<&'static str>,
    pub tested: String,
    pub tested_release: Option<&'static str>,
}

pub(super) fn part(finished: &Finished, analysis: &Analysis) -> Option<ThroughputPart> {
    let throughput = analysis.throughput.as_ref()?;
    let plan = &finished.plan;
    let limited = plan.server_cpus.as_ref().map(Vec::len);
    Some(ThroughputPart {
        cores: limited.unwrap_or(finished.run.environment.cpus),
        scaling: throughput.scaling.iter().map(scaling).collect(),
        steps: throughput.steps.iter().map(|sweep| step(plan, sweep)).collect(),
        releases: releases(finished),
    })
}

fn scaling(one: &Scaling) -> ScalingPart {
    let beyond =
        |one: &Beyond| BeyondPart { times: one.times, clients: one.clients, estimate: one.ratio };
    let at = |(clients, estimate): &(f64, Estimate)| AtClients {
        clients: *clients,
        estimate: *estimate,
    };
    ScalingPart {
        engine: one.engine.clone(),
        levels: one.levels.clone(),
        peak_clients: one.peak.clients,
        peak: one.peak.throughput,
        peak_candidates: one.peak.candidates.clone(),
        one_client: one.one_client,
        over_one_client: one.over_one.iter().map(at).collect(),
        beyond_peak: one.beyond.iter().map(beyond).collect(),
    }
}

fn step(plan: &Plan, sweep: &Sweep) -> StepPart {
    let results = sweep.results.iter().map(|result| StepResult {
        clients: result.level,
        estimate: plan.response().ratio(result.ratio),
        verdict: result.shown(),
    });
    StepPart {
        engine: sweep.a.clone(),
        before: sweep.b.clone(),
        levels: sweep.levels.clone(),
        results: results.collect(),
        left_out: sweep.left_out.clone(),
        sentence: sentence(plan, sweep),
    }
}

/// Of the engines that are releases of PostgreSQL, in the order of the plan.
fn releases(finished: &Finished) -> Vec<ReleasePart> {
    let managed = finished.plan.engines.iter().filter(|engine| {
        matches!(
            engine.source,
            EngineSource::Postgres(_)
                | EngineSource::PostgresFolder(_)
                | EngineSource::PostgresUrl(_)
        )
    });
    let part = |engine: &engine::EngineSpec| {
        let record = finished.run.engines.get(&engine.label())?;
        let tested = record.version.strip_prefix("PostgreSQL ")?;
        // What a distribution adds: `15.19 (Debian 15.19-0+deb12u1)`.
        let tested = tested.split_whitespace().next()?.to_owned();
        let branch = server::release_history::branch(&tested)?;
        Some(ReleasePart {
            engine: engine.label(),
            first_release: server::release_history::first_release(&branch),
            tested_release: server::release_history::date(&tested),
            branch,
            tested,
        })
    };
    managed.filter_map(part).collect()
}

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

/// What a treatment's line of the table for spreadsheets has besides.
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
