//! Pairs of engines and sets of levels that are compared, and the family of verdicts that each
//! belongs to: those with the first engine keep their power, whatever else is asked (METHOD.md,
//! section 6).

use std::collections::BTreeSet;

use engine::EngineSpec;
use plan::{Compare, Design, Level, Levels};
use serde::Serialize;

/// Verdicts that are corrected together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Comparisons with the first engine; of every pair where the plan compares all.
    Primary,
    /// The pairs without the first engine.
    OtherPairs,
    /// Each engine against the one before it of its kind, over clients.
    Steps,
}

/// More verdicts of other pairs than this show little in a few blocks.
const OTHER_VERDICTS_MAX: usize = 36;
/// From as many blocks on the other pairs are compared whatever their number.
const OTHER_BLOCKS_MIN: usize = 10;

/// The pairs of engines without the first: whether they have verdicts of their own, fixed by the plan
/// before anything is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherPairs {
    pub are_compared: bool,
    /// The comparisons that they would have at the plan's own levels.
    pub verdicts: usize,
}

impl OtherPairs {
    pub fn of(design: &Design<'_>) -> Self {
        let all = compared_pairs(design, design.cells(), Family::OtherPairs);
        let verdicts = all.iter().map(|pair| pair.group.swept.len()).sum();
        let are_few = verdicts <= OTHER_VERDICTS_MAX || design.first_blocks() >= OTHER_BLOCKS_MIN;
        Self { are_compared: design.compare.is_none() && verdicts > 0 && are_few, verdicts }
    }
}

/// Two engines at one set of the levels that are not swept.
pub(super) struct ComparedPair<'p> {
    pub engine: &'p EngineSpec,
    /// The engine that the other is compared with.
    pub base: &'p EngineSpec,
    pub group: SweepGroup,
}

/// Every pair of a family. Where a factor acts on neither engine, its levels are one comparison.
pub(super) fn compared_pairs<'p>(
    design: &'p Design<'_>,
    cells: &[Levels],
    family: Family,
) -> Vec<ComparedPair<'p>> {
    let mut seen = BTreeSet::new();
    let mut compared = Vec::new();
    for group in groups(design, cells) {
        for [base, engine] in pairs(design, &group.any_cell(design), family) {
            let key = |engine: &EngineSpec| {
                (engine.label(), design.canonical_levels(engine, &group.others))
            };
            if seen.insert((key(engine), key(base))) {
                compared.push(ComparedPair { engine, base, group: group.clone() });
            }
        }
    }
    compared
}

/// The pairs of a family that are measured at `cell`, the base of each first.
pub(super) fn pairs<'p>(
    design: &'p Design<'_>,
    cell: &Levels,
    family: Family,
) -> Vec<[&'p EngineSpec; 2]> {
    let is_measured =
        |(index, _): &(usize, &EngineSpec)| *index == 0 || !design.rules().repeats(*index, cell);
    let all = design.engines.iter().enumerate().filter(is_measured);
    let engines: Vec<&EngineSpec> = all.map(|(_, engine)| engine).collect();
    let bases = match (family, design.compare) {
        (Family::Primary, Some(Compare::All)) => 0..engines.len(),
        (Family::Primary, _) => 0..1,
        (Family::OtherPairs, _) => 1..engines.len(),
        (Family::Steps, _) => 0..0,
    };
    let of_base = |place: usize| {
        let base = engines.get(place).copied();
        let others = engines.iter().skip(place + 1);
        others.filter_map(|engine| Some([base?, *engine])).collect::<Vec<_>>()
    };
    bases.flat_map(of_base).collect()
}

/// A set of levels of the factors that are not swept, with the swept levels measured there.
#[derive(Clone)]
pub(super) struct SweepGroup {
    pub others: Levels,
    pub swept: Vec<f64>,
}

impl SweepGroup {
    fn any_cell(&self, design: &Design<'_>) -> Levels {
        let level = self.swept.first().copied().unwrap_or_default();
        cell(&self.others, design.swept().map(|(name, _)| name), level)
    }
}

fn groups(design: &Design<'_>, cells: &[Levels]) -> Vec<SweepGroup> {
    let swept = design.swept().map(|(name, _)| name);
    // In the order of the cells, which is the plan's: its base first.
    let mut groups: Vec<(Levels, BTreeSet<Level>)> = Vec::new();
    for cell in cells {
        let mut others = cell.clone();
        let level = swept.and_then(|name| others.remove(name)).unwrap_or(Level::Number(0.0));
        match groups.iter_mut().find(|(known, _)| *known == others) {
            Some((_, levels)) => {
                levels.insert(level);
            }
            None => groups.push((others, BTreeSet::from([level]))),
        }
    }
    let numbers = |levels: BTreeSet<Level>| levels.iter().filter_map(Level::number).collect();
    groups
        .into_iter()
        .map(|(others, levels)| SweepGroup { others, swept: numbers(levels) })
        .collect()
}

pub(super) fn cell(others: &Levels, swept: Option<&str>, level: f64) -> Levels {
    let mut cell = others.clone();
    if let Some(name) = swept {
        cell.insert(name.to_owned(), Level::Number(level));
    }
    cell
}
