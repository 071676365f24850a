//! The report as data: the contract between the laboratory and the page that draws it
//! (`web/src/report/document.ts` mirrors it). Every number was measured; null could not be had.

use serde::Serialize;
use stats::Estimate;
use stats::crossing::Crossing;

use super::conditions::{conditions, limitations, repeat};
use crate::analysis::{
    self, Analysis, Ratio, RequestResult, Shown, Sweep, Treatment, factor_label, factor_unit,
    level_label, sentence,
};
use crate::plan::{Level, Plan, Scale};
use crate::run::Finished;
use crate::schedule::Levels;
use crate::warning;

/// The version of the document.
const SCHEMA_VERSION: u32 = 1;

/// The whole report.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are the words of ARCHITECTURE.md and METHOD.md")]
pub struct Document {
    pub schema_version: u32,
    pub run: RunPart,
    pub conditions: String,
    pub verdict: VerdictPart,
    pub response: Response,
    pub factors: Vec<FactorPart>,
    pub engines: Vec<EnginePart>,
    pub treatments: Vec<TreatmentPart>,
    pub crossings: Vec<CrossingPart>,
    pub warnings: Vec<WarningPart>,
    pub environment: Vec<NamedValue>,
    pub repeat: Vec<String>,
    pub limitations: Vec<String>,
    /// Something was asked that the run does not answer.
    #[serde(skip)]
    pub undecided: bool,
}

/// The run.
#[derive(Clone, Debug, Serialize)]
pub struct RunPart {
    pub id: String,
    pub title: String,
    pub workload: &'static str,
    pub mode: &'static str,
    pub started: String,
    pub duration_seconds: Option<f64>,
    pub seed: u64,
    pub blocks: usize,
    pub complete: bool,
    pub command_line: String,
    pub crossover_version: String,
}

/// What the whole says.
#[derive(Clone, Debug, Serialize)]
pub struct VerdictPart {
    pub headline: String,
    pub sentences: Vec<String>,
    pub by_request: Vec<String>,
}

/// What is measured.
#[derive(Clone, Debug, Serialize)]
pub struct Response {
    pub name: &'static str,
    pub label: &'static str,
    pub unit: &'static str,
    pub lower_is_better: bool,
}

/// A factor with all levels measured, those of bisection among them.
#[derive(Clone, Debug, Serialize)]
pub struct FactorPart {
    pub name: String,
    pub label: String,
    pub unit: Option<&'static str>,
    pub swept: bool,
    pub scale: &'static str,
    pub levels: Vec<LevelPart>,
}

/// One level.
#[derive(Clone, Debug, Serialize)]
pub struct LevelPart {
    pub value: Level,
    pub label: String,
    pub bisected: bool,
}

/// An engine as it was when last started.
#[derive(Clone, Debug, Serialize)]
pub struct EnginePart {
    pub name: String,
    pub version: String,
    pub settings: Vec<NamedValue>,
}

/// A name and a value.
#[derive(Clone, Debug, Serialize)]
pub struct NamedValue {
    pub name: String,
    pub value: String,
}

/// One treatment.
#[derive(Clone, Debug, Serialize)]
pub struct TreatmentPart {
    pub engine: String,
    pub levels: Levels,
    pub estimate: Option<Estimate>,
    pub best_of_three: Option<f64>,
    pub blocks: Vec<BlockPart>,
    pub ratio: Option<RatioPart>,
    pub cpu_seconds_per_request: Option<f64>,
    pub cores_used: Option<f64>,
    pub requests_per_second: Option<f64>,
    pub requests: u64,
    pub failures: u64,
    pub void_trials: usize,
    pub requests_by_name: Vec<RequestPart>,
}

/// One block's mean.
#[derive(Clone, Debug, Serialize)]
pub struct BlockPart {
    pub block: usize,
    pub value: f64,
}

/// A ratio to the first engine.
#[derive(Clone, Debug, Serialize)]
pub struct RatioPart {
    pub to: String,
    pub estimate: Estimate,
    pub verdict: Shown,
}

/// One request of the mix.
#[derive(Clone, Debug, Serialize)]
pub struct RequestPart {
    pub name: String,
    pub estimate: Option<Estimate>,
    pub ratio: Option<RatioPart>,
}

/// What a sweep shows in one place.
#[derive(Clone, Debug, Serialize)]
pub struct CrossingPart {
    pub levels: Levels,
    pub request: Option<String>,
    pub a: String,
    pub b: String,
    pub kind: &'static str,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub about: Option<f64>,
    pub sentence: String,
}

/// A doubt and what to do about it.
#[derive(Clone, Debug, Serialize)]
pub struct WarningPart {
    pub kind: &'static str,
    pub message: String,
    pub advice: &'static str,
}

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
            },
            None => EnginePart { name: label, version: String::new(), settings: Vec::new() },
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
                }
            })
            .collect::<Vec<_>>()
    };
    analysis.sweeps.iter().flat_map(parts).collect()
}
