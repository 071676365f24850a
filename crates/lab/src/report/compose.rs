//! From a run's record to its report: the analysis, written down as a document.

use stats::crossing::Crossing;

use super::conditions::{conditions, limitations, repeat};
use super::document::*;
use crate::analysis::{
    self, Analysis, Ratio, RequestResult, Sweep, Treatment, factor_label, factor_unit, level_label,
    sentence,
};
use crate::plan::{Level, Plan, Scale};
use crate::record::Durability;
use crate::run::Finished;
use crate::schedule::Levels;
use crate::warning;

/// The version of the document.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// Analyses a run and writes everything down.
pub fn document(finished: &Finished) -> Document {
    let Finished { plan, run, trials, .. } = finished;
    let cells = finished.cells();
    let analysis = analysis::analyse(plan, &cells, trials);
    let warnings = warning::find(plan, run, trials, finished.planned());
    Document {
        schema_version: SCHEMA_VERSION,
        run: run_part(finished),
        conditions: conditions(plan),
        verdict: VerdictPart {
            headline: analysis.verdict.headline.clone(),
            sentences: analysis.verdict.sentences.clone(),
            by_request: analysis.verdict.by_request.clone(),
        },
        response: Response {
            name: "response_time_ms_mean",
            label: "Mean response time",
            unit: "ms",
            lower_is_better: true,
        },
        factors: factors(plan, &cells),
        engines: engines(finished),
        treatments: analysis.treatments.iter().map(treatment).collect(),
        crossings: crossings(plan, &analysis),
        effects: Vec::new(),
        thresholds: Vec::new(),
        warnings: warnings
            .iter()
            .map(|warning| WarningPart {
                kind: warning.kind(),
                message: warning.message(),
                advice: warning.advice(),
            })
            .collect(),
        environment: named(run.environment.rows()),
        repeat: vec![repeat(run)],
        limitations: limitations(plan),
        plans: run.plans.clone(),
        undecided: analysis.verdict.undecided,
    }
}

fn run_part(finished: &Finished) -> RunPart {
    let Finished { plan, run, trials, .. } = finished;
    let end = run.finished.or_else(|| trials.iter().map(|trial| trial.started).max());
    RunPart {
        id: run.id.clone(),
        title: plan.title.clone(),
        workload: "http",
        mode: match plan.trial {
            crate::plan::Trial::Steady { .. } => "steady",
            crate::plan::Trial::Passes { .. } => "article",
        },
        started: run.started.to_string(),
        duration_seconds: end.map(|end| end.duration_since(run.started).as_secs_f64()),
        seed: run.seed,
        blocks: plan.replicates,
        complete: run.complete,
        command_line: run.command_line.clone(),
        crossover_version: run.crossover_version.clone(),
    }
}

fn factors(plan: &Plan, cells: &[Levels]) -> Vec<FactorPart> {
    plan.factors
        .iter()
        .map(|(name, factor)| {
            let measured: std::collections::BTreeSet<&Level> =
                cells.iter().filter_map(|cell| cell.get(name)).collect();
            let levels = measured.into_iter().map(|level| LevelPart {
                value: level.clone(),
                label: level_label(plan, name, level),
                bisected: !factor.levels.contains(level),
            });
            FactorPart {
                name: name.clone(),
                label: factor_label(name).to_owned(),
                unit: factor_unit(name),
                swept: factor.swept.is_some(),
                alone: false,
                scale: match factor.swept {
                    Some(Scale::Log) => "log",
                    _ => "linear",
                },
                levels: levels.collect(),
            }
        })
        .collect()
}

fn engines(finished: &Finished) -> Vec<EnginePart> {
    let labels = finished.plan.engines.iter().map(engine::EngineSpec::label);
    labels
        .map(|label| match finished.run.engines.get(&label) {
            Some(record) => EnginePart {
                name: label,
                version: record.version.clone(),
                settings: named(record.settings.clone()),
                durability: record.durability,
                statistics_present: record.statistics_present,
                data_bytes: record.data_bytes,
            },
            None => EnginePart {
                name: label,
                version: String::new(),
                settings: Vec::new(),
                durability: Durability::Unknown,
                statistics_present: None,
                data_bytes: None,
            },
        })
        .collect()
}

fn named(rows: Vec<(String, String)>) -> Vec<NamedValue> {
    rows.into_iter().map(|(name, value)| NamedValue { name, value }).collect()
}

fn treatment(treatment: &Treatment) -> TreatmentPart {
    let block = |(block, value): &(usize, f64)| BlockPart { block: *block, value: *value };
    TreatmentPart {
        engine: treatment.engine.clone(),
        levels: treatment.levels.clone(),
        estimate: treatment.estimate,
        best_of_three: treatment.best_of_three,
        blocks: treatment.blocks.iter().map(block).collect(),
        ratio: treatment.ratio.as_ref().map(ratio),
        cpu_seconds_per_request: treatment.cpu_seconds_per_request,
        cores_used: treatment.cores_used,
        requests_per_second: treatment.requests_per_second,
        requests: treatment.requests,
        failures: treatment.failures,
        void_trials: treatment.void,
        offered_per_second: None,
        saturated: false,
        percentiles: Vec::new(),
        percentile_curve: Vec::new(),
        counters: Vec::new(),
        notes: Vec::new(),
        plans: Vec::new(),
        requests_by_name: treatment.by_request.iter().map(request).collect(),
    }
}

fn request(result: &RequestResult) -> RequestPart {
    RequestPart {
        name: result.name.clone(),
        estimate: result.estimate,
        ratio: result.ratio.as_ref().map(ratio),
    }
}

fn ratio(ratio: &Ratio) -> RatioPart {
    RatioPart { to: ratio.to.clone(), estimate: ratio.estimate, verdict: ratio.shown }
}

fn crossings(plan: &Plan, analysis: &Analysis) -> Vec<CrossingPart> {
    let parts = |sweep: &Sweep| {
        let sentence = sentence(plan, sweep);
        sweep
            .crossings
            .iter()
            .map(|crossing| {
                let (kind, low, high, about) = match crossing {
                    Crossing::Bracketed { last, first, about, .. } => {
                        ("bracketed", Some(*last), Some(*first), Some(*about))
                    }
                    Crossing::NotInRange { .. } => ("not_in_range", None, None, None),
                    Crossing::Inconclusive { between, .. } => (
                        "inconclusive",
                        between.map(|(low, _)| low),
                        between.map(|(_, high)| high),
                        None,
                    ),
                };
                CrossingPart {
                    levels: sweep.levels.clone(),
                    request: sweep.request.clone(),
                    a: sweep.a.clone(),
                    b: sweep.b.clone(),
                    kind,
                    low,
                    high,
                    about,
                    sentence: sentence.clone(),
                    plan_change: None,
                }
            })
            .collect::<Vec<_>>()
    };
    analysis.sweeps.iter().flat_map(parts).collect()
}
