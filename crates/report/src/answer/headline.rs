//! The headline: the whole answer with its size, for each kind of run.

use plan::{Checkpoints, Plan, counted};
use stats::crossing::{Crossing, Side};

use super::names::capital;
use super::ranking::Ranking;
use super::wording::{Wording, has_course, label};
use super::{alone, place, size, starvation};
use crate::analysis::{Analysis, Shown, Sweep};

/// Its sentences, the first of them with the size.
pub(super) fn headline(
    wording: &Wording<'_>,
    analysis: &Analysis,
    together: &[&Sweep],
    ranking: Option<&Ranking>,
) -> Vec<String> {
    let plan = wording.plan;
    if plan.engines.len() < 2 {
        return alone::headline(wording, analysis);
    }
    let blocks = analysis.treatments.iter().map(|one| one.blocks.len()).max().unwrap_or(0);
    let mut said = if blocks < stats::INTERVAL_MIN_REPLICATES {
        vec![too_few(wording, together, blocks)]
    } else if let Some(ranking) = ranking {
        let crossed = together.iter().find(|sweep| {
            sweep.crossings.iter().any(|one| matches!(one, Crossing::Bracketed { .. }))
        });
        let crossed = crossed.map(|sweep| match place::others(plan, &sweep.levels) {
            others if others.is_empty() => format!("{}.", capital(&wording.course(sweep))),
            others => format!("{}: {}.", capital(&others), wording.course(sweep)),
        });
        ranking.sentences(wording).into_iter().chain(crossed).collect()
    } else {
        two(wording, together)
    };
    // The longest waits are felt by users, however many transactions there are.
    said.extend(starvation::sentence(wording));
    said.extend(alone::missed(wording, analysis));
    said.extend(until_commit(wording, &analysis.sweeps, &analysis.until_commit));
    said.extend(left_out_of_trials(plan));
    said
}

/// Two engines, with blocks enough for a verdict.
fn two(wording: &Wording<'_>, together: &[&Sweep]) -> Vec<String> {
    let Some(first) = together.first() else { return vec!["Nothing was compared.".to_owned()] };
    if let Some(none) = nothing_compared(wording, together) {
        return none;
    }
    let plan = wording.plan;
    let others = place::others(plan, &first.levels);
    let failures = wording.failures(first);
    let mut said = match sized(wording, first, &others, &failures) {
        Some(sized) => sized,
        None if together.len() > 1 && !others.is_empty() => {
            vec![format!("{}: {}{failures}.", capital(&others), wording.course(first))]
        }
        None => vec![format!("{}{failures}.", capital(&wording.course(first)))],
    };
    let rest: Vec<String> = together.iter().skip(1).map(|sweep| wording.subject(sweep)).collect();
    if rest.is_empty() {
        return said;
    }
    match together.iter().all(|sweep| is_alike(first, sweep)) {
        true => said.push(format!("So too with {}.", place::listed(&rest))),
        false => said.extend(differing(wording, first, together)),
    }
    said
}

/// The largest difference of `sweep`, at `others`, and its course; none without a difference.
fn sized(
    wording: &Wording<'_>,
    sweep: &Sweep,
    others: &str,
    failures: &str,
) -> Option<Vec<String>> {
    let size = wording.size(sweep, &wording.dearest(sweep, None)?, others);
    Some(match has_course(sweep) {
        true => {
            let course = capital(&wording.course_after_size(sweep));
            vec![format!("{size}."), format!("{course}{failures}.")]
        }
        false => vec![format!("{size}{failures}.")],
    })
}

/// The other sets of levels that show something else than the first.
fn differing(wording: &Wording<'_>, first: &Sweep, together: &[&Sweep]) -> Vec<String> {
    /// Above it they are only named.
    const SENTENCES_MAX: usize = 2;
    let (alike, different): (Vec<&&Sweep>, Vec<&&Sweep>) =
        together.iter().skip(1).partition(|sweep| is_alike(first, sweep));
    let names = |sweeps: &[&&Sweep]| {
        let all: Vec<String> = sweeps.iter().map(|sweep| wording.subject(sweep)).collect();
        place::listed(&all)
    };
    let alike = (!alike.is_empty()).then(|| format!("So too with {}.", names(&alike)));
    let mut said: Vec<String> = alike.into_iter().collect();
    if different.len() > SENTENCES_MAX {
        said.push(format!("Otherwise with {}: see below.", names(&different)));
        return said;
    }
    let mut has_size = wording.dearest(first, None).is_some();
    for sweep in different {
        let sized = sized(wording, sweep, "", "").filter(|_| !has_size);
        has_size |= sized.is_some();
        let shown = sized.map_or_else(|| wording.course(sweep) + ".", |said| said.join(" "));
        said.push(format!("{}: {shown}", capital(&wording.subject(sweep))));
    }
    said
}

/// Whether two sets of levels have the same course: the same winner, crossings in the same
/// direction, or everywhere equal.
fn is_alike(one: &Sweep, other: &Sweep) -> bool {
    let shape = |sweep: &Sweep| -> Option<Vec<(Side, Side)>> {
        if !sweep.left_out.is_empty() {
            return None;
        }
        let equal = sweep.results.iter().all(|one| one.shown() == Shown::Equal);
        if equal && !sweep.results.is_empty() {
            return Some(Vec::new());
        }
        if sweep.crossings.is_empty() {
            let side = sweep.results.first()?.sign.faster()?;
            return Some(vec![(side, side)]);
        }
        let crossings = sweep.crossings.iter().map(|crossing| match crossing {
            Crossing::Bracketed { faster_before, faster_after, .. } => {
                Some((*faster_before, *faster_after))
            }
            Crossing::NotInRange { faster } => Some((*faster, *faster)),
            Crossing::Inconclusive { .. } => None,
        });
        crossings.collect()
    };
    let alike = shape(one).zip(shape(other));
    alike.is_some_and(|(one, other)| one == other)
}

/// Where no comparison of the run could be made, and why.
fn nothing_compared(wording: &Wording<'_>, together: &[&Sweep]) -> Option<Vec<String>> {
    if together.iter().any(|sweep| !sweep.results.is_empty()) {
        return None;
    }
    let left_out: usize = together.iter().map(|sweep| sweep.left_out.len()).sum();
    let reason = together.iter().find_map(|sweep| wording.reason(sweep));
    let reason = reason.unwrap_or_else(|| "see the warnings".to_owned());
    Some(vec![
        "There is no verdict.".to_owned(),
        format!("{} could not be made: {reason}.", counted(left_out, "comparison")),
    ])
}

/// Values without a verdict.
fn too_few(wording: &Wording<'_>, together: &[&Sweep], blocks: usize) -> String {
    let plan = wording.plan;
    if blocks == 0 {
        return "There is no result, since no trial counts: see the warnings.".to_owned();
    }
    let show = if blocks == 1 { "shows" } else { "show" };
    let lead = format!(
        "{} {show} values and no verdict: at least 5 are needed.",
        counted(blocks, "block")
    );
    let Some((first, result)) =
        together.first().and_then(|first| Some((first, first.results.last()?)))
    else {
        return lead;
    };
    let values = [Side::B, Side::A].map(|side| {
        let value = wording.value(first, label(first, side), result.level);
        value.map(|value| {
            format!("{} {}", wording.side(first, side), size::value(plan.response(), value))
        })
    });
    let at = place::others(plan, &wording.levels_at(first, result.level));
    let at = if at.is_empty() { at } else { format!("at {at}, ") };
    match values {
        [Some(one), Some(other)] if plan.engines.len() == 2 => {
            format!("{lead} {}{one}, {other}.", capital(&at))
        }
        _ => lead,
    }
}

/// The winner until the last COMMIT alone, where it is another one.
fn until_commit(wording: &Wording<'_>, sweeps: &[Sweep], until_commit: &[Sweep]) -> Option<String> {
    let plan = wording.plan;
    let together = sweeps.iter().filter(|sweep| sweep.request.is_none());
    let (sweep, winner, level) = together.zip(until_commit).find_map(|(settled, early)| {
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
        Some((early, winner, (!everywhere).then_some(level)))
    })?;
    let at = level
        .zip(plan.swept())
        .map(|(level, (factor, _))| format!(" at {}", place::level(plan, factor, level)));
    Some(format!(
        "Until the last COMMIT alone, without checkpoint{}, {} is shown faster{}.",
        if plan.rules().syncs() { " and sync" } else { "" },
        wording.side(sweep, winner),
        at.unwrap_or_default()
    ))
}

/// The part that trials that write were asked to leave out.
fn left_out_of_trials(plan: &Plan) -> Option<String> {
    let between =
        plan.oltp.as_ref().and_then(|oltp| oltp.checkpoints) == Some(Checkpoints::Between);
    (between && !plan.only_reads()).then(|| "Measured without checkpoints.".to_owned())
}
