//! The part of a report that only a plan with steps has: the table by statement and step, what to do,
//! and what was not measured.

use std::collections::BTreeMap;

use engine::EngineSpec;
use plan::Plan;
use record::{AssessmentRecord, NotMeasured};
use serde::Serialize;
use stats::Estimate;

use crate::analysis::{EngineSteps, RowKey, Shown, StepAnalysis};
use crate::answer::{Conclusion, StepConclusion, changes, conclusions, in_words, needed_steps};

/// Statements by steps of engines.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StepsPart {
    /// In the order of the plan; the first engine's steps are those that are climbed.
    pub engines: Vec<EngineStepsPart>,
    /// A row of a log's total first, then the statements.
    pub rows: Vec<StepRow>,
    /// The bound of differences that users do not feel: `below 1 ms per execution`.
    pub not_felt: String,
    /// Beside each other engine one on the first engine's steps, or one on those alone; with a bound of the
    /// user's one on each engine up to the first that keeps to it.
    pub conclusions: Vec<ConclusionPart>,
    /// Changes to carry out, in their order.
    pub to_do: Vec<ToDo>,
    /// Whether `to_do` leads to the step that is enough; otherwise it is what each engine had at its
    /// best.
    pub to_do_is_advice: bool,
    pub not_measured: Vec<NotMeasured>,
    /// Releases that were compared, and what sets their builds apart.
    pub versions: Vec<String>,
    /// Limits of the comparison of both engines at their best.
    pub limits: Vec<String>,
    /// How indexes were found, facts of a log, sizes.
    pub notes: Vec<String>,
}

/// One engine's steps, in the order of the plan.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct EngineStepsPart {
    pub engine: String,
    pub steps: Vec<String>,
    /// Those at which some row was measured.
    pub measured: Vec<StepColumn>,
    /// The step at which it is compared at its best.
    pub best: String,
}

/// A step with what it changes since the one measured before it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StepColumn {
    pub step: String,
    /// `2 indexes and settings` where no row was measured with the indexes alone.
    pub title: String,
}

/// A statement, or the log's total.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StepRow {
    /// None of the log's total.
    pub statement: Option<String>,
    pub text: Option<String>,
    /// How often the log has it.
    pub executions: Option<u64>,
    pub times: Vec<StepTimePart>,
    /// The first engine at its best against each other one.
    pub best: Vec<BestPart>,
}

/// The mean response time at one step of an engine; of the total that of the whole log.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StepTimePart {
    pub engine: String,
    pub step: String,
    pub response_time_ms_mean: Option<Estimate>,
    /// The last step before it at which the row was measured, and the time by the time there.
    pub step_before: Option<String>,
    pub ratio_to_step_before: Option<Estimate>,
    pub verdict: Option<Shown>,
}

/// The first engine's time by that of another.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct BestPart {
    pub engine: String,
    pub ratio: Estimate,
    pub verdict: Shown,
    /// Whether a user could feel the difference.
    pub is_felt: bool,
}

/// The conclusion on one engine's steps.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ConclusionPart {
    pub engine: String,
    /// The engine that it is compared with; none where the user's bound decides, or nothing is beside it.
    pub beside: Option<String>,
    /// `enough`, `not_enough` or `undecided`.
    pub conclusion: &'static str,
    /// The smallest step that is enough.
    pub step: Option<String>,
}

/// Statements of one step for one engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ToDo {
    pub engine: String,
    pub step: String,
    /// To be pasted.
    pub sql: Vec<String>,
    /// Set on every connection.
    pub settings: Vec<String>,
}

impl StepsPart {
    pub fn to_do_heading(&self) -> &'static str {
        match (self.to_do_is_advice, self.engines.len()) {
            (true, _) => "What to do",
            (false, 1) => "What it had at its best",
            (false, _) => "What each engine had at its best",
        }
    }

    /// The mean time of a statement with the first engine at its best, ms.
    pub fn at_best(&self, statement: &str) -> Option<f64> {
        let first = self.engines.first()?;
        let row = self.rows.iter().find(|row| row.statement.as_deref() == Some(statement))?;
        let is_best = |time: &&StepTimePart| time.engine == first.engine && time.step == first.best;
        Some(row.times.iter().find(is_best)?.response_time_ms_mean?.value)
    }
}

pub(crate) fn part(
    plan: &Plan,
    record: AssessmentRecord,
    found: &StepAnalysis,
    products: &BTreeMap<String, String>,
) -> StepsPart {
    let engines = found.engines.iter().map(|of| EngineStepsPart {
        engine: of.engine.clone(),
        steps: of.steps.iter().map(|step| step.step.clone()).collect(),
        measured: measured(of),
        best: of.at_best().map(|step| step.step.clone()).unwrap_or_default(),
    });
    let total = found.executions.iter().any(Option::is_some).then_some(RowKey::Total);
    let statements = (0..found.statements.len()).map(RowKey::Statement);
    let concluded = conclusions(found);
    let needed = needed_steps(&concluded);
    let named = |all: Vec<String>| all.iter().map(|one| in_words(products, one)).collect();
    StepsPart {
        engines: engines.collect(),
        rows: total.into_iter().chain(statements).map(|one| row(plan, found, one)).collect(),
        not_felt: found.not_felt(),
        conclusions: concluded.iter().filter_map(|one| conclusion(found, one)).collect(),
        to_do: to_do(plan, found, needed),
        to_do_is_advice: needed.is_some(),
        not_measured: record.not_measured,
        versions: named(record.versions),
        limits: of_distance(found).into_iter().chain(named(record.limits)).collect(),
        notes: named(record.notes),
    }
}

/// The distance that a part with one table is about.
fn of_distance(found: &StepAnalysis) -> Option<String> {
    let ms = found.delay_ms?;
    Some(format!("The table and the changes are those at {ms} ms of distance."))
}

fn measured(of: &EngineSteps) -> Vec<StepColumn> {
    let is_measured = |place: &usize| of.steps[*place].statements.iter().any(Option::is_some);
    let mut before = 0;
    let mut all = Vec::new();
    for place in (0..of.steps.len()).filter(is_measured) {
        let step = of.steps[place].step.clone();
        let title = if place == 0 { step.clone() } else { changes(of, before, place) };
        before = place;
        all.push(StepColumn { step, title });
    }
    all
}

fn row(plan: &Plan, found: &StepAnalysis, row: RowKey) -> StepRow {
    let index = match row {
        RowKey::Total => None,
        RowKey::Statement(index) => Some(index),
    };
    let mut times = Vec::new();
    for (engine, of) in found.engines.iter().enumerate() {
        for (step, at) in of.steps.iter().enumerate() {
            let gain = found.gains.iter().find(|one| {
                (one.place.engine, one.place.step, one.place.row) == (engine, step, row)
            });
            times.push(StepTimePart {
                engine: of.engine.clone(),
                step: at.step.clone(),
                response_time_ms_mean: at.row(row).map(|time| time.estimate),
                step_before: gain
                    .and_then(|gain| Some(of.steps.get(gain.place.before)?.step.clone())),
                ratio_to_step_before: gain.map(|gain| gain.compared.ratio),
                verdict: gain.map(|gain| gain.compared.shown()),
            });
        }
    }
    let best = found.against.iter().filter_map(|against| {
        let best = against.best.iter().find(|one| one.row == row)?;
        Some(BestPart {
            engine: found.engines.get(against.other)?.engine.clone(),
            ratio: best.compared.ratio,
            verdict: best.compared.shown(),
            is_felt: best.is_felt,
        })
    });
    StepRow {
        statement: found.statement(row).map(str::to_owned),
        text: index.and_then(|index| Some(plan.statements.get(index)?.text.clone())),
        executions: index.and_then(|index| found.executions.get(index).copied().flatten()),
        times,
        best: best.collect(),
    }
}

fn conclusion(found: &StepAnalysis, concluded: &StepConclusion) -> Option<ConclusionPart> {
    let engine = found.engines.get(concluded.engine)?;
    let beside = concluded.beside.and_then(|other| found.engines.get(other));
    let (conclusion, step) = match concluded.conclusion {
        Conclusion::Enough(step) => ("enough", engine.steps.get(step)),
        Conclusion::NotEnough => ("not_enough", None),
        Conclusion::Undecided => ("undecided", None),
    };
    Some(ConclusionPart {
        engine: engine.engine.clone(),
        beside: beside.map(|other| other.engine.clone()),
        conclusion,
        step: step.map(|step| step.step.clone()),
    })
}

/// The changes up to the step that is needed; without one those of each engine at its best.
fn to_do(plan: &Plan, found: &StepAnalysis, needed: Option<(usize, usize)>) -> Vec<ToDo> {
    let mut all = Vec::new();
    for (index, engine) in plan.engines.iter().enumerate() {
        let Some(of) = found.engines.get(index) else { continue };
        let up_to = match needed {
            Some((engine, step)) if engine == index => step,
            Some(_) => continue,
            None => of.best,
        };
        let steps = of.steps.iter().skip(1).take(up_to);
        all.extend(steps.filter_map(|step| step_to_do(plan, engine, &step.step)));
    }
    all
}

fn step_to_do(plan: &Plan, engine: &EngineSpec, name: &str) -> Option<ToDo> {
    let kind = engine.source.kind();
    let step = plan.steps.iter().find(|step| step.name == name)?;
    let changes = step.changes(kind)?;
    let setting = |(name, value): (&String, &String)| match kind.properties().sets_by_pragma {
        true => format!("PRAGMA {name} = {value};"),
        false => format!("SET {name} = '{value}';"),
    };
    Some(ToDo {
        engine: engine.label(),
        step: name.to_owned(),
        sql: changes.statements.iter().map(|sql| format!("{sql};")).collect(),
        settings: changes.settings.iter().map(setting).collect(),
    })
}
