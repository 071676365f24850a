//! Verdicts of all requests together, by pair of engines and cell: what sentences about three engines
//! and more rest on.

use std::collections::{BTreeMap, BTreeSet};

use engine::EngineSpec;
use plan::{Levels, Plan};
use stats::crossing::Side;

use super::Rank;
use super::place;
use crate::analysis::{Analysis, CLIENTS, Compared, ENGINE_FACTOR, OtherPairs, Shown, Sweep};

/// An engine at the levels that act on it.
type Place = (String, Levels);

pub(super) struct Verdicts<'a> {
    plan: &'a Plan,
    analysis: &'a Analysis,
    /// The levels that act on each engine, by label and cell.
    acting: BTreeMap<Place, Levels>,
    /// By both engines: one comparison stands for every cell in which neither engine differs.
    compared: BTreeMap<[Place; 2], (&'a Sweep, &'a Compared)>,
    left_out: BTreeSet<[Place; 2]>,
}

impl<'a> Verdicts<'a> {
    pub(super) fn of(plan: &'a Plan, analysis: &'a Analysis) -> Self {
        let acting = analysis
            .treatments
            .iter()
            .map(|one| ((one.engine.clone(), one.levels.clone()), one.measured_at.clone()));
        let (compared, left_out) = (BTreeMap::new(), BTreeSet::new());
        let mut all = Self { plan, analysis, acting: acting.collect(), compared, left_out };
        for sweep in analysis.sweeps.iter().filter(|sweep| sweep.request.is_none()) {
            for result in &sweep.results {
                let cell = place::levels_at(plan, sweep, result.level);
                all.compared.insert(all.key(&sweep.a, &sweep.b, &cell), (sweep, result));
            }
            for level in &sweep.left_out {
                let cell = place::levels_at(plan, sweep, *level);
                all.left_out.insert(all.key(&sweep.a, &sweep.b, &cell));
            }
        }
        all
    }

    pub(super) fn other_pairs(&self) -> OtherPairs {
        self.analysis.other_pairs
    }

    fn key(&self, a: &str, b: &str, cell: &Levels) -> [Place; 2] {
        [a, b].map(|label| {
            let place = (label.to_owned(), cell.clone());
            let levels = self.acting.get(&place).unwrap_or(cell).clone();
            (place.0, levels)
        })
    }

    /// The comparison of two engines, with the side on which `x` stands.
    pub(super) fn between(&self, x: &str, y: &str, cell: &Levels) -> Option<(&'a Compared, Side)> {
        let found = |a, b, side| Some((self.compared.get(&self.key(a, b, cell))?.1, side));
        found(x, y, Side::A).or_else(|| found(y, x, Side::B))
    }

    /// Whether two engines are compared anywhere at this cell: among these verdicts, as steps from one
    /// release to the next, or as settings of one engine.
    pub(super) fn is_compared(&self, x: &str, y: &str, cell: &Levels) -> bool {
        let planned = |a: &str, b: &str| {
            let key = self.key(a, b, cell);
            self.compared.contains_key(&key) || self.left_out.contains(&key)
        };
        let is_pair = |a: &str, b: &str| (a == x && b == y) || (a == y && b == x);
        let mut steps = self.analysis.throughput.iter().flat_map(|throughput| &throughput.steps);
        let mut settings =
            self.analysis.effects.iter().filter(|effect| effect.factor == ENGINE_FACTOR);
        planned(x, y)
            || planned(y, x)
            || steps.any(|step| is_pair(&step.a, &step.b) && cell.contains_key(CLIENTS))
            || settings.any(|one| {
                is_pair(&one.from.to_string(), &one.to.to_string()) && one.levels == *cell
            })
    }

    /// The engines with a value at `cell`, the fastest first, with their costs.
    pub(super) fn measured(&self, cell: &Levels) -> Vec<(&'a str, f64)> {
        let response = self.plan.response();
        let labels = self.plan.engines.iter().map(EngineSpec::label);
        let found = labels.filter_map(|label| {
            let of_engine = self.analysis.treatments.iter().filter(|one| one.engine == label);
            let one = of_engine.filter(|one| one.standing.is_judged());
            let one = one.into_iter().find(|one| one.levels == *cell)?;
            Some((one.engine.as_str(), response.cost(one.estimate?.value)))
        });
        let mut found: Vec<(&str, f64)> = found.collect();
        found.sort_by(|x, y| x.1.total_cmp(&y.1));
        found
    }

    /// The pairs of `engines` shown at `cell`, the faster engine first, and those that follow: where a
    /// is shown faster than b, and b than c, a is faster than c.
    pub(super) fn shown(&self, engines: &[&str], cell: &Levels) -> BTreeSet<(String, String)> {
        let mut shown = BTreeSet::new();
        for (index, x) in engines.iter().enumerate() {
            for y in engines.iter().skip(index + 1) {
                let Some((one, side)) = self.between(x, y, cell) else { continue };
                match one.sign.faster() {
                    Some(faster) if faster == side => {
                        shown.insert(((*x).to_owned(), (*y).to_owned()))
                    }
                    Some(_) => shown.insert(((*y).to_owned(), (*x).to_owned())),
                    None => continue,
                };
            }
        }
        loop {
            let follow = shown.iter().flat_map(|(fastest, middle)| {
                let below = shown.iter().filter(move |(faster, _)| faster == middle);
                below.map(move |(_, slowest)| (fastest.clone(), slowest.clone()))
            });
            let new: BTreeSet<_> = follow.filter(|pair| !shown.contains(pair)).collect();
            if new.is_empty() {
                return shown;
            }
            shown.extend(new);
        }
    }

    /// The ranks that the shown pairs allow at `cell`; none below three engines with a value.
    pub(super) fn ranks(&self, cell: &Levels) -> Option<Vec<Rank>> {
        let engines: Vec<&str> = self.measured(cell).into_iter().map(|(label, _)| label).collect();
        if engines.len() < 3 {
            return None;
        }
        let shown = self.shown(&engines, cell);
        let ranks = engines.iter().map(|engine| Rank {
            engine: (*engine).to_owned(),
            rank_low: 1 + shown.iter().filter(|(_, slower)| slower == engine).count(),
            rank_high: engines.len() - shown.iter().filter(|(faster, _)| faster == engine).count(),
        });
        Some(ranks.collect())
    }

    /// Every cell, in the order of the treatments.
    pub(super) fn cells(&self) -> Vec<Levels> {
        let mut cells: Vec<Levels> = Vec::new();
        for treatment in &self.analysis.treatments {
            if !cells.contains(&treatment.levels) {
                cells.push(treatment.levels.clone());
            }
        }
        cells
    }

    /// Whether everything that is compared at `cell` is equal within the margin, and there is such.
    pub(super) fn are_equal(&self, cell: &Levels) -> bool {
        let engines = self.measured(cell);
        let mut pairs = engines.iter().enumerate().flat_map(|(index, (x, _))| {
            engines.iter().skip(index + 1).filter_map(move |(y, _)| self.between(x, y, cell))
        });
        let mut any = false;
        pairs.all(|(one, _)| {
            any = true;
            one.shown() == Shown::Equal
        }) && any
    }
}
