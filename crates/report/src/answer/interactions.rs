//! Interactions of two factors, in sentences.

use stats::Method;

use super::place;
use super::sentence::{Assertion, Sentence};
use super::wording::Wording;
use crate::analysis::{Effect, Interaction, Shown, factor_label, level_label, number};
use notation::counted;

/// A sentence for each interaction that is shown, and one for all that are not.
pub(super) fn sentences(wording: &Wording<'_>, interactions: &[Interaction]) -> Vec<Sentence> {
    if interactions.iter().all(|one| one.estimate.method == Method::RangeOnly) {
        return Vec::new();
    }
    let (mut said, mut equal, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for one in interactions {
        match one.shown {
            Shown::Faster | Shown::Slower => said.push(shown(wording, one)),
            Shown::Equal => equal.push(not_shown(wording, one)),
            Shown::Undecided => open.push(not_shown(wording, one)),
        }
    }
    let listed = |lead: &str, all: Vec<Sentence>| Sentence::joined(all, "; ").after(lead).then(".");
    if !equal.is_empty() {
        let within = wording.plan.equivalent_within;
        said.push(listed(&format!("No interaction of two factors beyond {within}: "), equal));
    }
    if !open.is_empty() {
        said.push(listed("Not shown either way, an interaction of two factors: ", open));
    }
    said
}

/// `pg, a year: memory 16MB instead of memory 4MB multiplies the time by 0.68 (0.67 to 0.69) at cache
/// 4GB and by 0.98 (0.97 to 0.99) at cache 512MB: the effect of one depends on the other (ratio of
/// ratios 1.44, 1.40 to 1.48).`
fn shown(wording: &Wording<'_>, one: &Interaction) -> Sentence {
    let plan = wording.plan;
    let [first, second] = &one.effects;
    let label = |level| level_label(plan, &first.factor, level);
    let at = |effect: &Effect| {
        let at = effect.levels.get(&one.other).map(|level| level_label(plan, &one.other, level));
        let plans = match effect.plan_changes.len() {
            0 => String::new(),
            1 => " (1 plan changes)".to_owned(),
            many => format!(" ({} change)", counted(many, "plan")),
        };
        format!("by {} at {}{plans}", number(&effect.estimate), at.unwrap_or_default())
    };
    let text = format!(
        "{}: {} instead of {} multiplies the {} {} and {}: the effect of one depends on the other \
         (ratio of ratios {}).",
        subject(wording, one),
        label(&first.to),
        label(&first.from),
        plan.response().noun(),
        at(first),
        at(second),
        number(&one.estimate)
    );
    Sentence::stating(text, assertion(one))
}

/// `work_mem and effective_cache_size, pg, a year (ratio of ratios 1.01 (0.99 to 1.03))`.
fn not_shown(wording: &Wording<'_>, one: &Interaction) -> Sentence {
    let [effect, _] = &one.effects;
    let text = format!(
        "{} and {}, {}, ratio of ratios {}",
        factor_label(&effect.factor),
        factor_label(&one.other),
        subject(wording, one),
        number(&one.estimate)
    );
    Sentence::stating(text, assertion(one))
}

fn subject(wording: &Wording<'_>, one: &Interaction) -> String {
    let engine = wording.names.get(&one.effects[0].engine);
    match place::others(wording.plan, &one.levels) {
        others if others.is_empty() => engine.to_owned(),
        others => format!("{engine}, {others}"),
    }
}

fn assertion(one: &Interaction) -> Assertion {
    let [effect, _] = &one.effects;
    Assertion::Interaction {
        factor: effect.factor.clone(),
        other: one.other.clone(),
        at: one.levels.clone(),
        engine: effect.engine.clone(),
        shown: one.shown,
    }
}
