//! Interactions: the change that a step of one factor makes in the effect of another, a contrast of
//! four treatments, paired by block (METHOD.md, section 7).

use std::collections::BTreeSet;

use plan::{CLIENTS_AS, Design, Level, Levels, STEP};
use stats::Estimate;

use super::Shown;
use super::effect::{Effect, Measured, Place, sides};
use super::family::judge;
use super::planned::with_bisection;

/// The effect of a factor with two levels at either level of another such factor.
#[derive(Clone, Debug)]
pub struct Interaction {
    /// The factor on which the effect may depend.
    pub other: String,
    /// The effect on the engine's own time at the other factor's first level, and at its second.
    pub effects: [Effect; 2],
    /// The levels of all further factors, the swept one's among them.
    pub levels: Levels,
    /// The second effect by the first. Which factor is called the other makes no difference to it.
    pub estimate: Estimate,
    /// Faster: the engine gains more at the other factor's second level. Corrected over all
    /// interactions.
    pub shown: Shown,
}

/// Four cells of one engine: both levels of a factor at both levels of another.
struct FourCells {
    factor: String,
    other: String,
    levels: Levels,
    /// By the level of the factor, then by that of the other.
    corners: [[Place; 2]; 2],
}

/// All interactions of two factors that are measured in all combinations.
pub(super) fn interactions(
    design: &Design<'_>,
    cells: &[Levels],
    measured: &Measured,
    effects: &[Effect],
) -> Vec<Interaction> {
    let questions = questions(design, cells);
    let contrast = |question: &FourCells| {
        let [[first, first_other], [second, both]] = &question.corners;
        (0.0, sides(measured, &[both, first], &[first_other, second]))
    };
    let family: Vec<_> = questions.iter().map(contrast).collect();
    let planned = with_bisection(design, self::questions(design, design.cells()).len());
    let judged = judge(design, &family, planned);
    let interaction = |(question, compared): (FourCells, Option<super::Compared>)| {
        let compared = compared?;
        Some(Interaction {
            effects: question.effects(effects)?,
            other: question.other,
            levels: question.levels,
            estimate: design.response().ratio(compared.ratio),
            shown: compared.shown(),
        })
    };
    questions.into_iter().zip(judged).filter_map(interaction).collect()
}

impl FourCells {
    fn effects(&self, effects: &[Effect]) -> Option<[Effect; 2]> {
        let [_, at_second_level] = &self.corners;
        let find = |(engine, cell): &Place| {
            let is_own = |one: &&Effect| {
                let levels = one.levels.iter();
                one.factor == self.factor
                    && one.engine == *engine
                    && one.against.is_none()
                    && levels.eq(cell.iter().filter(|(name, _)| **name != self.factor))
            };
            effects.iter().find(is_own).cloned()
        };
        let [at_first, at_second] = at_second_level.each_ref().map(find);
        Some([at_first?, at_second?])
    }
}

/// None with the form of the clients, which is measured so that no answer rests on one form.
fn questions(design: &Design<'_>, cells: &[Levels]) -> Vec<FourCells> {
    let swept = design.swept().map(|(name, _)| name);
    let is_asked = |name: &str| Some(name) != swept && name != STEP && name != CLIENTS_AS;
    let crossed = design.factors.iter().filter_map(|(name, factor)| match &factor.levels[..] {
        [first, second] if !factor.alone && is_asked(name) => {
            Some((name.as_str(), [first, second]))
        }
        _ => None,
    });
    let crossed: Vec<(&str, [&Level; 2])> = crossed.collect();
    let mut questions = Vec::new();
    for (index, other) in crossed.iter().enumerate() {
        for factor in crossed.iter().skip(index + 1) {
            questions.extend(of_two(design, cells, *factor, *other));
        }
    }
    questions
}

/// One for each engine on which both factors act, at each set of the further levels.
fn of_two(
    design: &Design<'_>,
    cells: &[Levels],
    (factor, levels): (&str, [&Level; 2]),
    (other, other_levels): (&str, [&Level; 2]),
) -> Vec<FourCells> {
    let (mut questions, mut seen) = (Vec::new(), BTreeSet::new());
    let is_first = |cell: &&Levels| {
        // As effects are, asked with every factor that varies alone at its first level.
        let mut alone = design.factors.iter().filter(|(_, one)| one.alone);
        cell.get(factor) == Some(levels[0])
            && cell.get(other) == Some(other_levels[0])
            && alone.all(|(name, one)| cell.get(name) == one.levels.first())
    };
    for base in cells.iter().filter(is_first) {
        let corners = levels.map(|level| {
            other_levels.map(|other_level| {
                let mut cell = base.clone();
                cell.insert(factor.to_owned(), level.clone());
                cell.insert(other.to_owned(), other_level.clone());
                cell
            })
        });
        if !corners.iter().flatten().all(|cell| cells.contains(cell)) {
            continue;
        }
        let mut further = base.clone();
        further.retain(|name, _| name != factor && name != other);
        for engine in &design.engines {
            let canonical =
                corners.iter().flatten().map(|one| design.canonical_levels(engine, one));
            let treatments: BTreeSet<Levels> = canonical.collect();
            if treatments.len() == 4 && seen.insert((engine.label(), treatments)) {
                let place = |cell: Levels| (engine.label(), cell);
                questions.push(FourCells {
                    factor: factor.to_owned(),
                    other: other.to_owned(),
                    levels: further.clone(),
                    corners: corners.clone().map(|row| row.map(place)),
                });
            }
        }
    }
    questions
}
