//! The headline: the answer of the whole sweep, for each kind of run.

use notation::counted;
use plan::{Checkpoints, Plan};
use stats::crossing::Side;

use super::names::capital;
use super::sentence::{Assertion, Sentence};
use super::wording::{Wording, label, pair};
use super::{alone, place, several, size, starvation, two};
use crate::analysis::{Analysis, Sweep};

/// Places that are named; more are counted.
const PLACES_MAX: usize = 3;

/// Its sentences; the first hides nothing that the others say.
pub(super) fn headline(wording: &Wording<'_>, analysis: &Analysis) -> Vec<Sentence> {
    let plan = wording.plan;
    if plan.engines.len() < 2 {
        let mut said = alone::headline(wording, analysis);
        said.extend(saturated(wording));
        return said;
    }
    let primary: Vec<&Sweep> = analysis.sweeps.iter().filter(|one| one.is_primary()).collect();
    let blocks = analysis.treatments.iter().map(|one| one.blocks.len()).max().unwrap_or(0);
    let mut said = match blocks < stats::INTERVAL_MIN_REPLICATES {
        true => vec![Sentence::plain(too_few(wording, &primary, blocks))],
        false => nothing_compared(wording, &primary).unwrap_or_else(|| {
            let of = if plan.engines.len() == 2 { two::sentences } else { several::sentences };
            of(wording, analysis, &primary)
        }),
    };
    said.extend(saturated(wording));
    // The longest waits are felt by users, however many transactions there are.
    said.extend(starvation::sentence(wording));
    said.extend(alone::missed(wording, analysis).map(Sentence::plain));
    said.extend(until_commit(wording, &primary, &analysis.until_commit));
    said.extend(left_out_of_trials(plan).map(Sentence::plain));
    said
}

/// Where no comparison of the run could be made, and why.
fn nothing_compared(wording: &Wording<'_>, primary: &[&Sweep]) -> Option<Vec<Sentence>> {
    if primary.iter().any(|sweep| !sweep.results.is_empty()) {
        return None;
    }
    let left_out: usize = primary.iter().map(|sweep| sweep.left_out.len()).sum();
    let reason = primary.iter().find_map(|sweep| wording.reason(sweep));
    let reason = reason.unwrap_or_else(|| "see the warnings".to_owned());
    Some(vec![
        "There is no verdict.".into(),
        format!("{} could not be made: {reason}.", counted(left_out, "comparison")).into(),
    ])
}

/// Values without a verdict.
fn too_few(wording: &Wording<'_>, primary: &[&Sweep], blocks: usize) -> String {
    let plan = wording.plan;
    if blocks == 0 {
        return "There is no result, since no trial counts: see the warnings.".to_owned();
    }
    let show = if blocks == 1 { "shows" } else { "show" };
    let lead = format!(
        "{} {show} values and no verdict: at least 5 are needed.",
        counted(blocks, "block")
    );
    let values = |sweep: &Sweep, level: f64| {
        let levels = place::levels_at(plan, sweep, level);
        let of = |side: Side| {
            let treatment = wording.treatment(label(sweep, side), &levels)?;
            let value = treatment.estimate?.value;
            let value = (!treatment.saturated).then(|| size::value(plan.response(), value))?;
            Some(format!("{} {value}", wording.side(sweep, side)))
        };
        let at = place::others(plan, &levels);
        let at = if at.is_empty() { at } else { format!("at {at}, ") };
        Some(capital(&format!("{at}{}, {}.", of(Side::B)?, of(Side::A)?)))
    };
    let values = primary.first().filter(|_| plan.engines.len() == 2).and_then(|first| {
        first.results.iter().rev().find_map(|result| values(first, result.level))
    });
    values.map_or(lead.clone(), |values| format!("{lead} {values}"))
}

/// Engines that could not keep up with the load, and where: their response times there are in no
/// headline.
fn saturated(wording: &Wording<'_>) -> Vec<Sentence> {
    let of_engine = |engine: &engine::EngineSpec| {
        let label = engine.label();
        let own = wording.treatments.iter().filter(|one| one.engine == label);
        let all = own.clone().count();
        let at: Vec<plan::Levels> =
            own.filter(|one| one.saturated).map(|one| one.levels.clone()).collect();
        let places: Vec<String> =
            at.iter().map(|levels| place::in_words(wording.plan, levels).join(", ")).collect();
        let name = wording.names.get(&label);
        let words = match places.as_slice() {
            [] => return None,
            [only] if only.is_empty() => format!("{name} did not keep up with the load"),
            few if few.len() <= PLACES_MAX => {
                format!("{name} did not keep up at {}", few.join("; "))
            }
            many => format!("{name} did not keep up in {} of {all} treatments", many.len()),
        };
        Some(
            Sentence::stating(words, Assertion::Saturated { engine: label, at })
                .capital()
                .then("."),
        )
    };
    wording.plan.engines.iter().filter_map(of_engine).collect()
}

/// The winners until the last COMMIT alone, where they are others.
fn until_commit(
    wording: &Wording<'_>,
    primary: &[&Sweep],
    until_commit: &[Sweep],
) -> Option<Sentence> {
    let plan = wording.plan;
    let without =
        if plan.workload.properties().syncs { "checkpoint and sync" } else { "checkpoint" };
    let turned = primary.iter().zip(until_commit).flat_map(|(settled, early)| {
        [Side::B, Side::A].into_iter().filter_map(|side| turned(wording, settled, early, side))
    });
    let turned: Vec<Sentence> = turned.collect();
    (!turned.is_empty()).then(|| {
        let lead = format!("Until the last COMMIT alone, without {without}, ");
        Sentence::joined(turned, "; ").after(&lead).then(".")
    })
}

/// The levels at which `side` is shown faster early, and not once everything is written.
fn turned(wording: &Wording<'_>, settled: &Sweep, early: &Sweep, side: Side) -> Option<Sentence> {
    let plan = wording.plan;
    let pairs = settled.results.iter().zip(&early.results);
    let turned = pairs.filter(|(one, early)| {
        early.sign.faster() == Some(side) && one.sign.faster() != Some(side)
    });
    let levels: Vec<f64> = turned.map(|(one, _)| one.level).collect();
    let first = levels.first()?;
    let at = match plan.swept() {
        Some((factor, _)) if levels.len() < early.results.len() => {
            let words: Vec<String> =
                levels.iter().map(|level| place::level(plan, factor, *level)).collect();
            format!(" at {}", place::listed(&words))
        }
        _ => String::new(),
    };
    let others = place::others(plan, &early.levels);
    let others = if others.is_empty() { others } else { format!(" ({others})") };
    let (winner, loser) =
        (wording.side(early, side), wording.side(early, super::wording::other(side)));
    let words = format!("{winner} is shown faster than {loser}{at}{others}");
    let assertion = |level: &f64| Assertion::UntilCommit {
        pair: pair(early, side),
        at: place::levels_at(plan, early, *level),
    };
    let said = Sentence::stating(words, assertion(first));
    Some(levels.iter().skip(1).fold(said, |said, level| said.also(assertion(level))))
}

/// The part that trials that write were asked to leave out.
fn left_out_of_trials(plan: &Plan) -> Option<String> {
    let between =
        plan.oltp.as_ref().and_then(|oltp| oltp.checkpoints) == Some(Checkpoints::Between);
    (between && !plan.only_reads()).then(|| "Measured without checkpoints.".to_owned())
}
