//! The smallest step that is enough beside another engine, and what the unchanged one is.

use plan::counted;

use super::{Conclusion, Teller, last_measured, with};
use crate::analysis::{
    AgainstEngine, Enough, OneSidedVerdict, RowKey, RowVerdict, StepVerdict, digits,
};
use crate::answer::names::capital;
use crate::answer::size;

impl Teller<'_> {
    pub(super) fn verdict(&self, against: &AgainstEngine, conclusion: Conclusion) -> Vec<String> {
        let other = self.engine(against.other);
        let last = last_measured(&against.steps);
        let rows = self.all_rows();
        match conclusion {
            Conclusion::Enough(0) => vec![format!(
                "{other} is not needed: {} is not slower for {rows} ({}).",
                self.engine_at(0, 0),
                self.margin()
            )],
            Conclusion::Enough(step) => {
                let changes = self.steps.engines.first().map(|of| with(of, step));
                vec![format!(
                    "{} is enough with {}: it is then not slower than {other} for {rows} ({}){}.",
                    self.engine(0),
                    changes.unwrap_or_default(),
                    self.margin(),
                    self.same_changes(against.other)
                )]
            }
            Conclusion::NotEnough => {
                let rows = last.map_or(&[][..], |last| &last.rows);
                let slower = rows_with(rows, OneSidedVerdict::Slower);
                let open = rows_with(rows, OneSidedVerdict::Open).len();
                let open = match open {
                    0 => String::new(),
                    open => format!("; {} undecided", counted(open, "statement")),
                };
                vec![format!(
                    "{} is not enough: {}{open}.",
                    capital(&self.engine_at(0, last.map_or(0, |last| last.step))),
                    self.slower(against.other, &slower)
                )]
            }
            Conclusion::Undecided => vec![self.undecided(against, last)],
        }
    }

    /// `, measured with the same indexes`: what the other engine had at its steps.
    pub(super) fn same_changes(&self, other: usize) -> String {
        let Some(of) = self.steps.engines.get(other) else { return String::new() };
        match with(of, of.steps.len().saturating_sub(1)) {
            changes if changes.is_empty() => String::new(),
            changes => format!(", which had {changes} too"),
        }
    }

    pub(super) fn undecided(&self, against: &AgainstEngine, last: Option<&StepVerdict>) -> String {
        let rows = last.map_or(&[][..], |last| &last.rows);
        let step = self.engine_at(0, last.map_or(0, |last| last.step));
        let other = self.engine(against.other);
        let not_slower = rows_with(rows, OneSidedVerdict::NotSlower).len();
        let open: Vec<RowKey> = rows
            .iter()
            .filter(|row| {
                matches!(row.verdict, OneSidedVerdict::Open | OneSidedVerdict::NotMeasured)
            })
            .map(|row| row.row)
            .collect();
        if rows.is_empty() || rows.iter().all(|row| row.verdict == OneSidedVerdict::NotMeasured) {
            return format!("Undecided: nothing was measured of {step} against {other}.");
        }
        let of_statements = match rows {
            [only] if only.row == RowKey::Total => "for the whole log".to_owned(),
            _ => format!(
                "it is not slower for {not_slower} of {}, undecided for {} ({})",
                counted(rows.len(), "statement"),
                open.len(),
                self.names(&open)
            ),
        };
        format!("Undecided whether {step} is enough beside {other}: {of_statements}.")
    }

    /// The verdict on the unchanged copy, where a later step decides.
    pub(super) fn unchanged(
        &self,
        against: &AgainstEngine,
        conclusion: Conclusion,
    ) -> Option<String> {
        let first = against.steps.first()?;
        if conclusion == Conclusion::Enough(0) || against.steps.len() < 2 {
            return None;
        }
        let slower = rows_with(&first.rows, OneSidedVerdict::Slower);
        let name = self.engine_at(0, 0);
        match first.enough {
            Enough::No => {
                let name = capital(&name);
                Some(format!("{name} is not enough: {}.", self.slower(against.other, &slower)))
            }
            Enough::Open => Some(format!("Whether {name} is enough is undecided.")),
            Enough::Yes => None,
        }
    }

    /// `PostgreSQL 18 is faster for 3 (up to 475 times as fast: "x", 0.81 ms against 384 ms)`.
    pub(super) fn slower(&self, other: usize, slower: &[&RowVerdict]) -> String {
        let largest = slower.iter().filter_map(|row| Some((row.row, row.worst?)));
        let largest = largest.max_by(|(_, (_, a)), (_, (_, b))| a.value.total_cmp(&b.value));
        let name = self.engine(other);
        let Some((row, (step, ratio))) = largest else {
            return format!("{name} is shown faster");
        };
        let theirs = self.steps.engines.get(other).and_then(|of| of.steps.get(step)?.row(row));
        let times = theirs.map(|theirs| {
            let theirs = theirs.estimate.value;
            let [theirs, ours] = [theirs, theirs * ratio.value].map(size::time);
            format!(", {theirs} against {ours}")
        });
        let times = times.unwrap_or_default();
        let factor = digits(ratio.value);
        match (row, slower.len()) {
            (RowKey::Total, _) => {
                format!("{name} is {factor} times as fast for the whole log{times}")
            }
            (_, 1) => {
                format!("{name} is {factor} times as fast for {}{times}", self.name(row))
            }
            (_, many) => format!(
                "{name} is faster for {many} statements (up to {factor} times as fast: {}{times})",
                self.name(row)
            ),
        }
    }
}

fn rows_with(rows: &[RowVerdict], verdict: OneSidedVerdict) -> Vec<&RowVerdict> {
    rows.iter().filter(|row| row.verdict == verdict).collect()
}
