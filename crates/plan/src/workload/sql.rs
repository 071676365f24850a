//! Workload `sql`: statements that our own clients send to the engine itself.

use super::{Operation, WorkloadRules};
use crate::{Level, Levels, Plan, PlanError, STEP};

pub(super) struct SqlRules<'p>(pub &'p Plan);

impl WorkloadRules for SqlRules<'_> {
    fn own_key(&self) -> Option<&'static str> {
        let invariant = self.0.invariant.as_ref().map(|_| "invariant");
        (!self.0.statements.is_empty()).then_some("statement").or(invariant)
    }

    fn own_data(&self) -> Option<String> {
        None
    }

    fn only_reads(&self) -> bool {
        let reads = |sql: &str| {
            let sql = sql.trim_start().to_ascii_lowercase();
            sql.is_empty() || sql.starts_with("select") || sql.starts_with("values")
        };
        // A transaction may read first and write then.
        let all_read = |sql: &String| sql.split(';').all(reads);
        self.0.statements.iter().all(|one| one.all_texts().all(all_read))
    }

    fn check(&self) -> Result<(), PlanError> {
        self.0.check_sql()
    }

    fn texts(&self) -> Vec<(String, String)> {
        let plan = self.0;
        let mut texts = Vec::new();
        for (index, statement) in plan.statements.iter().enumerate() {
            let key = format!("statement.{index}.text");
            texts.extend(statement.all_texts().map(|text| (key.clone(), text.clone())));
            let in_path = statement.version_factors();
            texts.extend(in_path.map(|name| (key.clone(), format!("{{{name}}}"))));
            // A factor may be a bound parameter as well.
            let names = plan.factors.keys().chain(plan.constants.keys());
            let names = names.filter(|name| statement.binds(name));
            texts.extend(names.map(|name| (key.clone(), format!("{{{name}}}"))));
            if plan.constants.contains_key("start") && statement.binds("end") {
                texts.push((key, "{end}".to_owned()));
            }
        }
        texts
    }

    fn operations(&self) -> Vec<Operation> {
        let statements = self.0.statements.iter();
        statements.map(|one| Operation { name: one.name.clone(), weight: one.weight }).collect()
    }

    fn is_left_out(&self, index: usize, levels: &Levels) -> bool {
        let steps = self.0.statements.get(index).map(|statement| &statement.steps);
        let is_at = |step: &String| {
            levels.get(STEP).is_none_or(|level| matches!(level, Level::Text(name) if name == step))
        };
        steps.is_some_and(|steps| !steps.is_empty() && !steps.iter().any(is_at))
    }
}

impl Plan {
    /// Reads the statements whose files have placeholders in their paths.
    pub(crate) fn read_statement_versions(&mut self) -> Result<(), PlanError> {
        for (index, statement) in self.statements.iter_mut().enumerate() {
            statement.read_versions(&self.constants, &self.factors).map_err(|message| {
                PlanError::impossible(&format!("statement.{index}.file"), message)
            })?;
        }
        Ok(())
    }

    fn check_sql(&self) -> Result<(), PlanError> {
        if self.statements.is_empty() {
            let message = "there is none; write [[statement]] and file = \"query.sql\"";
            return Err(PlanError::impossible("statement", message));
        }
        for (index, statement) in self.statements.iter().enumerate() {
            statement.check(index)?;
            let mut earlier = self.statements.iter().take(index);
            if earlier.any(|other| other.name == statement.name) {
                let message = format!("two are called {}; give one another name", statement.name);
                return Err(PlanError::impossible(&format!("statement.{index}.name"), message));
            }
        }
        Ok(())
    }
}
