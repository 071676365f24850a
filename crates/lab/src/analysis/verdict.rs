//! What the whole experiment says, in one headline and one sentence per sweep.

use std::collections::{BTreeMap, BTreeSet};

use stats::crossing::Crossing;

use super::words::{counted, name};
use super::{Sweep, Treatment, by_request, words};
use crate::plan::Plan;

/// The answer to the plan's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// One sentence.
    pub headline: String,
    /// One for each sweep over all requests together.
    pub sentences: Vec<String>,
    /// One for each set of levels and pair of engines: what each request alone shows.
    pub by_request: Vec<String>,
    /// Something was asked that the run does not answer; exit code 3.
    pub undecided: bool,
}

pub(super) fn of(plan: &Plan, treatments: &[Treatment], sweeps: &[Sweep]) -> Verdict {
    let together: Vec<&Sweep> = sweeps.iter().filter(|sweep| sweep.request.is_none()).collect();
    let undecided = together.iter().any(|sweep| {
        !sweep.left_out.is_empty()
            || sweep.results.iter().all(|result| result.sign.faster().is_none())
            || sweep.crossings.iter().any(|c| matches!(c, Crossing::Inconclusive { .. }))
    });
    let sentences = together.iter().map(|sweep| words::sentence(plan, sweep)).collect();
    Verdict {
        headline: headline(plan, treatments, &together),
        sentences,
        by_request: by_request::sentences(plan, sweeps),
        undecided,
    }
}

fn headline(plan: &Plan, treatments: &[Treatment], sweeps: &[&Sweep]) -> String {
    if plan.engines.len() < 2 {
        return "One engine was measured, so there is nothing to compare.".to_owned();
    }
    let blocks = treatments.iter().map(|t| t.blocks.len()).max().unwrap_or(0);
    if blocks < stats::INTERVAL_MIN_REPLICATES {
        if blocks == 1 {
            return "1 block shows values, not a verdict: at least 5 are needed.".to_owned();
        }
        return format!(
            "{blocks} blocks show values and ranges, not a verdict: at least 5 are needed."
        );
    }
    let crossed: Vec<&&Sweep> = sweeps
        .iter()
        .filter(|s| s.crossings.iter().any(|c| matches!(c, Crossing::Bracketed { .. })))
        .collect();
    if let Some(first) = crossed.first() {
        let brackets = words::brackets(plan, first);
        return match (crossed.len(), sweeps.len()) {
            (1, 1) => format!("The lines cross. {brackets}"),
            (1, all) => format!("The lines cross in 1 of {all} comparisons. {brackets}"),
            (some, all) => {
                format!("The lines cross in {some} of {all} comparisons. The first, {brackets}")
            }
        };
    }
    let winners: BTreeSet<Option<&str>> = sweeps.iter().map(|sweep| winner(sweep)).collect();
    let mut winners = winners.into_iter();
    match (winners.next().flatten(), winners.next()) {
        (Some(only), None) => {
            let rest = match plan.swept() {
                Some((factor, _)) => format!(
                    " at every {} measured{}: the lines do not cross in this range",
                    words::axis_noun(factor),
                    everywhere(plan, sweeps),
                ),
                None => String::new(),
            };
            format!("{only} is faster{rest}.")
        }
        _ => tally(sweeps, blocks),
    }
}

/// How many comparisons each engine wins of those that it is in.
fn tally(sweeps: &[&Sweep], blocks: usize) -> String {
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    // The plan's first engine is in all of them, each other one in those with the first.
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut all, mut open, mut left_out) = (0, 0, 0);
    for sweep in sweeps {
        left_out += sweep.left_out.len();
        for result in &sweep.results {
            all += 1;
            *compared.entry(&sweep.a).or_default() += 1;
            *compared.entry(&sweep.b).or_default() += 1;
            match result.sign.faster() {
                Some(side) => *wins.entry(name(sweep, side)).or_default() += 1,
                None => open += 1,
            }
        }
    }
    let left_out = match left_out {
        0 => String::new(),
        _ => format!(" {} could not be made: see the warnings.", counted(left_out, "comparison")),
    };
    if wins.is_empty() {
        let none = match all {
            0 => "There is no verdict.".to_owned(),
            1 => format!(
                "After {blocks} blocks the one comparison has no verdict; more blocks may settle \
                 it."
            ),
            _ => format!(
                "After {blocks} blocks none of {all} comparisons has a verdict; more blocks may \
                 settle some of them."
            ),
        };
        return none + &left_out;
    }
    let won: Vec<String> = compared
        .into_iter()
        .filter_map(|(engine, count)| {
            let won = wins.get(engine)?;
            let its = if count < all { "its " } else { "" };
            let of = counted(count, "comparison");
            Some(format!("{engine} is shown faster in {won} of {its}{of}"))
        })
        .collect();
    let won = won.join(", ");
    let open = match open {
        0 => String::new(),
        1 => format!("; 1 has no verdict after {blocks} blocks"),
        _ => format!("; {open} have no verdict after {blocks} blocks"),
    };
    format!("{won}{open}.{left_out}")
}

/// The engine that is faster at every level of the sweep, none of them left out.
fn winner(sweep: &Sweep) -> Option<&str> {
    if !sweep.left_out.is_empty() {
        return None;
    }
    let mut sides = sweep.results.iter().map(|result| result.sign.faster());
    let first = sides.next().flatten()?;
    sides.all(|side| side == Some(first)).then_some(name(sweep, first))
}

/// `, with 1 client, 2 clients and 4 clients`.
fn everywhere(plan: &Plan, sweeps: &[&Sweep]) -> String {
    let sets: Vec<String> = sweeps.iter().map(|sweep| words::others(plan, &sweep.levels)).collect();
    let mut distinct: Vec<&str> = Vec::new();
    for set in sets.iter().map(String::as_str).filter(|set| !set.is_empty()) {
        if !distinct.contains(&set) {
            distinct.push(set);
        }
    }
    match distinct.split_last() {
        None => String::new(),
        Some((only, [])) => format!(", with {only}"),
        Some((last, others)) => format!(", with {} and {last}", others.join(", ")),
    }
}
