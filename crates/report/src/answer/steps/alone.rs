//! An engine without another beside it: the smallest of its steps that no later one makes faster.

use notation::digits;

use super::conclusion::{MeasuredStep, measured};
use super::{Conclusion, Teller, changes, of_statements};
use crate::analysis::{Enough, OneSidedVerdict, RowKey, RowVerdict, ShownSlower};
use crate::answer::size;

impl Teller<'_> {
    /// The conclusion first, then what stays open of the unchanged engine.
    pub(super) fn alone(&self, conclusion: Option<Conclusion>) -> Vec<String> {
        let steps = measured(&self.steps.alone);
        match conclusion {
            None => vec![self.only_unchanged()],
            Some(Conclusion::Enough(step)) => {
                let unchanged = self.open_unchanged(&steps, step);
                std::iter::once(self.enough_alone(&steps, step)).chain(unchanged).collect()
            }
            Some(Conclusion::NotEnough | Conclusion::Undecided) => {
                vec![self.undecided_alone(&steps)]
            }
        }
    }

    /// `PostgreSQL was not compared`, with the command of a try that compares it.
    pub(super) fn not_compared(&self) -> String {
        match self.to_compare {
            Some(command) => format!("PostgreSQL was not compared ({command} compares it)."),
            None => "No other engine was compared.".to_owned(),
        }
    }

    fn enough_alone(&self, steps: &[MeasuredStep<'_, RowVerdict>], step: usize) -> String {
        let (name, margin) = (self.engine(0), self.margin());
        let limit = format!("as far as {name} alone can tell ({margin})");
        if step == 0 {
            let rows = self.any_row();
            return format!(
                "Unchanged {name} is enough, {limit}: no later step is faster for {rows}."
            );
        }
        let with = self.steps.engines.first().map(|of| changes(of, 0, step)).unwrap_or_default();
        let place = steps.iter().position(|one| one.step == step);
        let after = match place {
            Some(place) if place + 1 < steps.len() => {
                Some(format!("no later step is faster for {}", self.any_row()))
            }
            Some(place) if place > 1 => steps.get(place - 1).map(|before| self.slower_than(before)),
            _ => None,
        };
        let unchanged = steps.first().filter(|first| first.step == 0);
        let faster = unchanged.and_then(|first| self.faster_than_unchanged(first, step));
        let faster = faster.map(|faster| format!("it is then {faster}"));
        let said: Vec<String> = faster.into_iter().chain(after).collect();
        format!("{name} is enough with {with}, {limit}: {}.", said.join("; "))
    }

    /// `faster for 1 of 3 statements (475 times as fast: "s1", 0.81 ms against 384 ms unchanged)`.
    fn faster_than_unchanged(
        &self,
        first: &MeasuredStep<'_, RowVerdict>,
        step: usize,
    ) -> Option<String> {
        let shown = first.rows.iter().filter_map(|row| Some((row.row, row.slower_than?)));
        let shown: Vec<(RowKey, ShownSlower)> = shown.filter(|(_, one)| one.step == step).collect();
        let largest = shown.iter().max_by(|(_, a), (_, b)| a.ratio.value.total_cmp(&b.ratio.value));
        let (row, most) = largest?;
        let now = self.steps.engines.first()?.steps.get(step)?.row(*row)?.estimate.value;
        let [now, before] = [now, now * most.ratio.value].map(size::time);
        let (factor, name) = (digits(most.ratio.value), self.name(*row));
        let times = format!("{now} against {before} unchanged");
        Some(match first.rows.len() {
            1 => format!("{factor} times as fast for {name}, {times}"),
            all => {
                let (count, up_to) = (of_statements(shown.len(), all), up_to(shown.len()));
                format!("faster for {count} ({up_to}{factor} times as fast: {name}, {times})")
            }
        })
    }

    /// `with 2 indexes alone it is slower for all 3 statements`.
    fn slower_than(&self, before: &MeasuredStep<'_, RowVerdict>) -> String {
        let with = self.steps.engines.first().map(|of| changes(of, 0, before.step));
        let slower = before.rows.iter().filter(|row| row.verdict == OneSidedVerdict::Slower);
        let rows = match before.rows {
            [only] => self.name(only.row),
            all => of_statements(slower.count(), all.len()),
        };
        format!("with {} alone it is slower for {rows}", with.unwrap_or_default())
    }

    fn open_unchanged(
        &self,
        steps: &[MeasuredStep<'_, RowVerdict>],
        enough: usize,
    ) -> Option<String> {
        let first = steps.first().filter(|first| first.step == 0);
        match first.map(|first| first.enough) {
            None => Some(format!("{} was not measured.", self.begun(0, 0))),
            Some(Enough::Open) if enough > 0 => {
                Some(format!("Whether {} is enough is undecided.", self.engine_at(0, 0)))
            }
            Some(_) => None,
        }
    }

    fn undecided_alone(&self, steps: &[MeasuredStep<'_, RowVerdict>]) -> String {
        let name = self.engine(0);
        let open = match steps {
            [] => return format!("Undecided: nothing was measured of {name}."),
            [only] => {
                let only = self.engine_at(0, only.step);
                return format!("Undecided: {only} was measured at no other step.");
            }
            steps => steps.iter().rfind(|one| one.enough != Enough::Yes),
        };
        let why = match open {
            Some(open) if open.enough == Enough::Open => self.open_alone(open),
            // A step between is slower.
            Some(slower) => format!(
                "{} is not slower than any later step, but {} is",
                self.engine_at(0, 0),
                self.engine_at(0, slower.step)
            ),
            None => String::new(),
        };
        // The verdicts name the last step while no smaller one is enough.
        let faster = steps.first().zip(steps.last()).filter(|(first, _)| first.step == 0);
        let faster = faster.and_then(|(first, last)| {
            let faster = self.faster_than_unchanged(first, last.step)?;
            Some(format!("{} is {faster}; undecided", self.begun(0, last.step)))
        });
        let begun = faster.unwrap_or_else(|| "Undecided".to_owned());
        format!("{begun} which step of {name} is enough ({}): {why}.", self.margin())
    }

    /// `whether a step after unchanged SQLite is faster is undecided for 2 of 3 statements ("a", "b")`.
    fn open_alone(&self, open: &MeasuredStep<'_, RowVerdict>) -> String {
        let at = self.engine_at(0, open.step);
        let said = [
            (
                OneSidedVerdict::Open,
                format!("whether a step after {at} is faster is undecided for"),
            ),
            (OneSidedVerdict::NotMeasured, format!("{at} was not measured for")),
        ];
        let said = said.into_iter().filter_map(|(verdict, words)| {
            let rows = open.rows.iter().filter(|row| row.verdict == verdict);
            let rows: Vec<RowKey> = rows.map(|row| row.row).collect();
            match (rows.as_slice(), open.rows.len()) {
                ([], _) => None,
                ([only], 1) => Some(format!("{words} {}", self.name(*only))),
                (rows, all) => {
                    let count = of_statements(rows.len(), all);
                    Some(format!("{words} {count} ({})", self.names(rows)))
                }
            }
        });
        said.collect::<Vec<_>>().join("; ")
    }

    /// The time of the slowest row of an engine that has no other step.
    fn only_unchanged(&self) -> String {
        let name = self.engine(0);
        let first = self.steps.engines.first().and_then(|of| of.steps.first());
        let rows = self.steps.deciding_rows();
        let times = rows.iter().filter_map(|row| Some((*row, first?.row(*row)?.estimate.value)));
        let Some((row, longest)) = times.max_by(|(_, a), (_, b)| a.total_cmp(b)) else {
            return format!("Undecided: nothing was measured of {name}.");
        };
        let (row, longest) = (self.name(row), size::time(longest));
        let words = if rows.len() == 1 { "took" } else { "took longest," };
        format!("{name} was measured unchanged only: {row} {words} {longest}.")
    }

    /// `any of the 3 statements`.
    pub(super) fn any_row(&self) -> String {
        match self.steps.deciding_rows().as_slice() {
            [RowKey::Total] => self.log(),
            [_] => "the statement".to_owned(),
            rows => format!("any of the {} statements", rows.len()),
        }
    }
}

fn up_to(count: usize) -> &'static str {
    if count == 1 { "" } else { "up to " }
}
