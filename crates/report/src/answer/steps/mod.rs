//! The answer of a plan with steps: the smallest step that is enough, by how much the engines differ at
//! their best, and what each step brings. It says what the verdicts show and nothing else.

mod at_best;
mod bound;
mod gains;
mod verdict;

use stats::Estimate;

use super::place::listed;
use super::wording::Wording;
use crate::analysis::{
    EngineSteps, Enough, NOT_FELT_MS, OneSidedVerdict, RowKey, StepAnalysis, StepVerdict, digits,
};

/// The conclusion on one engine that the first is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The first engine's step of this number is the smallest that is enough.
    Enough(usize),
    /// Its last step is shown not to be.
    NotEnough,
    Undecided,
}

/// The answer in sentences.
pub(super) struct StepAnswer {
    pub headline: Vec<String>,
    pub sentences: Vec<String>,
    pub undecided: bool,
    /// No step of any engine keeps to the user's bound.
    pub bound_missed: bool,
}

/// The longest name of a statement in a sentence.
const NAME_MAX: usize = 48;
/// The most names in a list.
const NAMES_MAX: usize = 3;

pub(super) fn answer(wording: &Wording<'_>, steps: &StepAnalysis) -> StepAnswer {
    let teller = Teller { wording, steps };
    let mut headline = Vec::new();
    let mut conclusions = Vec::new();
    match wording.plan.enough {
        Some(_) => {
            let (conclusion, said) = teller.of_bound();
            conclusions.push(conclusion);
            headline.extend(said);
        }
        None => {
            for against in &steps.against {
                let conclusion = step_conclusion(&against.steps);
                conclusions.push(conclusion);
                headline.extend(teller.verdict(against, conclusion));
                headline.extend(teller.unchanged(against, conclusion));
            }
        }
    }
    headline.extend(steps.against.iter().filter_map(|against| teller.at_best(against)));
    StepAnswer {
        headline,
        sentences: teller.gains(),
        undecided: conclusions.is_empty() || conclusions.contains(&Conclusion::Undecided),
        bound_missed: wording.plan.enough.is_some()
            && steps.bounds.iter().all(|bound| bound.enough == Enough::No),
    }
}

/// The smallest step that is enough. Steps are looked at from the last one down, ending at the first
/// that is not: so the chance of a wrong "enough" is that of one test.
pub fn step_conclusion(steps: &[StepVerdict]) -> Conclusion {
    let tested = last_measured(steps).map_or(0, |last| last.step + 1);
    let verdicts: Vec<Enough> = steps.iter().take(tested).map(|step| step.enough).collect();
    smallest(&verdicts)
}

/// The last step of which anything was measured: a short budget may leave later ones out.
fn last_measured(steps: &[StepVerdict]) -> Option<&StepVerdict> {
    let is_measured = |step: &&StepVerdict| {
        step.rows.iter().any(|row| row.verdict != OneSidedVerdict::NotMeasured)
    };
    steps.iter().rfind(is_measured)
}

fn smallest(verdicts: &[Enough]) -> Conclusion {
    let enough = verdicts.iter().rev().take_while(|enough| **enough == Enough::Yes).count();
    match (enough, verdicts.last()) {
        (0, Some(Enough::No)) => Conclusion::NotEnough,
        (0, _) => Conclusion::Undecided,
        _ => Conclusion::Enough(verdicts.len() - enough),
    }
}

struct Teller<'a> {
    wording: &'a Wording<'a>,
    steps: &'a StepAnalysis,
}

impl Teller<'_> {
    fn engine(&self, index: usize) -> &str {
        self.steps.engines.get(index).map_or("", |one| self.wording.names.get(&one.engine))
    }

    /// `SQLite with ANALYZE and 2 indexes`, `unchanged SQLite`.
    fn engine_at(&self, engine: usize, step: usize) -> String {
        let name = self.engine(engine);
        match self.steps.engines.get(engine).map(|of| with(of, step)).unwrap_or_default() {
            changes if changes.is_empty() => format!("unchanged {name}"),
            changes => format!("{name} with {changes}"),
        }
    }

    /// `any of the 8 statements`, `the whole log`.
    fn all_rows(&self) -> String {
        match self.steps.deciding_rows().as_slice() {
            [RowKey::Total] => "the whole log".to_owned(),
            [_] => "the statement".to_owned(),
            rows => format!("any of the {} statements", rows.len()),
        }
    }

    fn margin(&self) -> String {
        let share = self.wording.plan.equivalent_within;
        match self.steps.deciding_rows().as_slice() {
            [RowKey::Total] => format!("within {share}"),
            _ => format!("within {share} or {NOT_FELT_MS} ms"),
        }
    }

    /// `3 (up to 12 times as fast: "x")`.
    fn most(&self, of: &[(RowKey, f64)]) -> Option<String> {
        self.most_of(of, "fast")
    }

    fn most_of(&self, of: &[(RowKey, f64)], word: &str) -> Option<String> {
        let (row, factor) = of.iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let up_to = if of.len() == 1 { "" } else { "up to " };
        let (count, factor, name) = (of.len(), digits(*factor), self.name(*row));
        Some(format!("{count} ({up_to}{factor} times as {word}: {name})"))
    }

    fn name(&self, row: RowKey) -> String {
        self.steps.statement(row).map_or_else(|| "the log".to_owned(), quoted)
    }

    fn names(&self, rows: &[RowKey]) -> String {
        shortened(&rows.iter().map(|row| self.name(*row)).collect::<Vec<_>>())
    }
}

/// The changes up to a step: `ANALYZE and 2 indexes`; empty where nothing is changed.
fn with(engine: &EngineSteps, step: usize) -> String {
    let changes = engine.steps.iter().skip(1).take(step);
    listed(&changes.map(|step| step.step.clone()).collect::<Vec<_>>())
}

/// How many times as fast, or as slow, a ratio of times below 1, or above, is.
fn times(ratio: Estimate, faster: bool) -> f64 {
    if faster { 1.0 / ratio.value } else { ratio.value }
}

fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The name in quotation marks, cut where it is long.
pub(crate) fn quoted(name: &str) -> String {
    match name.chars().count() > NAME_MAX {
        true => format!("\"{}...\"", name.chars().take(NAME_MAX).collect::<String>().trim_end()),
        false => format!("\"{name}\""),
    }
}
