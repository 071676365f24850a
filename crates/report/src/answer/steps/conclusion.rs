//! Conclusions on steps: which step of an engine is the smallest that is enough. Every output that names
//! one has it from here.

use crate::analysis::{
    BoundRow, BoundRowVerdict, Enough, OneSidedVerdict, RowVerdict, StepAnalysis, StepVerdict,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The step of this number is the smallest that is enough.
    Enough(usize),
    /// The last step measured is shown not to be.
    NotEnough,
    Undecided,
}

/// A conclusion on the steps of one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepConclusion {
    /// The number of the engine.
    pub engine: usize,
    /// The engine that it is compared with; none where the user's bound decides, or nothing is beside it.
    pub beside: Option<usize>,
    pub conclusion: Conclusion,
}

/// Beside each other engine one on the first engine's steps, or one on those alone; with a bound of the
/// user's one on each engine up to the first that keeps to it.
pub fn conclusions(steps: &StepAnalysis) -> Vec<StepConclusion> {
    if steps.bounds.is_empty() && !steps.alone.is_empty() {
        let conclusion = smallest_alone(&measured(&steps.alone));
        return vec![StepConclusion { engine: 0, beside: None, conclusion }];
    }
    if steps.bounds.is_empty() {
        let beside = steps.against.iter().map(|against| StepConclusion {
            engine: 0,
            beside: Some(against.other),
            conclusion: smallest(&measured(&against.steps)),
        });
        return beside.collect();
    }
    let mut all: Vec<StepConclusion> = Vec::new();
    for engine in 0..steps.engines.len() {
        let conclusion = smallest(&steps.bounds_of(engine));
        all.push(StepConclusion { engine, beside: None, conclusion });
        if matches!(conclusion, Conclusion::Enough(_)) {
            break;
        }
    }
    all
}

/// The engine and the step up to which its changes are advised; none where nothing is enough or
/// something is undecided.
pub fn needed_steps(concluded: &[StepConclusion]) -> Option<(usize, usize)> {
    if !settles(concluded) {
        return None;
    }
    let is_by_itself = concluded.iter().any(|one| one.beside.is_none());
    let steps = concluded.iter().map(|one| match one.conclusion {
        Conclusion::Enough(step) => Some((one.engine, step)),
        Conclusion::NotEnough | Conclusion::Undecided => None,
    });
    match is_by_itself {
        true => steps.flatten().last(),
        // Enough beside every other engine.
        false => steps.collect::<Option<Vec<_>>>()?.into_iter().max(),
    }
}

/// Whether nothing is left open.
pub(super) fn settles(concluded: &[StepConclusion]) -> bool {
    let is_open = |one: &StepConclusion| one.conclusion == Conclusion::Undecided;
    !concluded.is_empty() && !concluded.iter().any(is_open)
}

/// Whether every step of every engine is shown to miss the user's bound.
pub(super) fn is_bound_missed(steps: &StepAnalysis) -> bool {
    let mut engines = (0..steps.engines.len()).map(|engine| steps.bounds_of(engine));
    !steps.bounds.is_empty()
        && engines.all(|of| !of.is_empty() && of.iter().all(|one| one.enough == Enough::No))
}

/// A step of which something was measured: a short budget may leave others out.
#[derive(Clone, Copy)]
pub(super) struct MeasuredStep<'a, Row> {
    pub step: usize,
    pub enough: Enough,
    pub rows: &'a [Row],
}

pub(super) fn measured(steps: &[StepVerdict]) -> Vec<MeasuredStep<'_, RowVerdict>> {
    let is_measured = |row: &RowVerdict| row.verdict != OneSidedVerdict::NotMeasured;
    let steps = steps.iter().filter(|one| one.rows.iter().any(is_measured));
    steps.map(|one| MeasuredStep { step: one.step, enough: one.enough, rows: &one.rows }).collect()
}

impl StepAnalysis {
    /// An engine's measured steps against the user's bound.
    pub(super) fn bounds_of(&self, engine: usize) -> Vec<MeasuredStep<'_, BoundRow>> {
        let is_measured = |row: &BoundRow| row.verdict != BoundRowVerdict::NotMeasured;
        let own = self.bounds.iter().filter(|one| one.engine == engine);
        let own = own.filter(|one| one.rows.iter().any(is_measured));
        own.map(|one| MeasuredStep { step: one.step, enough: one.enough, rows: &one.rows })
            .collect()
    }
}

/// Steps are looked at from the last one down, ending at the first that is not enough: so the chance
/// of a wrong "enough" is that of one test.
fn smallest<Row>(steps: &[MeasuredStep<'_, Row>]) -> Conclusion {
    let enough = steps.iter().rev().take_while(|one| one.enough == Enough::Yes).last();
    match (enough, steps.last()) {
        (Some(smallest), _) => Conclusion::Enough(smallest.step),
        (None, Some(last)) if last.enough == Enough::No => Conclusion::NotEnough,
        _ => Conclusion::Undecided,
    }
}

/// The same of an engine alone. Nothing is after its last step, so that one is enough only where the
/// one before it is shown not to be; and no step where the unchanged engine is as fast as all.
fn smallest_alone(steps: &[MeasuredStep<'_, RowVerdict>]) -> Conclusion {
    let ([first, ..], [.., before, last]) = (steps, steps) else { return Conclusion::Undecided };
    match smallest(steps) {
        Conclusion::Enough(step) if step == last.step && before.enough != Enough::No => {
            Conclusion::Undecided
        }
        Conclusion::Enough(step) if step > 0 && (first.step, first.enough) == (0, Enough::Yes) => {
            Conclusion::Undecided
        }
        conclusion => conclusion,
    }
}
