//! Columns of a table that say at which levels an engine is faster, slower, equal: one row for a whole
//! sweep.

use notation::digits;
use stats::Estimate;

use crate::analysis::Shown;

/// A result at one level of a sweep.
pub(super) struct AtLevel {
    /// The level in words; empty where nothing is swept.
    pub level: String,
    /// How often as fast.
    pub speed: Estimate,
    pub verdict: Shown,
}

/// The titles of [`cells`].
pub(super) fn titles(any_left_out: bool) -> Vec<String> {
    let titles = ["Faster at", "Slower at", "Equal at", "Undecided at"];
    let left_out = any_left_out.then_some("Not compared at");
    titles.into_iter().chain(left_out).map(str::to_owned).collect()
}

pub(super) fn cells(results: &[AtLevel], left_out: &[String], any_left_out: bool) -> Vec<String> {
    let all = [Shown::Faster, Shown::Slower, Shown::Equal, Shown::Undecided];
    let cell = |wanted: Shown| {
        let at = results.iter().filter(|result| result.verdict == wanted);
        at.map(|result| result.level.as_str()).collect::<Vec<_>>().join(", ")
    };
    let left_out = any_left_out.then(|| left_out.join(", "));
    all.map(cell).into_iter().chain(left_out).collect()
}

/// `1.31 to 2.28`.
pub(super) fn range(results: &[AtLevel]) -> String {
    let values = || results.iter().map(|result| result.speed.value);
    let ends = values().min_by(f64::total_cmp).zip(values().max_by(f64::total_cmp));
    ends.map_or_else(String::new, |(low, high)| match low == high {
        true => digits(low),
        false => format!("{} to {}", digits(low), digits(high)),
    })
}
