//! The headline: the whole answer with its size, for each kind of run.

use plan::{Checkpoints, Plan, WorkloadKind, counted};
use stats::crossing::{Crossing, Side};

use super::names::capital;
use super::ranking::Ranking;
use super::wording::{Wording, label};
use super::{alone, place, size};
use crate::analysis::{Analysis, Shown, Sweep};

pub(super) fn headline(
    wording: &Wording<'_>,
    analysis: &Analysis,
    together: &[&Sweep],
    ranking: Option<&Ranking>,
) -> String {
    let plan = wording.plan;
    if plan.engines.len() < 2 {
        return alone::headline(wording, analysis);
    }
    let blocks = analysis.treatments.iter().map(|one| one.blocks.len()).max().unwrap_or(0);
    let said = if blocks < stats::INTERVAL_MIN_REPLICATES {
        too_few(wording, together, blocks)
    } else if let Some(ranking) = ranking {
        let ranks = ranking.sentence(wording).unwrap_or_default();
        let crossed = together.iter().find(|sweep| {
            sweep.crossings.iter().any(|one| matches!(one, Crossing::Bracketed { .. }))
        });
        let crossed = crossed.map(|sweep| match place::others(plan, &sweep.levels) {
            others if others.is_empty() => format!(" {}.", capital(&wording.course(sweep))),
            others => format!(" {}: {}.", capital(&others), wording.course(sweep)),
        });
        ranks + &crossed.unwrap_or_default()
    } else {
        two(wording, together)
    };
    let missed = alone::missed(wording, analysis).map(|missed| format!(" {missed}"));
    let early = until_commit(wording, &analysis.sweeps, &analysis.until_commit);
    said + &missed.unwrap_or_default() + &early + left_out_of_trials(plan)
}

/// Two engines, with blocks enough for a verdict.
fn two(wording: &Wording<'_>, together: &[&Sweep]) -> String {
    let Some(first) = together.first() else { return "Nothing was compared.".to_owned() };
    if let Some(none) = nothing_compared(wording, together) {
        return none;
    }
    let plan = wording.plan;
    let others = place::others(plan, &first.levels);
    let course = wording.course(first);
    let is_settled_alike = together.iter().all(|sweep| is_alike(first, sweep));
    let place = if together.len() > 1 && !others.is_empty() { others.as_str() } else { "" };
    let said = match wording.dearest(first, None) {
        Some(dearest) => {
            let size = wording.size(first, &dearest, &others);
            let course = match place::axis(plan, first) {
                None => String::new(),
                Some(_) => format!(" {}.", capital(&wording.course_after_size(first))),
            };
            format!("{size}.{course}")
        }
        None if place.is_empty() => format!("{}.", capital(&course)),
        None => format!("{}: {course}.", capital(place)),
    };
    let said = said.trim_end_matches('.').to_owned() + &wording.failures(first) + ".";
    let rest: Vec<String> = together.iter().skip(1).map(|sweep| wording.subject(sweep)).collect();
    match (rest.is_empty(), is_settled_alike) {
        (true, _) => said,
        (false, true) => format!("{said} So too with {}.", place::listed(&rest)),
        (false, false) => format!("{said} {}", differing(wording, first, together)),
    }
}

/// The other sets of levels that show something else than the first.
fn differing(wording: &Wording<'_>, first: &Sweep, together: &[&Sweep]) -> String {
    /// Above it they are only named.
    const SENTENCES_MAX: usize = 2;
    let (alike, different): (Vec<&&Sweep>, Vec<&&Sweep>) =
        together.iter().skip(1).partition(|sweep| is_alike(first, sweep));
    let names = |sweeps: &[&&Sweep]| {
        let all: Vec<String> = sweeps.iter().map(|sweep| wording.subject(sweep)).collect();
        place::listed(&all)
    };
    let alike = match alike.is_empty() {
        true => String::new(),
        false => format!("So too with {}. ", names(&alike)),
    };
    if different.len() > SENTENCES_MAX {
        return format!("{alike}Otherwise with {}: see below.", names(&different));
    }
    let said = different
        .iter()
        .map(|sweep| format!("{}: {}.", capital(&wording.subject(sweep)), wording.course(sweep)));
    alike + &said.collect::<Vec<_>>().join(" ")
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
fn nothing_compared(wording: &Wording<'_>, together: &[&Sweep]) -> Option<String> {
    if together.iter().any(|sweep| !sweep.results.is_empty()) {
        return None;
    }
    let left_out: usize = together.iter().map(|sweep| sweep.left_out.len()).sum();
    let reason = together.iter().find_map(|sweep| wording.reason(sweep));
    let reason = reason.unwrap_or_else(|| "see the warnings".to_owned());
    Some(format!(
        "There is no verdict. {} could not be made: {reason}.",
        counted(left_out, "comparison")
    ))
}

/// Values without a verdict.
fn too_few(wording: &Wording<'_>, together: &[&Sweep], blocks: usize) -> String {
    let plan = wording.plan;
    let show = if blocks == 1 { "shows" } else { "show" };
    if blocks == 0 {
        return "There is no result, since no trial counts: see the warnings.".to_owned();
    }
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

/// Where the winner is another one until the last COMMIT alone; empty where it is the same.
fn until_commit(wording: &Wording<'_>, sweeps: &[Sweep], until_commit: &[Sweep]) -> String {
    let plan = wording.plan;
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
        Some((early, winner, (!everywhere).then_some(level)))
    });
    let Some((sweep, winner, level)) = differs else { return String::new() };
    let at = level
        .zip(plan.swept())
        .map(|(level, (factor, _))| format!(" at {}", place::level(plan, factor, level)));
    format!(
        " Until the last COMMIT alone, without checkpoint{}, {} is shown faster{}.",
        if plan.workload == WorkloadKind::Blob { " and sync" } else { "" },
        wording.side(sweep, winner),
        at.unwrap_or_default()
    )
}

/// What trials that write were asked to leave out.
fn left_out_of_trials(plan: &Plan) -> &'static str {
    let between =
        plan.oltp.as_ref().and_then(|oltp| oltp.checkpoints) == Some(Checkpoints::Between);
    if between && !plan.only_reads() { " Measured without checkpoints." } else { "" }
}
