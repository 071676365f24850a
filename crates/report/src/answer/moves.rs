//! Factors that move, make or undo a crossing: each variation's sweep beside the base's, with
//! the effect on the ratio of the two engines, in sentences.

use stats::Method;
use stats::crossing::{Crossing, Side};

use super::sentence::{Assertion, EnginePair, Sentence};
use super::wording::Wording;
use super::{names, place};
use crate::analysis::{ENGINE_FACTOR, Effect, Shown, Sweep, level_label, number};
use plan::{Level, Levels, Plan};

/// One sentence for each variation that shows something, and one that names those that do not.
pub(super) fn sentences(
    wording: &Wording<'_>,
    sweeps: &[Sweep],
    effects: &[Effect],
) -> Vec<Sentence> {
    let plan = wording.plan;
    if effects.iter().all(|effect| effect.estimate.method == Method::RangeOnly) {
        return Vec::new();
    }
    let mut said: Vec<Sentence> = Vec::new();
    let (mut equal, mut silent) = (Vec::new(), Vec::new());
    for variation in variations(plan, effects) {
        let told = variation.pairs(plan, sweeps).into_iter();
        let told: Vec<Sentence> =
            told.filter_map(|pair| variation.sentence(wording, &pair, effects)).collect();
        if told.is_empty() {
            let mut own = effects.iter().filter(|effect| variation.holds(effect));
            let is_equal = own.all(|effect| effect.shown == Shown::Equal);
            let without = variation.without_effect(wording, is_equal);
            if is_equal { &mut equal } else { &mut silent }.push(without);
        }
        // An effect on the first engine alone is the same for all pairs.
        for sentence in told {
            if !said.iter().any(|other| other.text == sentence.text) {
                said.push(sentence);
            }
        }
    }
    let listed = |lead: &str, all: Vec<Sentence>| Sentence::joined(all, "; ").after(lead).then(".");
    if !equal.is_empty() {
        said.push(listed(&format!("The same within {}: ", plan.equivalent_within), equal));
    }
    if !silent.is_empty() {
        said.push(listed("No effect on the ratio of the engines is shown of: ", silent));
    }
    said
}

/// A factor's step from its first level to another, at one set of the other levels.
#[derive(PartialEq)]
struct Variation {
    factor: String,
    from: Level,
    to: Level,
    others: Levels,
}

/// Two sweeps of the same engines, or of two settings of one.
struct Pair<'s> {
    base: Option<&'s Sweep>,
    here: Option<&'s Sweep>,
    a: String,
    b: String,
}

fn variations(plan: &Plan, effects: &[Effect]) -> Vec<Variation> {
    let mut found: Vec<Variation> = Vec::new();
    for effect in effects {
        let mut others = effect.levels.clone();
        if let Some((swept, _)) = plan.swept() {
            others.remove(swept);
        }
        let Effect { factor, from, to, .. } = effect;
        let (factor, from, to) = (factor.clone(), from.clone(), to.clone());
        let variation = Variation { factor, from, to, others };
        if !found.contains(&variation) {
            found.push(variation);
        }
    }
    found
}

impl Variation {
    /// `work_mem 16MB instead of 4MB, 1 client`.
    fn name(&self, wording: &Wording<'_>) -> String {
        let plan = wording.plan;
        let label = |level: &Level| level_label(plan, &self.factor, level);
        let step = match self.factor.as_str() {
            ENGINE_FACTOR => {
                let [to, from] = [&self.to, &self.from].map(ToString::to_string);
                format!("{} instead of {}", wording.names.get(&to), wording.names.get(&from))
            }
            _ => format!("{} instead of {}", label(&self.to), label(&self.from)),
        };
        match place::others(plan, &self.others) {
            others if others.is_empty() => step,
            others => format!("{step}, {others}"),
        }
    }

    /// The variation among those of which no effect is shown.
    fn without_effect(&self, wording: &Wording<'_>, equal: bool) -> Sentence {
        let (factor, from, to) = (self.factor.clone(), self.from.clone(), self.to.clone());
        let others = self.others.clone();
        let assertion = Assertion::NoEffect { factor, from, to, others, equal };
        Sentence::stating(self.name(wording), assertion)
    }

    fn holds(&self, effect: &Effect) -> bool {
        effect.factor == self.factor
            && effect.from == self.from
            && effect.to == self.to
            && self.others.iter().all(|(name, level)| effect.levels.get(name) == Some(level))
    }

    fn pairs<'s>(&self, plan: &Plan, sweeps: &'s [Sweep]) -> Vec<Pair<'s>> {
        let b = plan.engines.first().map(engine::EngineSpec::label).unwrap_or_default();
        let find = |a: &str, levels: &Levels| {
            let is_pair = |s: &&Sweep| s.request.is_none() && s.a == a && s.b == b;
            sweeps.iter().filter(is_pair).find(|s| s.levels == *levels)
        };
        if self.factor == ENGINE_FACTOR {
            let (a, other) = (self.to.to_string(), self.from.to_string());
            let base = find(&other, &self.others);
            return vec![Pair { base, here: find(&a, &self.others), a, b }];
        }
        if plan.engines.len() == 1 {
            return vec![Pair { base: None, here: None, a: b.clone(), b }];
        }
        let with = |level: &Level| {
            let mut levels = self.others.clone();
            levels.insert(self.factor.clone(), level.clone());
            levels
        };
        let (from, to) = (with(&self.from), with(&self.to));
        let engines = plan.engines.iter().skip(1).map(engine::EngineSpec::label);
        engines
            .map(|a| Pair { base: find(&a, &from), here: find(&a, &to), a, b: b.clone() })
            .collect()
    }

    fn sentence(
        &self,
        wording: &Wording<'_>,
        pair: &Pair<'_>,
        effects: &[Effect],
    ) -> Option<Sentence> {
        let strongest = self.strongest(pair, effects);
        let crossing = crossing_change(wording, pair);
        let effect = strongest.map(|(effect, inverted)| {
            let words = self.effect_in_words(wording, pair, effect, inverted);
            Sentence::stating(words, assertion_of(effect))
        });
        let what: Vec<Sentence> = [crossing, effect].into_iter().flatten().collect();
        let name = format!("{}: ", self.name(wording));
        (!what.is_empty()).then(|| Sentence::joined(what, "; ").after(&name).then("."))
    }

    /// The largest effect shown on the ratio of the pair. Where the factor acts on both engines it
    /// is that on the ratio itself, otherwise the own effect of the one on which it acts. True: of
    /// `b`, whose gain is the other's loss.
    fn strongest<'e>(&self, pair: &Pair<'_>, effects: &'e [Effect]) -> Option<(&'e Effect, bool)> {
        let mine: Vec<&Effect> = effects.iter().filter(|effect| self.holds(effect)).collect();
        let of = |engine: &str, against: Option<&str>| {
            let found = mine
                .iter()
                .filter(|e| e.engine == engine && e.against.as_deref() == against)
                .copied();
            found.collect::<Vec<_>>()
        };
        let of_ratio = of(&pair.a, Some(&pair.b));
        let of_a = of(&pair.a, None);
        let (candidates, inverted) = if !of_ratio.is_empty() {
            (of_ratio, false)
        } else if !of_a.is_empty() {
            (of_a, false)
        } else {
            (of(&pair.b, None), true)
        };
        let is_shown = |effect: &&Effect| matches!(effect.shown, Shown::Faster | Shown::Slower);
        let shown = candidates.into_iter().filter(is_shown);
        let size = |effect: &Effect| effect.estimate.value.ln().abs();
        Some((shown.max_by(|x, y| size(x).total_cmp(&size(y)))?, inverted))
    }

    /// `at year it multiplies postgres:14's time by 0.68 (0.64 to 0.72)`.
    fn effect_in_words(
        &self,
        wording: &Wording<'_>,
        pair: &Pair<'_>,
        effect: &Effect,
        inverted: bool,
    ) -> String {
        let plan = wording.plan;
        let noun = plan.response().noun();
        let name = |label: &str| wording.names.get(label).to_owned();
        let engine = match (inverted, &effect.against) {
            (true, _) => names::of(&name(&pair.b), noun),
            (false, Some(b)) => {
                format!(
                    "the ratio of {} to {}",
                    names::of(&name(&effect.engine), noun),
                    names::of(&name(b), noun)
                )
            }
            (false, None) if self.factor == ENGINE_FACTOR => format!("the {noun}"),
            (false, None) => names::of(&name(&effect.engine), noun),
        };
        let at = plan.swept().and_then(|(swept, _)| {
            let level = effect.levels.get(swept)?.number()?;
            Some(format!("at {} ", place::level(plan, swept, level)))
        });
        format!("{}it multiplies {engine} by {}", at.unwrap_or_default(), number(&effect.estimate))
    }
}

fn assertion_of(effect: &Effect) -> Assertion {
    Assertion::Effect {
        factor: effect.factor.clone(),
        from: effect.from.clone(),
        to: effect.to.clone(),
        at: effect.levels.clone(),
        engine: effect.engine.clone(),
        against: effect.against.clone(),
    }
}

/// The change of the crossing, where both sweeps show enough to say it.
fn crossing_change(wording: &Wording<'_>, pair: &Pair<'_>) -> Option<Sentence> {
    let plan = wording.plan;
    let (swept, _) = plan.swept()?;
    // Of several brackets none is matched with another, nor are two in which the sides differ.
    let bracket = |sweep: &Sweep| {
        let mut found = sweep.crossings.iter().filter_map(|crossing| match crossing {
            Crossing::Bracketed { last, first, faster_before, .. } => {
                Some(((*last, *first), *faster_before))
            }
            _ => None,
        });
        found.next().filter(|_| found.next().is_none())
    };
    let nowhere = |sweep: &Sweep| {
        !sweep.crossings.is_empty()
            && sweep.crossings.iter().all(|c| matches!(c, Crossing::NotInRange { .. }))
    };
    let words = |(low, high): (f64, f64)| {
        let level = |level| place::level(plan, swept, level);
        format!("between {} and {}", level(low), level(high))
    };
    let (base, here) = (pair.base?, pair.here?);
    let [a, b] = [&pair.a, &pair.b].map(|label| wording.names.get(label));
    let both = format!("{a} and {b}");
    let crosses = |sweep: &Sweep, (last, first): (f64, f64), before: Side| Assertion::Crossing {
        pair: super::wording::pair(sweep, before),
        last: place::levels_at(plan, sweep, last),
        first: place::levels_at(plan, sweep, first),
    };
    let leads = |sweep: &Sweep| {
        let side = sweep.results.first()?.sign.faster()?;
        let levels = sweep.results.iter().map(|one| place::levels_at(plan, sweep, one.level));
        let EnginePair { a, b, .. } = super::wording::pair(sweep, side);
        Some(Assertion::Leads { a, b, at: levels.collect() })
    };
    match (bracket(base), bracket(here)) {
        (Some((was, before)), Some((is, after)))
            if before == after && (was.1 <= is.0 || is.1 <= was.0) =>
        {
            let said =
                format!("it moves the crossing of {both}, from {} to {}", words(was), words(is));
            let said = Sentence::stating(said, crosses(base, was, before));
            Some(said.also(crosses(here, is, after)))
        }
        (Some((was, before)), None) if nowhere(here) => {
            let said = format!("it undoes the crossing of {both} {}", words(was));
            Some(Sentence::stating(said, crosses(base, was, before)).also(leads(here)?))
        }
        (None, Some((is, after))) if nowhere(base) => {
            let said = format!("it makes {both} cross {}", words(is));
            Some(Sentence::stating(said, crosses(here, is, after)).also(leads(base)?))
        }
        _ => None,
    }
}
