//! The levels that the words of an assertion name, read back from the text.

use super::truth::Truth;
use super::*;

impl Truth<'_> {
    /// That the words of an assertion along a sweep name exactly the levels of its cells.
    pub(super) fn names_levels(&self, words: &str, assertion: &Assertion) -> bool {
        let (Assertion::Faster { pair, at }
        | Assertion::Equal { pair, at }
        | Assertion::Undecided { pair, at }) = assertion
        else {
            return true;
        };
        let sweeps = self.analysis.sweeps.iter().filter(|sweep| Self::is_of(sweep, pair));
        let levels = |sweep: &Sweep| -> Vec<f64> {
            let shown = sweep.results.iter().map(|one| one.level);
            let mut all: Vec<f64> = shown.chain(sweep.left_out.iter().copied()).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let Some((sweep, axis)) = sweeps
            .filter(|sweep| levels(sweep).iter().any(|one| at.contains(&self.cell_of(sweep, *one))))
            .find_map(|sweep| {
                let axis = self.plan.factors.keys().find(|name| !sweep.levels.contains_key(*name));
                Some((sweep, axis?))
            })
        else {
            return true;
        };
        let all = levels(sweep);
        let label = |level: &f64| super::super::super::place::level(self.plan, axis, *level);
        let stated = all.iter().filter(|one| at.contains(&self.cell_of(sweep, **one)));
        // What follows a colon is the size of the interval at one of them.
        let (words, _) = words.split_once(": ").unwrap_or((words, ""));
        let named = all.iter().enumerate().filter(|(index, _)| {
            let ends = |from: usize, to: usize| (from..=to).contains(index);
            let mut places =
                (0..all.len()).flat_map(|from| (from..all.len()).map(move |to| (from, to)));
            places.any(|(from, to)| {
                let (low, high) = (label(&all[from]), label(&all[to]));
                let phrase = match (from, to) {
                    (from, to) if from == to => format!("at {low}"),
                    (0, to) if to + 1 == all.len() => format!("measured, {low} to {high}"),
                    (0, _) => format!("up to {high}"),
                    (_, to) if to + 1 == all.len() => format!("from {low} on"),
                    _ => format!("from {low} to {high}"),
                };
                let rest = words.split(phrase.as_str()).nth(1);
                let is_whole = rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
                ends(from, to) && is_whole
            })
        });
        let named: Vec<&f64> = named.map(|(_, level)| level).collect();
        named == stated.collect::<Vec<_>>()
    }
}
