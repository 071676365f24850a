//! The smallest step that is enough beside another engine, and what the unchanged one is.

use notation::digits;

use super::conclusion::{MeasuredStep, measured};
use super::{Conclusion, Teller, changes, of_statements};
use crate::analysis::{AgainstEngine, Enough, OneSidedVerdict, RowKey, RowVerdict, ShownSlower};
use crate::answer::size;

impl Teller<'_> {
    /// The conclusion first, then the unchanged copy where a later step decides.
    pub(super) fn verdict(&self, against: &AgainstEngine, conclusion: Conclusion) -> Vec<String> {
        let steps = measured(&against.steps);
        let Some(last) = steps.last() else {
            let other = self.engine(against.other);
            let first = self.engine(0);
            return vec![format!("Undecided: nothing was measured of {first} against {other}.")];
        };
        let concluded = match conclusion {
            Conclusion::Enough(step) => self.enough(against, step),
            Conclusion::NotEnough => format!(
                "{} is not enough: {}.",
                self.begun(0, last.step),
                self.not_enough(against.other, last.rows)
            ),
            Conclusion::Undecided => self.undecided(against.other, last),
        };
        let unchanged = self.unchanged(against, &steps, conclusion);
        std::iter::once(concluded).chain(unchanged).collect()
    }

    fn enough(&self, against: &AgainstEngine, step: usize) -> String {
        let name = self.engine(0);
        let (enough, then) = match self.steps.engines.first().map(|of| changes(of, 0, step)) {
            Some(changes) if !changes.is_empty() => {
                (format!("{name} is enough with {changes}"), "then ")
            }
            _ => (format!("Unchanged {name} is enough"), ""),
        };
        format!(
            "{enough}: it is {then}not slower than {} for {} ({}).",
            self.with_its_changes(against.other),
            self.any_row(),
            self.margin()
        )
    }

    /// `PostgreSQL 18, also with 2 indexes and settings,`: the last of its steps at which all that decides
    /// was measured.
    fn with_its_changes(&self, other: usize) -> String {
        let name = self.engine(other);
        let Some(of) = self.steps.engines.get(other) else { return name.to_owned() };
        let rows = self.steps.deciding_rows();
        let last =
            of.steps.iter().rposition(|step| rows.iter().all(|row| step.row(*row).is_some()));
        match changes(of, 0, last.unwrap_or(0)) {
            changes if changes.is_empty() => name.to_owned(),
            changes => format!("{name}, also with {changes},"),
        }
    }

    /// `PostgreSQL 18 is faster for 2 of 8 statements (...); 2 undecided`.
    fn not_enough(&self, other: usize, rows: &[RowVerdict]) -> String {
        let slower: Vec<(RowKey, ShownSlower)> =
            rows.iter().filter_map(|row| Some((row.row, row.slower_than?))).collect();
        let largest =
            slower.iter().max_by(|(_, a), (_, b)| a.ratio.value.total_cmp(&b.ratio.value));
        let Some((row, shown)) = largest else { return String::new() };
        let (factor, times) = (digits(shown.ratio.value), self.times(other, *row, *shown));
        if rows.len() == 1 {
            let (name, row) = (self.engine(other), self.name(*row));
            return format!("{name} is {factor} times as fast for {row}{times}");
        }
        let up_to = if slower.len() == 1 { "" } else { "up to " };
        let mut said = format!(
            "{} is faster for {} ({up_to}{factor} times as fast: {}{times})",
            self.engine(other),
            of_statements(slower.len(), rows.len()),
            self.name(*row),
        );
        let with = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        match with(OneSidedVerdict::NotSlower) {
            0 => {}
            count => said.push_str(&format!("; {} is not slower for {count}", self.engine(0))),
        }
        for (verdict, word) in [
            (OneSidedVerdict::Open, "undecided"),
            (OneSidedVerdict::NotMeasured, "not measured there"),
        ] {
            match with(verdict) {
                0 => {}
                count => said.push_str(&format!("; {count} {word}")),
            }
        }
        said
    }

    /// `, 0.81 ms with 2 indexes against 384 ms`.
    fn times(&self, other: usize, row: RowKey, shown: ShownSlower) -> String {
        let of = self.steps.engines.get(other);
        let theirs = of.and_then(|of| of.steps.get(shown.step)?.row(row));
        let (Some(of), Some(theirs)) = (of, theirs) else { return String::new() };
        let with = match changes(of, 0, shown.step) {
            changes if changes.is_empty() => "unchanged".to_owned(),
            changes => format!("with {changes}"),
        };
        let theirs = theirs.estimate.value;
        let [theirs, mine] = [theirs, theirs * shown.ratio.value].map(size::time);
        format!(", {theirs} {with} against {mine}")
    }

    fn undecided(&self, other: usize, last: &MeasuredStep<'_, RowVerdict>) -> String {
        let (step, other) = (self.engine_at(0, last.step), self.engine(other));
        let with = |verdict| -> Vec<RowKey> {
            let rows = last.rows.iter().filter(|row| row.verdict == verdict);
            rows.map(|row| row.row).collect()
        };
        if let [only] = last.rows {
            let row = self.name(only.row);
            let margin = self.margin();
            return format!(
                "Undecided whether {step} is enough beside {other} for {row} ({margin})."
            );
        }
        let said: Vec<String> = [
            (OneSidedVerdict::NotSlower, "not slower for"),
            (OneSidedVerdict::Open, "undecided for"),
            (OneSidedVerdict::NotMeasured, "not measured there:"),
        ]
        .into_iter()
        .filter_map(|(verdict, word)| {
            let rows = with(verdict);
            let count = of_statements(rows.len(), last.rows.len());
            let names = match verdict {
                OneSidedVerdict::NotSlower => String::new(),
                _ => format!(" ({})", self.names(&rows)),
            };
            (!rows.is_empty()).then(|| format!("{word} {count}{names}"))
        })
        .collect();
        let margin = self.margin();
        format!(
            "Undecided whether {step} is enough beside {other} ({margin}): {}.",
            said.join(", ")
        )
    }

    /// The verdict on the unchanged copy, where a later step decides. One that passes although a later
    /// step does not was not asked: steps are tested from the last one down.
    fn unchanged(
        &self,
        against: &AgainstEngine,
        steps: &[MeasuredStep<'_, RowVerdict>],
        conclusion: Conclusion,
    ) -> Option<String> {
        if conclusion == Conclusion::Enough(0) || against.steps.len() < 2 {
            return None;
        }
        let name = self.begun(0, 0);
        let Some(first) = steps.first().filter(|first| first.step == 0) else {
            return Some(format!("{name} was not measured."));
        };
        if steps.len() == 1 {
            return None;
        }
        match first.enough {
            Enough::No => Some(format!(
                "{name} is not enough: {}.",
                self.not_enough(against.other, first.rows)
            )),
            Enough::Open => {
                Some(format!("Whether {} is enough is undecided.", self.engine_at(0, 0)))
            }
            Enough::Yes => Some(format!(
                "{name} passes the test alone, which does not count: the steps after it are not shown \
                 to be enough."
            )),
        }
    }
}
