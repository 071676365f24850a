//! Steps of a plan: the factor of their names, and what has changed at one of its levels.

use engine::{EngineKind, EngineSpec};

use crate::{Factor, Level, Levels, Plan, PlanError, STEP, Step, StepChanges, WorkloadKind};

impl Plan {
    /// All changes to an engine of `kind` at `levels`: those of the step there and of all before it.
    pub fn changes_at(&self, kind: EngineKind, levels: &Levels) -> StepChanges {
        let last = self.step_index(levels.get(STEP));
        let steps = self.steps.iter().take(last.map_or(0, |last| last + 1));
        let changes = steps.filter_map(|step| step.changes(kind));
        changes.fold(StepChanges::default(), StepChanges::followed_by)
    }

    /// The step at which an engine of `kind` is measured for `level`: the last one up to it that
    /// changes such an engine, otherwise the first.
    pub(crate) fn acting_step(&self, kind: EngineKind, level: &Level) -> Level {
        let acts = |step: &&Step| step.changes(kind).is_some_and(|changes| !changes.is_empty());
        let up_to = self.step_index(Some(level)).map_or(0, |index| index + 1);
        let acting = self.steps.iter().take(up_to).rev().find(acts).or(self.steps.first());
        acting.map_or(level.clone(), |step| Level::Text(step.name.clone()))
    }

    fn step_index(&self, level: Option<&Level>) -> Option<usize> {
        let Some(Level::Text(name)) = level else { return None };
        self.steps.iter().position(|step| step.name == *name)
    }

    /// Checks the steps and makes the factor of their names.
    pub(crate) fn resolve_steps(&mut self) -> Result<(), PlanError> {
        let refuse = |key: &str, message: String| Err(PlanError::impossible(key, message));
        if self.steps.is_empty() {
            return match self.factors.contains_key(STEP) {
                true => refuse("factors.step", "has no [[step]]; write one per level".to_owned()),
                false => Ok(()),
            };
        }
        if self.workload != WorkloadKind::Sql {
            return refuse("step", "belongs to workload = \"sql\"".to_owned());
        }
        for (index, step) in self.steps.iter().enumerate() {
            let key = format!("step.{index}.name");
            if step.name.is_empty() {
                return refuse(&key, "is empty; name what the step changes".to_owned());
            }
            if self.steps.iter().take(index).any(|other| other.name == step.name) {
                return refuse(&key, format!("two are called {}", step.name));
            }
        }
        let levels = self.steps.iter().map(|step| Level::Text(step.name.clone())).collect();
        let factor = Factor::new(levels);
        // A run's own plan has the factor already.
        if self.factors.get(STEP).is_some_and(|given| *given != factor) {
            let message = "is made of the steps' names; leave it out".to_owned();
            return refuse("factors.step", message);
        }
        self.factors.insert(STEP.to_owned(), factor);
        self.check_step_engines()?;
        self.check_named_steps()
    }

    /// Steps change data, so they need copies.
    fn check_step_engines(&self) -> Result<(), PlanError> {
        let has_copy = |engine: &EngineSpec| {
            engine.source.kind().properties().is_hosted && !engine.source.is_yours()
        };
        match self.engines.iter().position(|engine| !has_copy(engine)) {
            None => Ok(()),
            Some(index) => {
                let message = format!(
                    "steps change a copy of the data, and {} has none; name sqlite or a managed \
                     server (postgres:18)",
                    self.engines[index].label()
                );
                Err(PlanError::impossible(&format!("engines.{index}"), message))
            }
        }
    }

    fn check_named_steps(&self) -> Result<(), PlanError> {
        let is_known = |step: &str| self.step_index(Some(&Level::Text(step.to_owned()))).is_some();
        for (index, statement) in self.statements.iter().enumerate() {
            if let Some(step) = statement.steps.iter().find(|step| !is_known(step)) {
                let key = format!("statement.{index}.steps");
                let message = format!("{}: `{step}` is the name of no step", statement.name);
                return Err(PlanError::impossible(&key, message));
            }
        }
        for (engine, step) in &self.best_steps {
            let key = format!("best_steps.{engine}");
            if !self.engines.iter().any(|known| known.label() == *engine) {
                return Err(PlanError::impossible(&key, "is the label of no engine of this plan"));
            }
            if !is_known(step) {
                return Err(PlanError::impossible(
                    &key,
                    format!("`{step}` is the name of no step"),
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Design;

    const PLAN: &str = r#"
        title = "t"
        workload = "sql"
        engines = ["sqlite[analyze=keep]", "postgres:18"]
        data = "Cargo.toml"
        statement = [{ name = "a", text = "SELECT 1" }]
        [[step]]
        name = "unchanged"
        [[step]]
        name = "ANALYZE"
        sqlite = { statements = ["ANALYZE"] }
        [[step]]
        name = "indexes"
        sqlite = { statements = ["CREATE INDEX i ON t(a)"] }
        postgres = { statements = ["CREATE INDEX i ON t(a)"] }
        [[step]]
        name = "settings"
        sqlite = { settings = { cache_size = "-65536" } }
    "#;

    #[test]
    fn each_engine_is_measured_at_the_steps_that_change_it() {
        let plan = crate::read(PLAN, "t.toml").unwrap();
        let design = Design::of(&plan);
        let treatments = design.treatments();
        let shown: Vec<String> = treatments
            .iter()
            .map(|(engine, levels)| format!("{engine} {}", levels[STEP]))
            .collect();
        assert_eq!(
            shown,
            ["0 unchanged", "0 ANALYZE", "0 indexes", "0 settings", "1 unchanged", "1 indexes"]
        );
        let (engine, levels) = &treatments[3];
        assert!(design.deployment_levels(levels).is_empty(), "no step starts an engine again");
        let all = plan.changes_at(plan.engines[*engine].source.kind(), levels);
        assert_eq!(all.statements, ["ANALYZE", "CREATE INDEX i ON t(a)"]);
        assert_eq!(all.settings["cache_size"], "-65536");
    }

    #[test]
    fn a_resolved_plan_with_steps_reads_the_same_again() {
        let plan = crate::read(PLAN, "t.toml").unwrap();
        let again = crate::read(&plan.to_toml().unwrap(), "t.toml").unwrap();
        assert_eq!(again, plan);
    }

    #[test]
    fn mistakes_in_steps_are_named_with_their_place() {
        for (from, to, expected) in [
            ("\"postgres:18\"", "\"postgres://h/d\"", "steps change a copy of the data"),
            ("name = \"indexes\"", "name = \"ANALYZE\"", "two are called ANALYZE"),
            ("data =", "best_steps = { pg = \"indexes\" }\ndata =", "label of no engine"),
            ("data =", "best_steps = { sqlite = \"x\" }\ndata =", "label of no engine"),
            ("data =", "best_steps = { 'postgres:18' = \"x\" }\ndata =", "`x` is the name of no"),
            (
                "[[step]]\n        name = \"unchanged\"",
                "factors = { step = [\"x\"] }",
                "leave it out",
            ),
        ] {
            let text = PLAN.replacen(from, to, 1);
            let error = crate::read(&text, "t.toml").unwrap_err().to_string();
            assert!(error.contains(expected), "{to}: {error}");
        }
    }
}
