//! Changes of an engine's plan between two levels of the swept factor: often the reason for a
//! crossing, and always worth knowing beside it.

use stats::crossing::Crossing;

use super::{Sweep, Treatment};
use plan::{Level, Plan};

/// A plan that changes between two measured levels.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanChange {
    pub engine: String,
    pub between: (f64, f64),
    /// The operations whose plans change there.
    pub operations: Vec<String>,
    /// The plans' hashes at the two levels, of the first of these operations.
    pub hashes: (String, String),
}

/// The change that belongs to `crossing`. If there is a bracket, it lies between its ends, at the
/// engine and place where most operations change; otherwise it is the first along the sweep.
pub fn plan_change(
    plan: &Plan,
    sweep: &Sweep,
    crossing: &Crossing,
    treatments: &[Treatment],
) -> Option<PlanChange> {
    let all = changes(plan, sweep, treatments);
    let inside = |change: &&PlanChange| match crossing {
        Crossing::Bracketed { last, first, .. } => {
            change.between.0 < *first && change.between.1 > *last
        }
        _ => true,
    };
    let mut inside: Vec<&PlanChange> = all.iter().filter(inside).collect();
    if matches!(crossing, Crossing::Bracketed { .. }) {
        // Stable: of equals the first along the sweep.
        inside.sort_by_key(|change| std::cmp::Reverse(change.operations.len()));
    }
    inside.first().map(|change| (*change).clone())
}

/// Every change of both engines along a sweep, ordered by level.
fn changes(plan: &Plan, sweep: &Sweep, treatments: &[Treatment]) -> Vec<PlanChange> {
    let Some((swept, _)) = plan.swept() else { return Vec::new() };
    let at = |engine: &str, level: f64| {
        let mut levels = sweep.levels.clone();
        levels.insert(swept.to_owned(), Level::Number(level));
        treatments.iter().find(|t| t.engine == engine && t.levels == levels)
    };
    let mut changes: Vec<PlanChange> = Vec::new();
    for pair in sweep.results.windows(2) {
        let [low, high] = pair else { continue };
        for engine in [&sweep.a, &sweep.b] {
            let (Some(before), Some(after)) = (at(engine, low.level), at(engine, high.level))
            else {
                continue;
            };
            for changed in changed_operations(before, after) {
                if sweep.request.as_ref().is_none_or(|name| *name == changed.operation) {
                    note(&mut changes, engine, (low.level, high.level), &changed);
                }
            }
        }
    }
    changes
}

/// An operation that has another plan in one treatment than in another.
pub(super) struct ChangedOperation<'t> {
    pub operation: &'t str,
    hashes: (&'t String, &'t String),
}

/// The operations whose plans differ between two treatments in every block.
pub(super) fn changed_operations<'t>(
    before: &'t Treatment,
    after: &'t Treatment,
) -> impl Iterator<Item = ChangedOperation<'t>> {
    before.plans.iter().filter_map(|one| {
        let other = after.plans.iter().find(|plan| plan.operation == one.operation)?;
        let hashes = (one.hashes.last()?, other.hashes.last()?);
        // A plan that changes between blocks is not a change from one treatment to the other.
        let common = other.hashes.iter().any(|hash| one.hashes.contains(hash));
        (!common).then_some(ChangedOperation { operation: &one.operation, hashes })
    })
}

fn note(
    changes: &mut Vec<PlanChange>,
    engine: &str,
    between: (f64, f64),
    changed: &ChangedOperation<'_>,
) {
    let (operation, (was, is)) = (changed.operation, changed.hashes);
    let known = changes.iter_mut().find(|c| c.engine == engine && c.between == between);
    match known {
        Some(change) => change.operations.push(operation.to_owned()),
        None => changes.push(PlanChange {
            engine: engine.to_owned(),
            between,
            operations: vec![operation.to_owned()],
            hashes: (was.clone(), is.clone()),
        }),
    }
}
