//! Steps against the user's own bound.

use super::{Conclusion, Teller, shortened, smallest};
use crate::analysis::{Enough, RowKey};
use crate::answer::names::capital;
use crate::answer::size;

impl Teller<'_> {
    /// Against the user's own bound.
    pub(super) fn of_bound(&self) -> (Conclusion, Vec<String>) {
        let Some(bound) = self.wording.plan.enough else {
            return (Conclusion::Undecided, Vec::new());
        };
        let statements = match self.steps.statements.len() {
            1 => "the statement".to_owned(),
            many => format!("all {many} statements"),
        };
        let of_engine = |engine: usize| -> Vec<Enough> {
            let own = self.steps.bounds.iter().filter(|one| one.engine == engine);
            own.map(|one| one.enough).collect()
        };
        let mut said = Vec::new();
        let mut overall = Conclusion::Undecided;
        for engine in 0..self.steps.engines.len() {
            let verdicts = of_engine(engine);
            let conclusion = smallest(&verdicts);
            if engine == 0 {
                overall = conclusion;
            }
            said.push(match conclusion {
                Conclusion::Enough(step) => {
                    let engine = capital(&self.engine_at(engine, step));
                    format!("{engine} keeps to {bound} for {statements}.")
                }
                Conclusion::NotEnough => {
                    let last = self.engine_at(engine, verdicts.len().saturating_sub(1));
                    format!("{} misses {bound}: {}.", capital(&last), self.missing(engine))
                }
                Conclusion::Undecided => {
                    let last = self.engine_at(engine, verdicts.len().saturating_sub(1));
                    format!(
                        "Whether {last} keeps to {bound} is undecided: {}.",
                        self.missing(engine)
                    )
                }
            });
            if matches!(conclusion, Conclusion::Enough(_)) {
                break;
            }
        }
        (overall, said)
    }

    /// The statements that the last step of an engine is not shown to keep within the bound.
    pub(super) fn missing(&self, engine: usize) -> String {
        let last = self.steps.bounds.iter().rfind(|one| one.engine == engine);
        let rows = last.map_or(&[][..], |last| &last.rows);
        let missing: Vec<String> = rows
            .iter()
            .enumerate()
            .filter(|(_, (_, kept))| *kept != Some(true))
            .map(|(index, (value, _))| {
                let name = self.name(RowKey::Statement(index));
                match value {
                    Some(value) => format!("{name} {}", size::time(value.value)),
                    None => format!("{name} has too few executions in a trial"),
                }
            })
            .collect();
        shortened(&missing)
    }
}
