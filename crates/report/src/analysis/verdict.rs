//! Verdict of the whole experiment, in one headline and one sentence per sweep.

use std::collections::{BTreeMap, BTreeSet};

use stats::crossing::Crossing;

use super::words::name;
use super::{Shown, Sweep, Treatment, by_request, words};
use plan::counted;
use plan::{Checkpoints, Plan, WorkloadKind};

/// The answer to the plan's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
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
    let undecided = together.iter().any(|sweep| !sweep.is_settled());
    let sentences = together.iter().map(|sweep| words::sentence(plan, sweep)).collect();
    Verdict {
        headline: headline(plan, treatments, &together),
        sentences,
        by_request: by_request::sentences(plan, sweeps),
        undecided,
    }
}

/// Where the winner is another one until the last COMMIT alone; empty where it is the same.
pub(super) fn until_commit(plan: &Plan, sweeps: &[Sweep], until_commit: &[Sweep]) -> String {
    let together = sweeps.iter().filter(|sweep| sweep.request.is_none());
    let differs = together.zip(until_commit).find_map(|(settled, early)| {
        let results = settled.results.iter().zip(&early.results);
        let turned: Vec<_> = results
            .filter_map(|(one, other)| {
                let winner =
                    other.sign.faster().filter(|_| one.sign.faster() != other.sign.faster());
                Some((winner?, other.level))
            })
            .collect();
        let (winner, level) = *turned.first()?;
        let everywhere = turned.len() == early.results.len();
        Some((name(early, winner), (!everywhere).then_some(level)))
    });
    let Some((winner, level)) = differs else { return String::new() };
    let place = level
        .zip(plan.swept())
        .map(|(level, (factor, _))| format!(" at {}", words::level_in_words(plan, factor, level)));
    format!(
        " Until the last COMMIT alone, without checkpoint{}, {winner} is faster{}.",
        if plan.workload == WorkloadKind::Blob { " and sync" } else { "" },
        place.unwrap_or_default()
    )
}

/// What trials that write were asked to leave out.
pub(super) fn left_out_of_trials(plan: &Plan) -> &'static str {
    let between =
        plan.oltp.as_ref().and_then(|oltp| oltp.checkpoints) == Some(Checkpoints::Between);
    if between && !plan.only_reads() { " Measured without checkpoints." } else { "" }
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
    let all_equal = |sweep: &&Sweep| {
        sweep.left_out.is_empty() && sweep.results.iter().all(|one| one.shown() == Shown::Equal)
    };
    if sweeps.iter().all(|sweep| all_equal(sweep) && !sweep.results.is_empty()) {
        let engines: Vec<String> = plan.engines.iter().map(engine::EngineSpec::label).collect();
        let at_every = plan.swept().map(|(factor, _)| {
            format!(" at every {} measured{}", words::axis_noun(factor), everywhere(plan, sweeps))
        });
        return format!(
            "{} are equal within {}{}.",
            engines.join(" and "),
            plan.equivalent_within,
            at_every.unwrap_or_default()
        );
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
    let (mut all, mut equal, mut open, mut left_out) = (0, 0, 0, 0);
    let mut reasons: Vec<&str> = Vec::new();
    for sweep in sweeps {
        left_out += sweep.left_out.len();
        reasons.extend(sweep.left_out_reasons.iter().map(String::as_str));
        for result in &sweep.results {
            all += 1;
            *compared.entry(&sweep.a).or_default() += 1;
            *compared.entry(&sweep.b).or_default() += 1;
            match (result.shown(), result.sign.faster()) {
                (Shown::Equal, _) => equal += 1,
                (_, Some(side)) => *wins.entry(name(sweep, side)).or_default() += 1,
                (_, None) => open += 1,
            }
        }
    }
    let left_out = match left_out {
        0 => String::new(),
        _ => {
            let reason = reasons.first().map_or("see the warnings", |first| *first);
            format!(" {} could not be made: {reason}.", counted(left_out, "comparison"))
        }
    };
    if wins.is_empty() && equal == 0 {
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
    let both = (equal > 0).then(|| format!("the two are equal in {equal}"));
    let won = won.into_iter().chain(both).collect::<Vec<_>>().join(", ");
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
