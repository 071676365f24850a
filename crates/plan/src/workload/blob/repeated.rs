//! Lines of workload `blob` that do just the same at some levels: how a file is read makes no
//! difference to overwriting it, nor how it is written to reading it. The first of them is measured;
//! the others would be the same again, with other noise.

use engine::EngineSpec;

use super::BlobStorage;
use crate::{Levels, Plan, PlanError};

/// Whether an earlier line does at `cell` just what line number `index` does.
pub(super) fn repeats(plan: &Plan, index: usize, cell: &Levels) -> bool {
    let Ok(blobs) = plan.blob_at(cell) else { return false };
    let line = |index: usize| {
        let engine = plan.engine_at(index, cell).ok()?;
        BlobStorage::at(&engine, &blobs).ok().map(|(_, line)| line)
    };
    line(index).is_some_and(|own| {
        let mut earlier = (0..index).filter_map(line);
        earlier.any(|other| own.equals_in(&other, blobs.operation))
    })
}

impl Plan {
    /// The labels of the lines that would be measured nowhere.
    fn repeated_lines(&self) -> Vec<String> {
        let (cells, rules) = (self.cells(), self.rules());
        let all = self.engines.iter().enumerate();
        let repeated =
            all.filter(|(index, _)| cells.iter().all(|cell| rules.repeats(*index, cell)));
        repeated.map(|(_, engine)| engine.label()).collect()
    }

    /// Leaves lines out that would be measured nowhere, since an earlier one does just the same in
    /// all that is left of the plan.
    pub fn leave_out_repeated_lines(&mut self) {
        let repeated = self.repeated_lines();
        self.engines.retain(|engine: &EngineSpec| !repeated.contains(&engine.label()));
    }

    /// Refuses them: the report would have no figures for them.
    pub fn refuse_repeated_lines(&self) -> Result<(), PlanError> {
        match self.repeated_lines().first() {
            None => Ok(()),
            Some(label) => {
                let message = format!("{label} measures the same as an earlier engine; remove it");
                Err(PlanError::impossible("engines", message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(engines: &str, operations: &str) -> String {
        format!(
            "title = \"blobs\"\nworkload = \"blob\"\nengines = {engines}\n\
             [blob]\noperation = \"{{operation}}\"\n[factors]\noperation = {operations}\n"
        )
    }

    #[test]
    fn updates_use_the_first_of_lines_differing_in_reading() {
        let engines =
            r#"["sqlite", "dir[read=stdio]", "dir[read=plain]", "dir[fsync=on]", "tree"]"#;
        let plan = crate::read(&text(engines, r#"["read", "update"]"#), "blob.toml").unwrap();
        let design = crate::Design::of(&plan);
        let measured = design.treatments();
        let at = |operation: &str| -> Vec<usize> {
            let of = |levels: &Levels| levels["operation"].to_string() == operation;
            let found = measured.iter().filter(|(_, levels)| of(levels));
            found.map(|(index, _)| *index).collect()
        };
        // dir[fsync=on] is read as dir[read=stdio] is, dir[read=plain] overwritten as that is.
        assert_eq!(at("read"), [0, 1, 2, 4]);
        assert_eq!(at("update"), [0, 1, 3, 4]);
    }

    #[test]
    fn a_line_measured_nowhere_is_refused_or_left_out() {
        let engines = r#"["dir[read=stdio]", "dir[read=plain]"]"#;
        let updates = text(engines, r#"["update"]"#);
        let plan = crate::read(&updates, "blob.toml").unwrap();
        let refusal = plan.refuse_repeated_lines().unwrap_err().to_string();
        assert!(
            refusal.contains("dir[read=plain] measures the same as an earlier engine"),
            "{refusal}"
        );
        let mut plan = crate::parse(&updates, "blob.toml").unwrap();
        plan.leave_out_repeated_lines();
        let labels: Vec<String> =
            plan.resolved().unwrap().engines.iter().map(EngineSpec::label).collect();
        assert_eq!(labels, ["dir[read=stdio]"]);
        let reads = crate::read(&text(engines, r#"["read"]"#), "blob.toml").unwrap();
        assert!(reads.refuse_repeated_lines().is_ok());
    }
}
