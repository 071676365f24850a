//! Effect of each factor: every treatment against the same one at the factor's first level, and
//! every ratio of two engines against the ratio there, paired by block. From these follows which
//! factor moves or makes a crossing (METHOD.md, section 7).

use std::collections::{BTreeMap, BTreeSet};

use stats::Estimate;

use super::family::{Sides, judge};
use super::plan_change::changed_operations;
use super::planned::with_bisection;
use super::{Shown, Treatment};
use plan::Levels;
use plan::{Design, Level};

/// The name under which engines that differ in their settings only are listed as levels.
pub const ENGINE_FACTOR: &str = "engine";

/// A ratio of responses at one level of a factor to those at another, everything else equal.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The factor's name, or [`ENGINE_FACTOR`].
    pub factor: String,
    /// The level in the denominator.
    pub from: Level,
    /// The level in the numerator.
    pub to: Level,
    /// The other factors' levels, the swept one's among them.
    pub levels: Levels,
    pub engine: String,
    /// None: the engine's own time. Else its ratio to this engine's time.
    pub against: Option<String>,
    pub estimate: Estimate,
    /// Faster: the engine gains by it. Corrected over all effects of its kind.
    pub shown: Shown,
    /// The operations whose plan is another one after the change; of an engine's own time only.
    pub plan_changes: Vec<String>,
}

/// One engine in one cell.
pub(super) type Place = (String, Levels);

/// Costs of judged treatments in each block, and the same with time-outs counted at the limit.
pub(super) type Measured = BTreeMap<Place, [Costs; 2]>;

pub(super) type Costs = BTreeMap<usize, f64>;

/// A comparison that the plan holds, before it is made.
struct Question {
    factor: String,
    from: Level,
    to: Level,
    levels: Levels,
    here: Place,
    base: Place,
    /// The first engine in the same two cells, for the ratio against it.
    reference: Option<(Place, Place)>,
    /// The engine's label with both cells as they differ for the engines compared: the same again
    /// is the same question.
    key: (String, Vec<Levels>),
}

/// All effects: first those on an engine's own time, then those on ratios to the first engine.
pub(super) fn effects(
    design: &Design<'_>,
    cells: &[Levels],
    treatments: &[Treatment],
    measured: &Measured,
) -> Vec<Effect> {
    let (planned_own, planned_against) = planned(design);
    let questions = questions(design, cells);
    let own = questions.iter().filter(|question| question.here != question.base);
    let own =
        own.map(|question| (question, None, sides(measured, &[&question.here], &[&question.base])));
    let against = questions.iter().filter_map(|question| {
        let (here, base) = question.reference.as_ref()?;
        let sides = sides(measured, &[&question.here, base], &[&question.base, here]);
        Some((question, Some(here.0.clone()), sides))
    });
    let mut effects = corrected(design, own.collect(), planned_own);
    for effect in &mut effects {
        effect.plan_changes = plan_changes(effect, treatments);
    }
    effects.extend(corrected(design, against.collect(), planned_against));
    for effect in &mut effects {
        effect.estimate = design.response().ratio(effect.estimate);
    }
    effects
}

pub(super) fn measured(design: &Design<'_>, treatments: &[Treatment]) -> Measured {
    let costs = |blocks: &[(usize, f64)]| -> Costs {
        blocks.iter().map(|(block, value)| (*block, design.response().cost(*value))).collect()
    };
    let judged = treatments.iter().filter(|treatment| treatment.standing.is_judged());
    let measured = judged.map(|t| {
        let both = [costs(&t.blocks), costs(&t.blocks_with_time_outs)];
        ((t.engine.clone(), t.levels.clone()), both)
    });
    measured.collect()
}

/// The operations whose plan an effect's step changes; none of a step from one engine to another.
fn plan_changes(effect: &Effect, treatments: &[Treatment]) -> Vec<String> {
    let at = |level: &Level| {
        let mut levels = effect.levels.clone();
        levels.insert(effect.factor.clone(), level.clone());
        treatments.iter().find(|one| one.engine == effect.engine && one.levels == levels)
    };
    let Some((before, after)) = at(&effect.from).zip(at(&effect.to)) else { return Vec::new() };
    changed_operations(before, after).map(|changed| changed.operation.to_owned()).collect()
}

/// How many effects of either kind the plan may come to hold, bisection included: fixed before
/// anything is measured, as the number of comparisons is.
fn planned(design: &Design<'_>) -> (usize, usize) {
    let asked = questions(design, design.cells());
    let own = asked.iter().filter(|question| question.here != question.base).count();
    let against = asked.iter().filter(|question| question.reference.is_some()).count();
    (with_bisection(design, own), with_bisection(design, against))
}

/// In the plan's order of factors, cells and engines. What a factor does is asked with every factor
/// that varies alone at its first level, and once for each treatment: a cell that differs in
/// nothing that acts on an engine asks no further question.
fn questions(design: &Design<'_>, cells: &[Levels]) -> Vec<Question> {
    let swept = design.swept().map(|(name, _)| name);
    let mut questions = Vec::new();
    for (name, factor) in design.factors.iter().filter(|(name, _)| Some(name.as_str()) != swept) {
        let Some(base) = factor.levels.first() else { continue };
        let others_at_base = |cell: &&Levels| {
            let mut alone = design.factors.iter().filter(|(other, f)| f.alone && *other != name);
            alone.all(|(other, factor)| cell.get(other) == factor.levels.first())
        };
        let varied = cells.iter().filter(|cell| cell.get(name) != Some(base));
        for cell in varied.filter(others_at_base) {
            let mut base_cell = cell.clone();
            base_cell.insert(name.clone(), base.clone());
            if let (Some(to), true) = (cell.get(name), cells.contains(&base_cell)) {
                let step = LevelChange { name, from: base, to, cell, base: &base_cell };
                questions.extend(step.questions(design));
            }
        }
    }
    questions.extend(engine_questions(design, cells));
    let mut seen = BTreeSet::new();
    questions.retain(|question| seen.insert((question.factor.clone(), question.key.clone())));
    questions
}

/// A factor from its first level to another.
struct LevelChange<'a> {
    name: &'a str,
    from: &'a Level,
    to: &'a Level,
    cell: &'a Levels,
    base: &'a Levels,
}

impl LevelChange<'_> {
    /// One for every engine on which the factor has an effect; against the first engine where it
    /// has one on both.
    fn questions(&self, design: &Design<'_>) -> Vec<Question> {
        let acts = |engine: &engine::EngineSpec| {
            design.canonical_levels(engine, self.cell) != design.canonical_levels(engine, self.base)
        };
        let first = design.engines.first();
        let reference = first.filter(|first| acts(first)).map(engine::EngineSpec::label);
        let mut levels = self.cell.clone();
        levels.remove(self.name);
        let acted = design.engines.iter().enumerate().filter(|(_, engine)| acts(engine));
        let question = |(index, engine): (usize, &engine::EngineSpec)| {
            let place = |engine: &str, cell: &Levels| (engine.to_owned(), cell.clone());
            let of = |engine: &str| (place(engine, self.cell), place(engine, self.base));
            let (here, base) = of(&engine.label());
            let compared = [Some(engine), first.filter(|_| reference.is_some() && index > 0)];
            let cells = compared.into_iter().flatten().flat_map(|engine| {
                [self.cell, self.base].map(|cell| design.canonical_levels(engine, cell))
            });
            Question {
                key: (engine.label(), cells.collect()),
                factor: self.name.to_owned(),
                from: self.from.clone(),
                to: self.to.clone(),
                levels: levels.clone(),
                here,
                base,
                reference: reference.as_deref().filter(|_| index > 0).map(of),
            }
        };
        acted.map(question).collect()
    }
}

/// Engines of one source that differ in settings only: each against the first of them.
fn engine_questions(design: &Design<'_>, cells: &[Levels]) -> Vec<Question> {
    let mut questions = Vec::new();
    for (index, engine) in design.engines.iter().enumerate() {
        // Against the plan's first engine every other is compared anyway.
        let mut before = design.engines.iter().take(index).skip(1);
        let Some(base) = before.find(|other| other.source == engine.source) else { continue };
        for cell in cells {
            questions.push(Question {
                factor: ENGINE_FACTOR.to_owned(),
                from: Level::Text(base.label()),
                to: Level::Text(engine.label()),
                levels: cell.clone(),
                here: (engine.label(), cell.clone()),
                base: (base.label(), cell.clone()),
                reference: None,
                key: (
                    engine.label(),
                    [engine, base].map(|one| design.canonical_levels(one, cell)).to_vec(),
                ),
            });
        }
    }
    questions
}

/// Products over the blocks that all places hold; none where one place is not judged.
pub(super) fn sides(measured: &Measured, above: &[&Place], below: &[&Place]) -> Option<Sides> {
    let find = |places: &[&Place]| -> Option<Vec<&[Costs; 2]>> {
        places.iter().map(|place| measured.get(*place)).collect()
    };
    let (above, below) = (find(above)?, find(below)?);
    let plain = |places: &[&[Costs; 2]]| places.iter().map(|[costs, _]| costs.clone()).collect();
    let (a, b) = products(plain(&above), plain(&below));
    let timed_out = above.iter().chain(&below).any(|[_, at_limit]| !at_limit.is_empty());
    let at_limit = |places: &[&[Costs; 2]]| {
        let of = |[costs, at_limit]: &&[Costs; 2]| {
            if at_limit.is_empty() { costs.clone() } else { at_limit.clone() }
        };
        places.iter().map(of).collect()
    };
    let with_time_outs = timed_out.then(|| products(at_limit(&above), at_limit(&below)));
    Some(Sides { a, b, with_time_outs })
}

fn products(above: Vec<Costs>, below: Vec<Costs>) -> (Vec<f64>, Vec<f64>) {
    let Some(first) = above.first() else { return (Vec::new(), Vec::new()) };
    let product = |of: &[Costs], block: &usize| {
        of.iter().map(|values| values.get(block).copied()).product::<Option<f64>>()
    };
    first
        .keys()
        .filter_map(|block| Some((product(&above, block)?, product(&below, block)?)))
        .unzip()
}

/// With verdicts corrected over all of the family, which may come to hold `planned`.
fn corrected(
    design: &Design<'_>,
    family: Vec<(&Question, Option<String>, Option<Sides>)>,
    planned: usize,
) -> Vec<Effect> {
    let sides: Vec<(f64, Option<Sides>)> =
        family.iter().map(|(.., sides)| (0.0, sides.clone())).collect();
    let judged = judge(design, &sides, planned);
    let effect = |((question, against, _), compared): ((&Question, Option<String>, _), _)| {
        let compared: super::Compared = compared?;
        Some(Effect {
            factor: question.factor.clone(),
            from: question.from.clone(),
            to: question.to.clone(),
            levels: question.levels.clone(),
            engine: question.here.0.clone(),
            against,
            estimate: compared.ratio,
            shown: compared.shown(),
            plan_changes: Vec::new(),
        })
    };
    family.into_iter().zip(judged).filter_map(effect).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::FACTORS;

    #[test]
    fn effects_are_corrected_for_the_levels_that_bisection_may_add() {
        // A step of the release and one of memory, with one client and with two, on PostgreSQL; one
        // step of clients, at the first of both, on both engines.
        let text = FACTORS.replace("days = ", "clients = [1, 2]\n    days = ");
        let fixed = plan::read(&text, "fixed.toml").unwrap();
        assert_eq!(planned(&Design::of(&fixed)), (3 * (2 * 2 + 2), 3));
        let bisected = text.replace("swept = \"log\"", "swept = \"log\", bisect = true");
        let bisected = plan::read(&bisected, "bisected.toml").unwrap();
        assert_eq!(planned(&Design::of(&bisected)), (11 * (2 * 2 + 2), 11));
    }
}
