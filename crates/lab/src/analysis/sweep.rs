//! Comparisons along the swept factor: every engine with the first, for each set of the other
//! levels, for all requests together and for each alone.

use std::collections::{BTreeMap, BTreeSet};

use stats::crossing::{
    Crossing, LevelResult, MOST_LEVELS_MORE, Scale, classify_planned, find, next_level,
};
use stats::{Comparison, ratio_comparison};

use super::{CONFIDENCE_LEVEL, Ratio, Treatment};
use crate::plan::{self, Level, Plan, Response, canonical_levels};
use crate::schedule::Levels;

/// Two engines along the swept factor.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The other factors' levels.
    pub levels: Levels,
    /// One request of the mix, or none for all together.
    pub request: Option<String>,
    /// The engine of which `results` say how many times the other's response time it takes: of a
    /// rate its inverse, so that below one is faster whatever the response.
    pub a: String,
    /// The plan's first engine.
    pub b: String,
    /// By level; the level is 0 where no factor is swept.
    pub results: Vec<LevelResult>,
    /// Levels at which one of the two is not judged: it failed, or they share no block.
    pub left_out: Vec<f64>,
    /// None where no factor is swept.
    pub crossings: Vec<Crossing>,
}

/// Compares, corrects for the number of verdicts (Holm) in two families - all requests together,
/// and each alone - and writes each comparison into its treatment too.
pub(super) fn compare(plan: &Plan, cells: &[Levels], treatments: &mut [Treatment]) -> Vec<Sweep> {
    let mut together = Vec::new();
    let mut alone = Vec::new();
    let Some(first) = plan.engines.first() else { return Vec::new() };
    let mut seen = BTreeSet::new();
    for group in groups(plan, cells) {
        for (index, engine) in plan.engines.iter().enumerate().skip(1) {
            if plan.repeats(index, &group.any_cell(plan)) {
                continue;
            }
            // Where a factor acts on neither engine, its levels are one sweep and one verdict.
            let key = |engine| canonical_levels(plan, engine, &group.others);
            if !seen.insert((engine.label(), key(engine), key(first))) {
                continue;
            }
            let pair = Pair::new(plan, &group, engine.label());
            together.push(pair.sweep(None, treatments));
            // A rate is that of whole rounds of the mix, so single requests have none.
            let operations = plan.operations().into_iter();
            for operation in operations.filter(|_| plan.response().lower_is_better()) {
                alone.push(pair.sweep(Some(&operation.name), treatments));
            }
        }
    }
    let mut sweeps = Vec::new();
    for family in [together, alone] {
        let comparisons: Vec<_> = family.iter().map(|raw| raw.comparisons.clone()).collect();
        let planned = family.len() * most_levels(plan);
        let results = classify_planned(&comparisons, planned, CONFIDENCE_LEVEL);
        for (raw, results) in family.into_iter().zip(results) {
            note_ratios(plan, &raw, &results, treatments);
            sweeps.push(raw.into_sweep(plan, results));
        }
    }
    sweeps
}

/// The sets of levels of the factors that are not swept, each with the swept levels measured.
struct Group {
    others: Levels,
    swept: Vec<f64>,
}

impl Group {
    fn any_cell(&self, plan: &Plan) -> Levels {
        let level = self.swept.first().copied().unwrap_or_default();
        cell(&self.others, plan.swept().map(|(name, _)| name), level)
    }
}

fn groups(plan: &Plan, cells: &[Levels]) -> Vec<Group> {
    let swept = plan.swept().map(|(name, _)| name);
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
    groups.into_iter().map(|(others, levels)| Group { others, swept: numbers(levels) }).collect()
}

struct Pair<'a> {
    response: Response,
    group: &'a Group,
    swept: Option<&'a str>,
    a: String,
    b: String,
}

/// A sweep before its verdicts are corrected.
struct RawSweep {
    levels: Levels,
    request: Option<String>,
    a: String,
    b: String,
    comparisons: Vec<(f64, Comparison)>,
    left_out: Vec<f64>,
}

impl<'a> Pair<'a> {
    fn new(plan: &'a Plan, group: &'a Group, a: String) -> Self {
        let b = plan.engines.first().map(engine::EngineSpec::label).unwrap_or_default();
        let response = plan.response();
        Self { response, group, swept: plan.swept().map(|(name, _)| name), a, b }
    }

    fn sweep(&self, request: Option<&str>, treatments: &[Treatment]) -> RawSweep {
        let compare = |level: f64| {
            let cell = cell(&self.group.others, self.swept, level);
            let of = |engine| blocks(self.response, treatments, engine, &cell, request);
            let (a, b) = (of(&self.a)?, of(&self.b)?);
            let (mut a, mut b) = paired(a, b);
            a.iter_mut().chain(&mut b).for_each(|value| *value = self.response.cost(*value));
            ratio_comparison(&a, &b, CONFIDENCE_LEVEL)
        };
        let (comparisons, left_out) = at_levels(&self.group.swept, compare);
        RawSweep {
            levels: self.group.others.clone(),
            request: request.map(str::to_owned),
            a: self.a.clone(),
            b: self.b.clone(),
            comparisons,
            left_out,
        }
    }
}

impl RawSweep {
    fn into_sweep(self, plan: &Plan, results: Vec<LevelResult>) -> Sweep {
        let Self { levels, request, a, b, left_out, .. } = self;
        let crossings = plan.swept().map(|(_, factor)| crossings(factor, &results, &left_out));
        let crossings = crossings.unwrap_or_default();
        Sweep { levels, request, a, b, results, left_out, crossings }
    }
}

/// Compares at each level; the levels that have no comparison stand beside those that have one.
pub(super) fn at_levels(
    levels: &[f64],
    compare: impl Fn(f64) -> Option<Comparison>,
) -> (Vec<(f64, Comparison)>, Vec<f64>) {
    let (mut comparisons, mut left_out) = (Vec::new(), Vec::new());
    for &level in levels {
        match compare(level) {
            Some(comparison) => comparisons.push((level, comparison)),
            None => left_out.push(level),
        }
    }
    (comparisons, left_out)
}

/// Where the lines cross: one side wherever the two could be compared is not one side at every
/// level.
pub(super) fn crossings(
    factor: &plan::Factor,
    results: &[LevelResult],
    left_out: &[f64],
) -> Vec<Crossing> {
    let mut crossings = find(results, scale(factor));
    for crossing in crossings.iter_mut().filter(|_| !left_out.is_empty()) {
        if matches!(crossing, Crossing::NotInRange { .. }) {
            *crossing = Crossing::Inconclusive { more_blocks: None, between: None };
        }
    }
    crossings
}

fn cell(others: &Levels, swept: Option<&str>, level: f64) -> Levels {
    let mut cell = others.clone();
    if let Some(name) = swept {
        cell.insert(name.to_owned(), Level::Number(level));
    }
    cell
}

fn blocks<'t>(
    response: Response,
    treatments: &'t [Treatment],
    engine: &str,
    cell: &Levels,
    request: Option<&str>,
) -> Option<&'t [(usize, f64)]> {
    let mut named = treatments.iter().filter(|t| t.engine == engine && t.levels == *cell);
    let treatment = named.find(|treatment| treatment.is_judged_by(response))?;
    match request {
        None => Some(&treatment.blocks),
        Some(name) => {
            treatment.by_request.iter().find(|r| r.name == name).map(|r| r.blocks.as_slice())
        }
    }
}

/// The values of the blocks that both have.
fn paired(a: &[(usize, f64)], b: &[(usize, f64)]) -> (Vec<f64>, Vec<f64>) {
    let of_b: BTreeMap<usize, f64> = b.iter().copied().collect();
    a.iter().filter_map(|(block, value)| Some((*value, *of_b.get(block)?))).unzip()
}

/// In every cell where the two treatments are the same as in the sweep's.
fn note_ratios(plan: &Plan, raw: &RawSweep, results: &[LevelResult], all: &mut [Treatment]) {
    let swept = plan.swept().map(|(name, _)| name);
    let named = |label: &str| plan.engines.iter().find(|engine| engine.label() == label);
    let (Some(a), Some(b)) = (named(&raw.a), named(&raw.b)) else { return };
    let key = |cell: &Levels| (canonical_levels(plan, a, cell), canonical_levels(plan, b, cell));
    let mut by_cell: BTreeMap<(Levels, Levels), Vec<&mut Treatment>> = BTreeMap::new();
    for treatment in all.iter_mut().filter(|treatment| treatment.engine == raw.a) {
        by_cell.entry(key(&treatment.levels)).or_default().push(treatment);
    }
    for result in results {
        let cell = cell(&raw.levels, swept, result.level);
        let estimate = plan.response().ratio(result.ratio);
        let ratio = Ratio { to: raw.b.clone(), estimate, shown: result.sign.into() };
        for treatment in by_cell.get_mut(&key(&cell)).into_iter().flatten() {
            match &raw.request {
                None => treatment.ratio = Some(ratio.clone()),
                Some(name) => {
                    if let Some(r) = treatment.by_request.iter_mut().find(|r| r.name == *name) {
                        r.ratio = Some(ratio.clone());
                    }
                }
            }
        }
    }
}

/// How narrow a bracket is wanted: its ends differ by at most 15% (METHOD.md, section 7).
const BRACKET_WIDTH: f64 = 0.15;

pub(super) fn next_cells(plan: &Plan, sweeps: &[Sweep]) -> Vec<Levels> {
    let Some((name, factor)) = plan.swept().filter(|(_, factor)| factor.bisect) else {
        return Vec::new();
    };
    let whole = factor.levels.iter().all(|l| l.number().is_some_and(|n| n.fract() == 0.0));
    let mut cells: BTreeSet<Levels> = BTreeSet::new();
    for sweep in sweeps.iter().filter(|sweep| sweep.request.is_none()) {
        // A level that was left out is measured too: asked for again it would be left out again.
        let results = sweep.results.iter().map(|result| result.level);
        let measured: Vec<f64> = results.chain(sweep.left_out.iter().copied()).collect();
        for crossing in &sweep.crossings {
            let next = next_level(crossing, &measured, scale(factor), BRACKET_WIDTH, whole);
            let next = next.map(|level| cell(&sweep.levels, Some(name), level));
            let coming = cells.iter().filter(|cell| is_of(cell, &sweep.levels)).count();
            let has_room = measured.len() + coming < most_levels(plan);
            cells.extend(next.filter(|_| has_room));
        }
    }
    cells.into_iter().collect()
}

/// Whether `cell` has the levels of `group`, whatever its level of the factor between them.
pub(super) fn is_of(cell: &Levels, group: &Levels) -> bool {
    group.iter().all(|(name, level)| cell.get(name) == Some(level))
}

/// The levels that a sweep may come to hold. Verdicts are corrected for all of them from the start,
/// so that no level measured later takes one away (METHOD.md, section 6).
fn most_levels(plan: &Plan) -> usize {
    plan.swept().map_or(1, |(_, factor)| {
        factor.levels.len() + if factor.bisect { MOST_LEVELS_MORE } else { 0 }
    })
}

/// What `count` verdicts at the plan's own levels come to with those that bisection may add.
pub(super) fn with_bisection(plan: &Plan, count: usize) -> usize {
    let levels = plan.swept().map_or(1, |(_, factor)| factor.levels.len().max(1));
    (count * most_levels(plan)).div_ceil(levels)
}

fn scale(factor: &plan::Factor) -> Scale {
    match factor.swept {
        Some(plan::Scale::Log) => Scale::Log,
        Some(plan::Scale::Linear) | None => Scale::Linear,
    }
}
