//! Matching of runs that may be compared at all, and of the engines of both sides.

use std::collections::BTreeSet;

use super::{Difference, Incomparable, differences};
use crate::warning::WarningPart;
use plan::Plan;
use record::Finished;

/// Refuses runs that did different work; tells everything else in which they differ.
pub(super) fn check(a: &[Finished], b: &[Finished]) -> Result<Vec<WarningPart>, Incomparable> {
    let mut seen = BTreeSet::new();
    for run in a.iter().chain(b) {
        if !seen.insert(&run.run.id) {
            return Err(Incomparable::Twice { run: run.run.id.clone() });
        }
    }
    let mut runs = a.iter().chain(b);
    let mut found: Vec<Difference> = Vec::new();
    if let Some(first) = runs.next() {
        for other in runs {
            for difference in differences(first, other) {
                if difference.is_prohibitive() {
                    let (a, b) = (first.run.id.clone(), other.run.id.clone());
                    return Err(Incomparable::Different { a, b, difference });
                }
                if !found.contains(&difference) {
                    found.push(difference);
                }
            }
        }
    }
    let mut warnings: Vec<WarningPart> = found.into_iter().map(Difference::warning).collect();
    let incomplete = a.iter().chain(b).find(|run| !run.run.complete);
    warnings.extend(incomplete.map(|run| {
        let message = format!("{} is not complete.", run.run.id);
        WarningPart::new("incomplete", message, "Continue it with bench --resume.")
    }));
    Ok(warnings)
}

/// Engines of the same label belong together; so do those that are left over, in the order of the
/// plans, where there are as many on either side. The latter is said.
pub(super) fn engines(a: &[Finished], b: &[Finished]) -> (Vec<(String, String)>, Vec<WarningPart>) {
    let labels = |runs: &[Finished]| runs.first().map(|run| labels(&run.plan)).unwrap_or_default();
    let (of_a, of_b) = (labels(a), labels(b));
    let left = |these: &[String], others: &[String]| -> Vec<String> {
        these.iter().filter(|label| !others.contains(label)).cloned().collect()
    };
    let (left_a, left_b) = (left(&of_a, &of_b), left(&of_b, &of_a));
    let mut warnings = Vec::new();
    let leftovers = if left_a.len() == left_b.len() {
        warnings.extend(left_a.iter().zip(&left_b).map(|(a, b)| {
            let message = format!("{a} of side A is compared with {b} of side B.");
            let advice = "Give both the same label if they are meant as one.";
            WarningPart::new("other_engine", message, advice)
        }));
        left_a.into_iter().zip(left_b).collect()
    } else {
        Vec::new()
    };
    let common = of_a.iter().filter(|label| of_b.contains(label));
    let pairs = common.map(|label| (label.clone(), label.clone())).chain(leftovers).collect();
    (pairs, warnings)
}

fn labels(plan: &Plan) -> Vec<String> {
    plan.engines.iter().map(engine::EngineSpec::label).collect()
}

pub(super) fn names(runs: &[Finished]) -> String {
    runs.iter().map(|run| run.run.id.as_str()).collect::<Vec<_>>().join(",")
}
