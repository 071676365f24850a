//! Both engines at their best, statement by statement.

use plan::with_commas;

use super::{Teller, times};
use crate::analysis::{AgainstEngine, BestComparison, EngineSteps, NOT_FELT_MS, RowKey, Shown};
use crate::answer::size;

impl Teller<'_> {
    /// Both at their best, and that one was searched less hard.
    pub(super) fn at_best(&self, against: &AgainstEngine) -> Option<String> {
        let other = self.steps.engines.get(against.other)?;
        let first = self.steps.engines.first()?;
        let statements: Vec<&BestComparison> =
            against.best.iter().filter(|one| one.row != RowKey::Total).collect();
        let name = self.engine(0);
        let parts = |shown, faster: bool| {
            let of = statements.iter().filter(|one| one.compared.shown() == shown);
            let of: Vec<(RowKey, f64)> =
                of.map(|one| (one.row, times(one.compared.ratio, faster))).collect();
            self.most(&of)
        };
        let mut said: Vec<String> = Vec::new();
        if let Some(total) = against.best.iter().find(|one| one.row == RowKey::Total) {
            said.push(self.total_at_best(total, first, other));
        }
        said.extend(parts(Shown::Faster, true).map(|of| format!("{name} is faster for {of}")));
        said.extend(
            parts(Shown::Slower, false)
                .map(|of| format!("{} is faster for {of}", self.engine(against.other))),
        );
        let count = |shown| statements.iter().filter(|one| one.compared.shown() == shown).count();
        let equal = match count(Shown::Equal) {
            0 => None,
            count => Some(format!("{count} equal within {}", self.wording.plan.equivalent_within)),
        };
        said.extend(equal);
        said.extend(match count(Shown::Undecided) {
            0 => None,
            count => Some(format!("{count} undecided")),
        });
        if said.is_empty() {
            return None;
        }
        let not_felt = statements
            .iter()
            .filter(|one| {
                !one.is_felt && matches!(one.compared.shown(), Shown::Faster | Shown::Slower)
            })
            .count();
        let not_felt = match (not_felt, self.steps.deciding_rows().first()) {
            (0, _) => String::new(),
            (count, Some(RowKey::Total)) => {
                format!(" {count} of these differences are below 5% of the log's total.")
            }
            (count, _) => {
                format!(
                    " {count} of these differences are below {NOT_FELT_MS} ms: nobody feels them."
                )
            }
        };
        Some(format!(
            "Each at its best ({}; {}): {}.{not_felt}",
            self.engine_at(0, first.best),
            self.engine_at(against.other, other.best),
            said.join("; ")
        ))
    }

    pub(super) fn total_at_best(
        &self,
        total: &BestComparison,
        first: &EngineSteps,
        other: &EngineSteps,
    ) -> String {
        let value = |of: &EngineSteps| {
            of.at_best().and_then(|step| step.total.as_ref()).map(|total| total.estimate.value)
        };
        let (Some(mine), Some(theirs)) = (value(first), value(other)) else {
            return "the log's total is not known".to_owned();
        };
        let executions: u64 = self.steps.executions.iter().flatten().sum();
        format!(
            "the log's {} statements take {} and {} ({})",
            with_commas(executions),
            size::time(mine),
            size::time(theirs),
            match total.compared.shown() {
                Shown::Faster => format!("{} faster", self.wording.names.get(&first.engine)),
                Shown::Slower => format!("{} faster", self.wording.names.get(&other.engine)),
                Shown::Equal => format!("equal within {}", self.wording.plan.equivalent_within),
                Shown::Undecided => "undecided".to_owned(),
            }
        )
    }
}
