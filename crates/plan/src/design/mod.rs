//! Design of an experiment: its cells, treatments and starts, computed once from a resolved plan and
//! passed on.

mod acting;
mod connections;
mod load;
mod order;

use std::collections::BTreeSet;
use std::ops::Deref;

use engine::EngineSpec;

use acting::ActingNames;
pub use order::{PlannedTrial, trial_seed};

use crate::{CLIENTS_AS, Level, Levels, Plan, STEP};

/// A resolved plan with what follows from it.
#[derive(Clone, Debug)]
pub struct Design<'p> {
    plan: &'p Plan,
    cells: Vec<Levels>,
    treatments: Vec<(usize, Levels)>,
    names: ActingNames,
}

impl Deref for Design<'_> {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        self.plan
    }
}

impl<'p> Design<'p> {
    #[must_use]
    pub fn of(plan: &'p Plan) -> Self {
        let names = ActingNames::of(plan);
        let mut design = Self { plan, cells: plan.cells(), treatments: Vec::new(), names };
        design.treatments = design.treatments_at(&design.cells);
        design
    }

    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// Every combination of the plan's levels; of the factors that are varied alone, one at a time.
    pub fn cells(&self) -> &[Levels] {
        &self.cells
    }

    /// The treatments of one block over [`Self::cells`].
    pub fn treatments(&self) -> &[(usize, Levels)] {
        &self.treatments
    }

    /// The treatments of one block over `cells`: each engine (by its place in the plan) at each cell
    /// that is a treatment of its own, where anything is done, and not what an earlier line does there.
    pub fn treatments_at(&self, cells: &[Levels]) -> Vec<(usize, Levels)> {
        let (mut treatments, rules) = (Vec::new(), self.plan.rules());
        for (index, engine) in self.plan.engines.iter().enumerate() {
            let mut seen = BTreeSet::new();
            for cell in cells.iter().filter(|cell| !rules.repeats(index, cell)) {
                let levels = self.canonical_levels(engine, cell);
                let operations = self.plan.operations_at(&levels);
                let does_something = operations.iter().any(|one| one.weight > 0);
                if does_something && seen.insert(levels.clone()) {
                    treatments.push((index, levels));
                }
            }
        }
        treatments
    }

    /// The cell at which `engine` is measured for `cell`: factors that have no effect on this engine
    /// are at their first level. Two cells with the same canonical levels are one treatment.
    pub fn canonical_levels(&self, engine: &EngineSpec, cell: &Levels) -> Levels {
        let canonical = cell.iter().map(|(name, level)| {
            let first = self.plan.factors.get(name).and_then(|factor| factor.levels.first());
            let level = match name.as_str() {
                STEP => self.plan.acting_step(engine.source.kind(), level),
                // One client has no other with which it could share a process.
                CLIENTS_AS if self.has_one_client(cell) => first.unwrap_or(level).clone(),
                _ if self.acts(engine, name) => level.clone(),
                _ => first.unwrap_or(level).clone(),
            };
            (name.clone(), level)
        });
        canonical.collect()
    }

    fn has_one_client(&self, cell: &Levels) -> bool {
        let level = cell.get("clients").and_then(Level::number);
        level == Some(1.0) || !self.plan.factors.contains_key("clients")
    }

    /// The levels worth telling of a treatment: of factors that act on `engine`, and of those varied
    /// alone the one that is not at its first level.
    pub fn distinguishing_levels(&self, engine: &EngineSpec, levels: &Levels) -> Levels {
        let is_told = |(name, level): &(&String, &Level)| {
            self.acts(engine, name) && !self.plan.is_base(name, level)
        };
        let told = levels.iter().filter(is_told);
        told.map(|(name, level)| (name.clone(), level.clone())).collect()
    }

    /// Whether factor `name` acts on `engine`.
    fn acts(&self, engine: &EngineSpec, name: &str) -> bool {
        let index = self.plan.engines.iter().position(|one| one == engine);
        let own = index.and_then(|index| self.names.by_engine.get(index));
        self.names.everywhere.contains(name) || own.is_some_and(|own| own.contains(name))
    }

    /// The levels of the factors for which an engine is started again.
    pub fn deployment_levels(&self, cell: &Levels) -> Levels {
        let levels = cell.iter().filter(|(name, _)| self.names.starts.contains(*name));
        levels.map(|(name, level)| (name.clone(), level.clone())).collect()
    }

    /// The name of an engine's start in run.json: the label of its line, and those levels of the
    /// deployment that are not the plan's first ones.
    pub fn start_name(&self, label: &str, levels: &Levels) -> String {
        let base = self.base();
        let changed = levels.iter().filter(|(name, level)| base.get(*name) != Some(level));
        let changed: Vec<String> = changed.map(|(name, level)| format!("{name}={level}")).collect();
        if changed.is_empty() {
            label.to_owned()
        } else {
            format!("{label} ({})", changed.join(", "))
        }
    }
}
