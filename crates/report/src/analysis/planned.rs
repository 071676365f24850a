//! The levels that a sweep may come to hold, and the next ones that bisection asks for.

use std::collections::BTreeSet;

use plan::Design;
use plan::{DELAY_MS, Levels, Plan};
use stats::crossing::next_level;

use super::levels::most_levels;
use super::pairs::cell;
use super::sweep::{Sweep, compare, scale};

/// How narrow a bracket is wanted: its ends differ by at most 15% (METHOD.md, section 7).
const BRACKET_WIDTH: f64 = 0.15;

pub(super) fn next_cells(plan: &Plan, sweeps: &[Sweep]) -> Vec<Levels> {
    let Some((name, factor)) = plan.swept().filter(|(_, factor)| factor.bisect) else {
        return Vec::new();
    };
    // Levels that are counted stay whole.
    let whole = name != DELAY_MS
        && factor.levels.iter().all(|l| l.number().is_some_and(|n| n.fract() == 0.0));
    let mut cells: BTreeSet<Levels> = BTreeSet::new();
    for sweep in sweeps.iter().filter(|sweep| sweep.is_primary()) {
        // A level that was left out is measured too: asked for again it would be left out again.
        let results = sweep.results.iter().map(|result| result.level);
        let measured: Vec<f64> = results.chain(sweep.left_out.iter().copied()).collect();
        for crossing in &sweep.crossings {
            let next = next_level(crossing, &measured, scale(factor), BRACKET_WIDTH, whole);
            let next = next.map(|level| cell(&sweep.levels, Some(name), level));
            let coming = cells.iter().filter(|cell| has_levels_of(cell, &sweep.levels)).count();
            let has_room = measured.len() + coming < most_levels(plan);
            cells.extend(next.filter(|_| has_room));
        }
    }
    cells.into_iter().collect()
}

/// Whether `cell` has the levels of `group`, whatever its level of the factor between them.
pub(super) fn has_levels_of(cell: &Levels, group: &Levels) -> bool {
    group.iter().all(|(name, level)| cell.get(name) == Some(level))
}

/// The primary verdicts of all requests together that a run of `plan` is corrected for.
pub fn planned_verdicts(design: &Design<'_>, cells: &[Levels]) -> usize {
    let sweeps = compare(design, cells, &mut []);
    sweeps.iter().filter(|sweep| sweep.is_primary()).count() * most_levels(design)
}

/// The number of verdicts with those that bisection may add to `count` at the plan's own levels.
pub(super) fn with_bisection(plan: &Plan, count: usize) -> usize {
    let levels = plan.swept().map_or(1, |(_, factor)| factor.levels.len().max(1));
    (count * most_levels(plan)).div_ceil(levels)
}
