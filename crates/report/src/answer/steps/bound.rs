//! Steps against the user's own bound.

use plan::{EnoughBound, EnoughStatistic};

use super::conclusion::MeasuredStep;
use super::{Conclusion, StepConclusion, Teller, of_statements, shortened};
use crate::analysis::{BoundRow, BoundRowVerdict, Enough, RowKey};
use crate::answer::size;

impl Teller<'_> {
    /// The conclusion on one engine.
    pub(super) fn of_bound(&self, bound: EnoughBound, concluded: &StepConclusion) -> String {
        let engine = concluded.engine;
        let steps = self.steps.bounds_of(engine);
        let Some(last) = steps.last() else {
            return format!("Undecided: nothing was measured of {}.", self.engine(engine));
        };
        match concluded.conclusion {
            Conclusion::Enough(step) => {
                let statements = of_statements(last.rows.len(), last.rows.len());
                let kept =
                    format!("{} keeps to {bound} for {statements}.", self.begun(engine, step));
                kept + &self.unchanged_beside(bound, engine, step)
            }
            Conclusion::NotEnough => format!(
                "{} misses {}: {}.",
                self.begun(engine, last.step),
                bound,
                self.with(last, BoundRowVerdict::Missed)
            ),
            Conclusion::Undecided => format!(
                "Undecided whether {} keeps to {}: {}.",
                self.engine_at(engine, last.step),
                bound,
                self.open(bound, last)
            ),
        }
    }

    /// The unchanged engine, where a later step keeps to the bound.
    fn unchanged_beside(&self, bound: EnoughBound, engine: usize, kept_at: usize) -> String {
        let steps = self.steps.bounds_of(engine);
        let first = steps.first().filter(|first| first.step == 0 && kept_at > 0);
        match first.map(|first| (first, first.enough)) {
            Some((first, Enough::No)) => {
                let missed = self.with(first, BoundRowVerdict::Missed);
                format!(" {} misses it: {missed}.", self.begun(engine, 0))
            }
            Some((first, Enough::Open)) => {
                let (name, open) = (self.engine_at(engine, 0), self.open(bound, first));
                format!(" Whether {name} keeps to it is undecided: {open}.")
            }
            Some((_, Enough::Yes)) | None => String::new(),
        }
    }

    /// `2 of 8 statements ("x" 140 ms, "y" 120 ms)`.
    fn with(&self, step: &MeasuredStep<'_, BoundRow>, verdict: BoundRowVerdict) -> String {
        let rows = step.rows.iter().enumerate().filter(|(_, row)| row.verdict == verdict);
        let named: Vec<String> = rows
            .map(|(index, row)| {
                let name = self.name(RowKey::Statement(index));
                row.value
                    .map_or(name.clone(), |value| format!("{name} {}", size::time(value.value)))
            })
            .collect();
        match step.rows.len() {
            1 => named.concat(),
            all => format!("{} ({})", of_statements(named.len(), all), shortened(&named)),
        }
    }

    /// The reason why an engine's last step has no verdict.
    fn open(&self, bound: EnoughBound, step: &MeasuredStep<'_, BoundRow>) -> String {
        let has = |verdict| step.rows.iter().any(|row| row.verdict == verdict);
        let mut said = Vec::new();
        if has(BoundRowVerdict::Open) {
            said.push(format!("undecided for {}", self.with(step, BoundRowVerdict::Open)));
        }
        if has(BoundRowVerdict::TooFew) {
            let statements = self.with(step, BoundRowVerdict::TooFew);
            said.push(format!(
                "too few executions in a trial for {statements}, of which {} needs {} and a mean one",
                bound.statistic.name(),
                executions_needed(bound.statistic)
            ));
        }
        if has(BoundRowVerdict::NotMeasured) {
            let statements = self.with(step, BoundRowVerdict::NotMeasured);
            said.push(format!("not measured there: {statements}"));
        }
        said.join("; ")
    }
}

/// Ten beyond the percentile.
fn executions_needed(statistic: EnoughStatistic) -> u32 {
    match statistic {
        EnoughStatistic::Mean => 1,
        EnoughStatistic::P50 => 20,
        EnoughStatistic::P95 => 200,
        EnoughStatistic::P99 => 1_000,
    }
}
