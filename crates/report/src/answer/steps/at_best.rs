//! Both engines at their best, statement by statement.

use notation::digits;

use super::conclusion::measured;
use super::{Teller, times};
use crate::analysis::{AgainstEngine, BestComparison, OneSidedVerdict, RowKey, Shown};
use crate::answer::size;

/// Why the first sentence may be undecided of what this one decides.
const TESTED_TOGETHER: &str = " Whether a step is enough is tested against all steps together, which asks \
                               for clearer differences than one comparison.";

impl Teller<'_> {
    pub(super) fn at_best(&self, against: &AgainstEngine) -> Option<String> {
        let other = self.steps.engines.get(against.other)?;
        let first = self.steps.engines.first()?;
        let (totals, statements): (Vec<&BestComparison>, Vec<&BestComparison>) =
            against.best.iter().partition(|one| one.row == RowKey::Total);
        let with = |shown| statements.iter().filter(move |one| one.compared.shown() == shown);
        let faster = |shown, engine: usize| {
            let of: Vec<(RowKey, f64)> = with(shown)
                .map(|one| (one.row, times(one.compared.ratio, shown == Shown::Faster)))
                .collect();
            self.most(&of, statements.len())
                .map(|of| format!("{} is faster for {of}", self.engine(engine)))
        };
        let mut said: Vec<String> =
            totals.iter().filter_map(|total| self.total_at_best(total, against.other)).collect();
        said.extend(faster(Shown::Faster, 0));
        said.extend(faster(Shown::Slower, against.other));
        let within = self.wording.plan.equivalent_within;
        let (equal, undecided) = (with(Shown::Equal).count(), with(Shown::Undecided).count());
        said.extend((equal > 0).then(|| format!("{equal} equal within {within}")));
        said.extend((undecided > 0).then(|| format!("{undecided} undecided")));
        if said.is_empty() {
            return None;
        }
        let is_open = |row: RowKey| {
            let last = measured(&against.steps).last().map(|last| last.rows).unwrap_or_default();
            last.iter().any(|one| one.row == row && one.verdict == OneSidedVerdict::Open)
        };
        let asks_less = with(Shown::Slower).any(|one| is_open(one.row));
        Some(format!(
            "Each at its best ({}; {}): {}.{}{}",
            self.engine_at(0, first.best),
            self.engine_at(against.other, other.best),
            said.join("; "),
            self.not_felt(&statements),
            if asks_less { TESTED_TOGETHER } else { "" }
        ))
    }

    /// How many of the differences shown decide nothing.
    fn not_felt(&self, statements: &[&BestComparison]) -> String {
        let is_shown =
            |one: &BestComparison| matches!(one.compared.shown(), Shown::Faster | Shown::Slower);
        let small = self.steps.not_felt();
        match statements.iter().filter(|one| is_shown(one) && !one.is_felt).count() {
            0 => String::new(),
            1 => format!(" 1 of these differences is {small}."),
            count => format!(" {count} of these differences are {small}."),
        }
    }

    /// `PostgreSQL 18 is 1.97 times as fast for the log's 676 executions, 496 ms against 976 ms`.
    fn total_at_best(&self, total: &BestComparison, other: usize) -> Option<String> {
        let value = |engine: usize| {
            let of = self.steps.engines.get(engine)?;
            Some(of.at_best()?.total.as_ref()?.estimate.value)
        };
        let (mine, theirs) = (value(0)?, value(other)?);
        let log = self.log();
        let faster = |engine: usize, factor: f64, fast: f64, slow: f64| {
            let [fast, slow] = [fast, slow].map(size::time);
            let (name, factor) = (self.engine(engine), digits(factor));
            format!("{name} is {factor} times as fast for {log}, {fast} against {slow}")
        };
        let ratio = total.compared.ratio;
        let [took, theirs_took] = [mine, theirs].map(size::time);
        Some(match total.compared.shown() {
            Shown::Faster => faster(0, times(ratio, true), mine, theirs),
            Shown::Slower => faster(other, times(ratio, false), theirs, mine),
            Shown::Equal => {
                let within = self.wording.plan.equivalent_within;
                format!("{log} take {took} and {theirs_took}, equal within {within}")
            }
            Shown::Undecided => format!("{log} take {took} and {theirs_took}, undecided"),
        })
    }
}
