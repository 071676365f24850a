//! The part of a report that only a plan with steps has: the table by statement and step, what to do,
//! and what was not measured.

use engine::{EngineKind, EngineSpec};
use plan::Plan;
use record::{Finished, NotMeasured};
use serde::Serialize;
use stats::Estimate;

use crate::analysis::{RowKey, Shown, StepAnalysis};
use crate::answer::{Conclusion, step_conclusion};

/// Statements by steps of engines.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StepsPart {
    /// In the order of the plan; the first engine's steps are those that are climbed.
    pub engines: Vec<EngineStepsPart>,
    /// A row of a log's total first, then the statements.
    pub rows: Vec<StepRow>,
    /// The smallest step of the first engine that is enough beside each other one.
    pub conclusions: Vec<ConclusionPart>,
    /// Statements to carry out, in their order.
    pub to_do: Vec<ToDo>,
    pub not_measured: Vec<NotMeasured>,
    /// How steps were found, and which versions differ.
    pub notes: Vec<String>,
}

/// One engine's steps, in the order of the plan.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct EngineStepsPart {
    pub engine: String,
    pub steps: Vec<String>,
    /// The step at which it is compared at its best.
    pub best: String,
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
    /// By the time at the step before.
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

/// The conclusion beside one other engine.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ConclusionPart {
    pub engine: String,
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
    /// The steps of a conclusion are advice; without one they are what was measured.
    pub fn to_do_heading(&self) -> &'static str {
        match self.conclusions.iter().all(|one| one.conclusion == "enough") {
            true => "What to do",
            false => "What was done at the best steps",
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

pub(crate) fn part(finished: &Finished, found: &StepAnalysis) -> StepsPart {
    let plan = &finished.plan;
    let record = finished.run.assessment.clone().unwrap_or_default();
    let engines = found.engines.iter().map(|of| EngineStepsPart {
        engine: of.engine.clone(),
        steps: of.steps.iter().map(|step| step.step.clone()).collect(),
        best: of.at_best().map(|step| step.step.clone()).unwrap_or_default(),
    });
    let total = found.executions.iter().any(Option::is_some).then_some(RowKey::Total);
    let statements = (0..found.statements.len()).map(RowKey::Statement);
    StepsPart {
        engines: engines.collect(),
        rows: total.into_iter().chain(statements).map(|one| row(plan, found, one)).collect(),
        conclusions: conclusions(found),
        to_do: to_do(plan, found),
        not_measured: record.not_measured,
        notes: record.notes,
    }
}

fn row(plan: &Plan, found: &StepAnalysis, row: RowKey) -> StepRow {
    let index = match row {
        RowKey::Total => None,
        RowKey::Statement(index) => Some(index),
    };
    let mut times = Vec::new();
    for (engine, of) in found.engines.iter().enumerate() {
        for (step, at) in of.steps.iter().enumerate() {
            let gain = found
                .gains
                .iter()
                .find(|gain| (gain.engine, gain.step, gain.row) == (engine, step, row));
            times.push(StepTimePart {
                engine: of.engine.clone(),
                step: at.step.clone(),
                response_time_ms_mean: at.row(row).map(|time| time.estimate),
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

fn conclusions(found: &StepAnalysis) -> Vec<ConclusionPart> {
    let of = |against: &crate::analysis::AgainstEngine| {
        let step = |index: usize| Some(found.engines.first()?.steps.get(index)?.step.clone());
        let (conclusion, step) = match step_conclusion(&against.steps) {
            Conclusion::Enough(index) => ("enough", step(index)),
            Conclusion::NotEnough => ("not_enough", None),
            Conclusion::Undecided => ("undecided", None),
        };
        let engine = found.engines.get(against.other)?.engine.clone();
        Some(ConclusionPart { engine, conclusion, step })
    };
    found.against.iter().filter_map(of).collect()
}

/// The first engine's steps up to the one that is enough, and where none is, all steps of the others.
fn to_do(plan: &Plan, found: &StepAnalysis) -> Vec<ToDo> {
    let mut all = Vec::new();
    let last_enough = found.against.iter().map(|against| step_conclusion(&against.steps));
    let needed = last_enough.map(|one| match one {
        Conclusion::Enough(step) => Some(step),
        Conclusion::NotEnough | Conclusion::Undecided => None,
    });
    let needed: Option<Vec<usize>> = needed.collect();
    for (index, engine) in plan.engines.iter().enumerate() {
        let Some(of) = found.engines.get(index) else { continue };
        let up_to = match (&needed, index) {
            (Some(steps), 0) => steps.iter().copied().max().unwrap_or(0),
            (Some(_), _) => continue,
            (None, _) => of.best,
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
    let setting = |(name, value): (&String, &String)| match kind {
        EngineKind::Sqlite => format!("PRAGMA {name} = {value};"),
        _ => format!("SET {name} = '{value}';"),
    };
    Some(ToDo {
        engine: engine.label(),
        step: name.to_owned(),
        sql: changes.statements.iter().map(|sql| format!("{sql};")).collect(),
        settings: changes.settings.iter().map(setting).collect(),
    })
}
