//! From a run's record to its report: the analysis, written down as a document.

use std::io::ErrorKind;

use stats::Method;
use stats::crossing::Crossing;

use crate::analysis::{
    self, Analysis, Effect, Interaction, Judgement, OperationPlans, Percentile, PlanChange, Ratio,
    RequestResult, Sweep, Treatment, factor_label, factor_unit, level_label, number, plan_change,
};
use crate::answer::{self, RunAnswer};
use crate::blob::{self, BlobPart};
use crate::conditions::{conditions, limitations, repeat};
use crate::document::*;
use crate::engines::{engines, named};
use crate::regression::{RegressionCheck, Regressions};
use crate::warning::{self, Warning, WarningPart};
use plan::Design;
use plan::Levels;
use plan::{Level, Plan, Scale, WorkloadKind};
use record::Finished;
use record::environment::KERNEL_COMMAND_LINE;
use record::{RecordError, ResponseTimes, read_histogram};

/// The version of the document.
pub(super) const SCHEMA_VERSION: u32 = 3;

/// Analyses a run and writes everything down.
pub fn document(finished: &Finished) -> Document {
    let Finished { plan, run, trials, .. } = finished;
    let cells = finished.cells();
    let design = Design::of(plan);
    let analysis = analysis::analyse(&design, &cells, trials);
    let answer = answer::answer(finished, &analysis);
    let regressions = Regressions::of(plan, &analysis.treatments);
    let thresholds = analysis.thresholds.iter().map(|judged| threshold(plan, judged));
    let mut warnings = warning::find(plan, run, trials, design.planned(&run.rounds));
    let mut treatments = Vec::new();
    for one in &analysis.treatments {
        let curve = percentile_curve(finished, one).unwrap_or_else(|error| {
            if !warnings.iter().any(|known| matches!(known, Warning::HistogramDamaged { .. })) {
                warnings.push(Warning::HistogramDamaged { first: error.to_string() });
            }
            Vec::new()
        });
        treatments.push(treatment(finished, one, curve));
    }
    Document {
        schema_version: SCHEMA_VERSION,
        run: run_part(finished),
        conditions: conditions(plan, run),
        response: response(plan),
        factors: factors(plan, &cells),
        engines: engines(&finished.plan, &finished.run, &answer.products),
        treatments,
        throughput: super::throughput::part(finished, &analysis, &answer),
        steps: analysis.steps.first().map(|found| {
            let record = run.assessment.clone().unwrap_or_default();
            crate::steps::part(plan, record, found, &answer.products)
        }),
        crossings: crossings(finished, &analysis, &answer),
        effects: analysis.effects.iter().map(|one| effect(plan, one)).collect(),
        interactions: analysis
            .interactions
            .iter()
            .filter_map(|one| interaction(plan, one))
            .collect(),
        thresholds: thresholds.chain(regressions.iter().flat_map(regression_bounds)).collect(),
        warnings: warning_parts(finished, &warnings, &answer),
        // It stays in the record; a reader of a report can do nothing with it.
        environment: named(run.environment.rows())
            .into_iter()
            .filter(|row| row.name != KERNEL_COMMAND_LINE)
            .collect(),
        repeat: vec![repeat(run)],
        limitations: limitations(plan),
        plans: run.plans.clone(),
        blob: blob_part(finished, &design, &analysis),
        summary: answer,
    }
}

fn warning_parts(
    finished: &Finished,
    warnings: &[Warning],
    answer: &RunAnswer,
) -> Vec<WarningPart> {
    let has_application = finished.plan.workload.properties().has_application;
    let parts = warnings.iter().map(|warning| {
        let message = answer::in_words(&answer.products, &warning.message());
        WarningPart::new(warning.kind(), message, warning.advice(has_application))
    });
    warning::in_order(parts.collect())
}

fn blob_part(finished: &Finished, design: &Design<'_>, analysis: &Analysis) -> Option<BlobPart> {
    match finished.plan.workload {
        WorkloadKind::Blob => Some(blob::part(finished, design, analysis)),
        WorkloadKind::Http | WorkloadKind::Sql | WorkloadKind::Oltp => None,
    }
}

fn response(plan: &Plan) -> Response {
    let response = plan.response();
    Response {
        name: response.name(),
        label: response.label(),
        unit: response.unit(),
        lower_is_better: response.lower_is_better(),
    }
}

fn run_part(finished: &Finished) -> RunPart {
    let Finished { plan, run, .. } = finished;
    RunPart {
        id: run.id.clone(),
        title: plan.title.clone(),
        workload: plan.workload.name(),
        unit_of_work: plan.unit_of_work(),
        mode: match plan.trial {
            plan::TrialSettings::Steady { .. } => "steady",
            plan::TrialSettings::Passes { .. } => "passes",
        },
        of_the_article: plan.is_the_articles(),
        started: run.started.to_string(),
        duration_seconds: finished.working_seconds(),
        seed: run.seed,
        blocks: run.blocks(plan),
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
            let mut measured: Vec<&Level> = measured.into_iter().collect();
            if factor.swept.is_none() {
                // In the plan's order: its first level is the base of what varies alone.
                measured.sort_by_key(|level| factor.levels.iter().position(|own| own == *level));
            }
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
                alone: factor.alone,
                scale: factor.swept.unwrap_or(Scale::Linear),
                levels: levels.collect(),
            }
        })
        .collect()
}

fn treatment(
    finished: &Finished,
    treatment: &Treatment,
    percentile_curve: Vec<(f64, f64)>,
) -> TreatmentPart {
    let block = |(block, value): &(usize, f64)| BlockPart { block: *block, value: *value };
    TreatmentPart {
        engine: treatment.engine.clone(),
        levels: treatment.levels.clone(),
        measured_at: treatment.measured_at.clone(),
        estimate: treatment.estimate,
        arithmetic_mean: treatment.larger_arithmetic_mean(),
        best_of_three: treatment.best_of_three,
        blocks: treatment.blocks.iter().map(block).collect(),
        ratio: treatment.ratio.as_ref().map(ratio),
        cpu_seconds_per_request: treatment.cpu_seconds_per_request,
        cores_used: treatment.cores_used,
        response_time_ms_mean: match finished.plan.response().lower_is_better() {
            true => None,
            false => treatment.response_time,
        },
        statements_per_second: treatment.statements_per_second,
        requests_per_second: treatment.requests_per_second,
        requests: treatment.failures.requests,
        failures: treatment.failures.failed,
        wrong_answers: treatment.failures.wrong,
        timed_out: treatment.failures.timed_out,
        void_trials: treatment.void,
        offered_per_second: treatment.offered_per_second,
        saturated: treatment.saturated,
        percentiles: treatment.percentiles.iter().map(percentile).collect(),
        percentile_curve,
        counters: counters(treatment),
        notes: treatment.notes.clone(),
        plans: treatment.plans.iter().map(plans).collect(),
        requests_by_name: treatment.by_request.iter().map(request).collect(),
    }
}

fn request(result: &RequestResult) -> RequestPart {
    RequestPart {
        name: result.name.clone(),
        estimate: result.estimate,
        ratio: result.ratio.as_ref().map(ratio),
        without_effect_fraction: result.without_effect,
    }
}

fn ratio(ratio: &Ratio) -> RatioPart {
    let (to, estimate) = (ratio.to.clone(), ratio.estimate);
    RatioPart { to, estimate, verdict: ratio.shown, difference: ratio.difference }
}

fn crossings(finished: &Finished, analysis: &Analysis, answer: &RunAnswer) -> Vec<CrossingPart> {
    let plan = &finished.plan;
    let parts = |(sweep, sentence): (&Sweep, &String)| {
        sweep
            .crossings
            .iter()
            .map(|crossing| {
                let (kind, low, high, about) = match crossing {
                    Crossing::Bracketed { last, first, about, .. } => {
                        (CrossingKind::Bracketed, Some(*last), Some(*first), Some(*about))
                    }
                    Crossing::NotInRange { .. } => (CrossingKind::NotInRange, None, None, None),
                    Crossing::Inconclusive { between, .. } => (
                        CrossingKind::Inconclusive,
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
                    family: sweep.family,
                    kind,
                    low,
                    high,
                    about,
                    sentence: sentence.clone(),
                    plan_change: plan_change(plan, sweep, crossing, &analysis.treatments)
                        .map(plan_change_part),
                }
            })
            .collect::<Vec<_>>()
    };
    analysis.sweeps.iter().zip(&answer.of_sweeps).flat_map(parts).collect()
}

fn plan_change_part(change: PlanChange) -> PlanChangePart {
    let (low, high) = change.between;
    let (before, after) = change.hashes;
    PlanChangePart {
        engine: change.engine,
        between: change.between,
        operations: change.operations,
        plans: vec![
            LevelPlanPart { level: low, hash: before },
            LevelPlanPart { level: high, hash: after },
        ],
    }
}

fn percentile(percentile: &Percentile) -> PercentilePart {
    let Percentile { p, estimate, .. } = *percentile;
    let interval = |bound: Option<f64>| bound.filter(|_| estimate.method != Method::RangeOnly);
    PercentilePart {
        p,
        value_ms: estimate.value,
        low_ms: interval(estimate.low),
        high_ms: interval(estimate.high),
        method: estimate.method,
        replicates: estimate.replicates,
    }
}

/// How many points the percentile plot draws of one treatment.
const CURVE_POINTS: usize = 40;

/// From the histograms of the trials that count; empty for runs of older releases, which have none.
fn percentile_curve(
    finished: &Finished,
    treatment: &Treatment,
) -> Result<Vec<(f64, f64)>, RecordError> {
    let mut merged = ResponseTimes::of([])?;
    for number in &treatment.trials {
        match read_histogram(&finished.folder.histogram_path(*number)) {
            Ok(times) => merged.add(&times)?,
            Err(RecordError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(merged.curve(CURVE_POINTS))
}

fn counters(treatment: &Treatment) -> Vec<CounterPart> {
    let counter = |(name, value): (&String, &f64)| {
        let (stem, unit) = match name.rsplit_once('_') {
            Some((stem, "bytes")) => (stem, Some("bytes")),
            Some((stem, "seconds")) => (stem, Some("s")),
            _ => (name.as_str(), None),
        };
        let label = stem.replace('_', " ");
        CounterPart { name: name.clone(), label, unit, value: *value }
    };
    treatment.counters.iter().map(counter).collect()
}

fn plans(plans: &OperationPlans) -> PlanPart {
    PlanPart {
        operation: plans.operation.clone(),
        hashes: plans.hashes.clone(),
        not_observable: plans.not_observable.clone(),
    }
}

fn effect(plan: &Plan, effect: &Effect) -> EffectPart {
    let mut levels = effect.levels.clone();
    levels.retain(|name, level| !plan.is_base(name, level));
    EffectPart {
        factor: effect.factor.clone(),
        engine: effect.engine.clone(),
        against: effect.against.clone(),
        from: effect.from.clone(),
        to: effect.to.clone(),
        levels,
        estimate: effect.estimate,
        verdict: effect.shown,
        plan_changes: effect.plan_changes.clone(),
    }
}

fn interaction(plan: &Plan, interaction: &Interaction) -> Option<InteractionPart> {
    let [first, second] = &interaction.effects;
    let at = |effect: &Effect| effect.levels.get(&interaction.other).cloned();
    let mut levels = interaction.levels.clone();
    levels.retain(|name, level| !plan.is_base(name, level));
    Some(InteractionPart {
        engine: first.engine.clone(),
        factor: first.factor.clone(),
        from: first.from.clone(),
        to: first.to.clone(),
        other: interaction.other.clone(),
        at: [at(first)?, at(second)?],
        levels,
        effects: [first.estimate, second.estimate],
        estimate: interaction.estimate,
        verdict: interaction.shown,
    })
}

fn threshold(plan: &Plan, judged: &Judgement) -> ThresholdPart {
    let words: Vec<String> =
        judged.levels.iter().map(|(name, level)| level_label(plan, name, level)).collect();
    let place = std::iter::once(judged.engine.clone()).chain(words).collect::<Vec<_>>();
    ThresholdPart {
        rule: format!("{} {}", judged.response.name(), judged.bound),
        place: place.join(", "),
        engine: judged.engine.clone(),
        levels: judged.levels.clone(),
        request: None,
        measured: match (&judged.estimate, &judged.why_not) {
            (Some(estimate), _) => number(estimate),
            (None, Some(why)) => format!("not measured: {why}"),
            (None, None) => "not measured".to_owned(),
        },
        met: judged.met,
    }
}

/// The bounds on what has become slower, each as a threshold.
fn regression_bounds(regressions: &Regressions<'_>) -> Vec<ThresholdPart> {
    let part = |check: &RegressionCheck| ThresholdPart {
        rule: regressions.rule(check),
        place: regressions.place(check),
        engine: check.engine.clone(),
        levels: check.levels.clone(),
        request: check.request.clone(),
        measured: check.measured(),
        met: check.is_met(),
    };
    regressions.checks().iter().map(part).collect()
}
