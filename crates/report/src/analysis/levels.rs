//! Levels that a sweep may come to hold.

use plan::Plan;
use stats::crossing::MOST_LEVELS_MORE;

/// The levels that a sweep may come to hold. Verdicts are corrected for all of them from the start,
/// so that no level measured later takes one away (METHOD.md, section 6).
pub(super) fn most_levels(plan: &Plan) -> usize {
    plan.swept().map_or(1, |(_, factor)| {
        factor.levels.len() + if factor.bisect { MOST_LEVELS_MORE } else { 0 }
    })
}
