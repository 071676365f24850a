//! Comparisons along the swept factor: pairs of engines, for each set of the other levels, for all
//! requests together and for each alone.

use std::collections::BTreeMap;

use stats::crossing::{AxisScale, Crossing, LevelResult, Sign, find};

use super::family::{Compared, Sides, judge};
use super::levels::most_levels;
use super::pairs::{ComparedPair, Family, OtherPairs, cell, compared_pairs};
use super::{Failures, Ratio, Shown, Treatment};
use plan::Levels;
use plan::{self, Design, Plan, ResponseVariable};

/// Two engines along the swept factor.
#[derive(Clone, Debug)]
pub struct Sweep {
    pub family: Family,
    pub levels: Levels,
    /// One request of the mix, or none for all together.
    pub request: Option<String>,
    /// The engine of which `results` say how many times the other's response time it takes: of a
    /// rate its inverse, so that below one is faster whatever the response.
    pub a: String,
    pub b: String,
    /// By level; the level is 0 where no factor is swept.
    pub results: Vec<Compared>,
    /// Levels at which one of the two is not judged: it failed, or they share no block.
    pub left_out: Vec<f64>,
    /// The engine and why, where failures are the reason: `5 of 1,000 requests failed`.
    pub left_out_reasons: Vec<(String, String)>,
    /// Failures of a and of b that were tolerated, over all levels.
    pub failures: [Failures; 2],
    /// None where no factor is swept.
    pub crossings: Vec<Crossing>,
}

impl Sweep {
    /// Whether it is of all requests together, and of the comparisons that the plan asks for.
    pub fn is_primary(&self) -> bool {
        self.request.is_none() && self.family == Family::Primary
    }

    /// Whether every level is settled that no crossing encloses: between the ends of a bracket a
    /// level may well be open.
    pub fn is_settled(&self) -> bool {
        let open = |(low, high): (f64, f64)| {
            let inside = |one: &&Compared| (low..=high).contains(&one.level);
            self.results.iter().filter(inside).any(|one| !one.is_settled())
        };
        let whole = (f64::NEG_INFINITY, f64::INFINITY);
        let is_open = match self.crossings.as_slice() {
            [] => open(whole),
            crossings => crossings.iter().any(|crossing| match crossing {
                Crossing::Inconclusive { between, .. } => open(between.unwrap_or(whole)),
                Crossing::Bracketed { .. } | Crossing::NotInRange { .. } => false,
            }),
        };
        self.left_out.is_empty() && !self.results.is_empty() && !is_open
    }
}

/// Compares and corrects for the number of verdicts (Holm) in three families: all requests together
/// with the first engine, the same of the other pairs, and each request alone with the first engine.
/// Writes each comparison with the first engine into its treatment too.
pub(super) fn compare(
    design: &Design<'_>,
    cells: &[Levels],
    treatments: &mut [Treatment],
) -> Vec<Sweep> {
    let all = &*treatments;
    let together = |family: Family| {
        move |pair: &ComparedPair<'_>| vec![RawSweep::of(design, family, pair, None, all)]
    };
    // A rate is that of whole rounds of the mix, so single requests have none.
    let operations =
        design.operations().into_iter().filter(|_| design.response().lower_is_better());
    let operations: Vec<String> = operations.map(|one| one.name).collect();
    let alone = |pair: &ComparedPair<'_>| {
        let names = operations.iter();
        names.map(|name| RawSweep::of(design, Family::Primary, pair, Some(name), all)).collect()
    };
    let mut sweeps = judged_pairs(design, cells, Family::Primary, together(Family::Primary));
    if OtherPairs::of(design).are_compared {
        // Without the levels that bisection adds, so that their number is fixed.
        let cells = design.cells();
        sweeps.extend(judged_pairs(
            design,
            cells,
            Family::OtherPairs,
            together(Family::OtherPairs),
        ));
    }
    sweeps.extend(judged_pairs(design, cells, Family::Primary, alone));
    for sweep in &sweeps {
        note_ratios(design, sweep, treatments);
    }
    sweeps
}

/// The sweeps of the pairs of `family`, one or several of each pair, judged together.
fn judged_pairs(
    design: &Design<'_>,
    cells: &[Levels],
    family: Family,
    sweeps: impl Fn(&ComparedPair<'_>) -> Vec<RawSweep>,
) -> Vec<Sweep> {
    let raw: Vec<RawSweep> =
        compared_pairs(design, cells, family).iter().flat_map(sweeps).collect();
    let planned = match family {
        Family::Primary => raw.len() * most_levels(design),
        Family::OtherPairs | Family::Steps => raw.iter().map(|one| one.sides.len()).sum(),
    };
    judged(design, raw, planned)
}

/// The comparisons of all requests together until the last COMMIT alone; empty where no trial has
/// written anything that a checkpoint brings to its place.
pub(super) fn until_commit(
    design: &Design<'_>,
    cells: &[Levels],
    treatments: &[Treatment],
) -> Vec<Sweep> {
    let writes = treatments.iter().any(|one| !one.checkpoint_blocks.is_empty());
    if !writes || !design.response().lower_is_better() {
        return Vec::new();
    }
    let mut until_commit = treatments.to_vec();
    for treatment in &mut until_commit {
        treatment.blocks.clone_from(&treatment.time_blocks);
        treatment.by_request.clear();
    }
    let sweeps = compare(design, cells, &mut until_commit);
    sweeps.into_iter().filter(|sweep| sweep.request.is_none()).collect()
}

/// The sweeps of a family, which may come to hold `planned` comparisons.
pub(super) fn judged(plan: &Plan, family: Vec<RawSweep>, planned: usize) -> Vec<Sweep> {
    let all: Vec<(f64, Option<Sides>)> =
        family.iter().flat_map(|raw| raw.sides.iter().cloned()).collect();
    let mut judged = judge(plan, &all, planned).into_iter();
    family
        .into_iter()
        .map(|raw| {
            let levels: Vec<f64> = raw.sides.iter().map(|(level, _)| *level).collect();
            let judged: Vec<Option<Compared>> = judged.by_ref().take(levels.len()).collect();
            let open = levels.iter().zip(&judged).filter(|(_, result)| result.is_none());
            let left_out: Vec<f64> = open.map(|(level, _)| *level).collect();
            let results: Vec<Compared> = judged.into_iter().flatten().collect();
            let crossings = raw.axis.as_ref().map(|axis| crossings(axis, &results, &left_out));
            let RawSweep { family, levels, request, a, b, failures, mut reasons, .. } = raw;
            reasons.dedup();
            Sweep {
                family,
                levels,
                request,
                a,
                b,
                results,
                left_out,
                left_out_reasons: reasons,
                failures,
                crossings: crossings.unwrap_or_default(),
            }
        })
        .collect()
}

/// A sweep before its verdicts.
pub(super) struct RawSweep {
    family: Family,
    levels: Levels,
    request: Option<String>,
    a: String,
    b: String,
    /// The factor along which it goes.
    axis: Option<plan::Factor>,
    /// By level; none where one of the two is not judged.
    sides: Vec<(f64, Option<Sides>)>,
    failures: [Failures; 2],
    reasons: Vec<(String, String)>,
}

impl RawSweep {
    pub(super) fn new(
        family: Family,
        levels: Levels,
        request: Option<String>,
        (a, b): (String, String),
        axis: Option<plan::Factor>,
    ) -> Self {
        let (failures, sides, reasons) = Default::default();
        Self { family, levels, request, a, b, axis, sides, failures, reasons }
    }

    /// A pair along the swept factor, for one request or all together.
    fn of(
        design: &Design<'_>,
        family: Family,
        pair: &ComparedPair<'_>,
        request: Option<&String>,
        treatments: &[Treatment],
    ) -> Self {
        let (swept, axis) = design.swept().map(|(name, factor)| (name, factor.clone())).unzip();
        let (a, b) = (pair.engine.label(), pair.base.label());
        let others = pair.group.others.clone();
        let mut raw = Self::new(family, others, request.cloned(), (a.clone(), b.clone()), axis);
        for &level in &pair.group.swept {
            let cell = cell(&pair.group.others, swept, level);
            let of = |engine: &String| {
                treatments.iter().find(|t| t.engine == *engine && t.levels == cell)
            };
            raw.add(design.response(), level, (of(&a), of(&b)));
        }
        raw
    }

    /// Notes a level with the treatments of both, if both are there.
    pub(super) fn add(
        &mut self,
        response: ResponseVariable,
        level: f64,
        (a, b): (Option<&Treatment>, Option<&Treatment>),
    ) {
        let names = [self.a.clone(), self.b.clone()];
        for ((treatment, name), failures) in [a, b].iter().zip(names).zip(&mut self.failures) {
            let Some(treatment) = treatment else { continue };
            let of_request =
                treatment.by_request.iter().find(|r| Some(&r.name) == self.request.as_ref());
            failures.add(of_request.map_or(&treatment.failures, |request| &request.failures));
            self.reasons.extend(treatment.standing.reason().map(|why| (name, why)));
        }
        let request = self.request.as_deref();
        let judged = [a, b].map(|side| side.filter(|one| one.standing.is_judged()));
        let [a, b] = judged.map(|side| side.and_then(|one| blocks(one, request)));
        let sides = a.zip(b).and_then(|(a, b)| sides(response, &a, &b));
        self.sides.push((level, sides));
    }
}

/// Blocks and responses, and the same with time-outs counted at the limit.
type Blocks<'t> = (&'t [(usize, f64)], &'t [(usize, f64)]);

/// Of all requests together or of one.
fn blocks<'t>(treatment: &'t Treatment, request: Option<&str>) -> Option<Blocks<'t>> {
    match request {
        None => Some((&treatment.blocks, &treatment.blocks_with_time_outs)),
        Some(name) => {
            let found = treatment.by_request.iter().find(|request| request.name == name)?;
            Some((&found.blocks, &found.blocks_with_time_outs))
        }
    }
}

/// The values of the blocks that both have, as costs; none where they share no block.
fn sides(response: ResponseVariable, a: &Blocks<'_>, b: &Blocks<'_>) -> Option<Sides> {
    let as_costs = |a: &[(usize, f64)], b: &[(usize, f64)]| {
        let of_b: BTreeMap<usize, f64> = b.iter().copied().collect();
        let both = a.iter().filter_map(|(block, value)| Some((*value, *of_b.get(block)?)));
        both.map(|(a, b)| (response.cost(a), response.cost(b))).unzip()
    };
    let (values_a, values_b): (Vec<f64>, Vec<f64>) = as_costs(a.0, b.0);
    let timed_out = !a.1.is_empty() || !b.1.is_empty();
    let at_limit =
        |side: &Blocks<'_>| if side.1.is_empty() { side.0.to_vec() } else { side.1.to_vec() };
    let with_time_outs = timed_out.then(|| as_costs(&at_limit(a), &at_limit(b)));
    (!values_a.is_empty()).then_some(Sides { a: values_a, b: values_b, with_time_outs })
}

/// Where the lines cross: one side wherever the two could be compared is not one side at every
/// level.
fn crossings(factor: &plan::Factor, results: &[Compared], left_out: &[f64]) -> Vec<Crossing> {
    let levels: Vec<LevelResult> = results.iter().map(Compared::level_result).collect();
    let mut crossings = find(&levels, scale(factor));
    for crossing in crossings.iter_mut().filter(|_| !left_out.is_empty()) {
        if matches!(crossing, Crossing::NotInRange { .. }) {
            *crossing = Crossing::Inconclusive { more_blocks: None, between: None };
        }
    }
    crossings
}

/// In every cell where the two treatments are the same as in the sweep's.
fn note_ratios(design: &Design<'_>, sweep: &Sweep, all: &mut [Treatment]) {
    let swept = design.swept().map(|(name, _)| name);
    let named = |label: &str| design.engines.iter().find(|engine| engine.label() == label);
    let (Some(a), Some(b)) = (named(&sweep.a), named(&sweep.b)) else { return };
    // A treatment's own ratio is the one to the first engine.
    if design.engines.first() != Some(b) {
        return;
    }
    let key = |cell: &Levels| (design.canonical_levels(a, cell), design.canonical_levels(b, cell));
    let mut by_cell: BTreeMap<(Levels, Levels), Vec<&mut Treatment>> = BTreeMap::new();
    for treatment in all.iter_mut().filter(|treatment| treatment.engine == sweep.a) {
        by_cell.entry(key(&treatment.levels)).or_default().push(treatment);
    }
    for result in &sweep.results {
        let cell = cell(&sweep.levels, swept, result.level);
        let difference = (result.shown() == Shown::Equal && result.sign != Sign::Undecided)
            .then(|| result.sign.into());
        let ratio = Ratio {
            to: sweep.b.clone(),
            estimate: design.response().ratio(result.ratio),
            shown: result.shown(),
            difference,
        };
        for treatment in by_cell.get_mut(&key(&cell)).into_iter().flatten() {
            match &sweep.request {
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

pub(super) fn scale(factor: &plan::Factor) -> AxisScale {
    match factor.swept {
        Some(plan::Scale::Log) => AxisScale::Log,
        Some(plan::Scale::Linear) | None => AxisScale::Linear,
    }
}
