//! Gains and costs of each step of each engine.

use notation::digits;

use super::{Teller, changes, of_statements, shortened, times};
use crate::analysis::{RowKey, Shown, StepGain};
use crate::answer::size;

/// From this share on a slowdown is named although it is not shown: the SQL to be pasted brings it.
const OPEN_SLOWDOWN: f64 = 0.25;

/// A statement that takes longer at its last step than unchanged.
struct Slowdown {
    factor: f64,
    row: RowKey,
    /// Its last step.
    step: usize,
    /// Its time unchanged.
    before: f64,
}

impl Teller<'_> {
    /// A sentence for each step of each engine, and each earlier step that it is compared with.
    pub(super) fn gains(&self) -> Vec<String> {
        let mut said = Vec::new();
        for (engine, of) in self.steps.engines.iter().enumerate() {
            for step in 1..of.steps.len() {
                for before in 0..step {
                    let is = |gain: &&StepGain| {
                        let place = gain.place;
                        (place.engine, place.step, place.before) == (engine, step, before)
                    };
                    let gains: Vec<&StepGain> = self.steps.gains.iter().filter(is).collect();
                    if let Some(brought) = self.brought(&gains) {
                        let name = changes(of, before, step);
                        said.push(format!("{}, {name}: {brought}.", self.engine(engine)));
                    }
                }
            }
        }
        said
    }

    /// `SQLite's own steps make it slower for 1 of 4 statements (7.96 times as slow: "s1", 121 ms with 3
    /// indexes against 15.2 ms unchanged)`.
    pub(super) fn slowed(&self) -> Option<String> {
        let of = self.steps.engines.first()?;
        let within = self.wording.plan.equivalent_within.0;
        let shown = self.slowdowns(Shown::Slower, within);
        let is_shown = !shown.is_empty();
        let slowed = if is_shown { shown } else { self.slowdowns(Shown::Undecided, OPEN_SLOWDOWN) };
        let worst = slowed.iter().max_by(|one, other| one.factor.total_cmp(&other.factor))?;
        let Slowdown { factor, row, step, before } = *worst;
        let count = of_statements(slowed.len(), self.steps.statements.len());
        let [now, then] = [before * factor, before].map(size::time);
        let times = format!("{now} with {} against {then} unchanged", changes(of, 0, step));
        let (engine, row) = (self.engine(0), self.name(row));
        Some(match is_shown {
            true => format!(
                "{engine}'s own steps make it slower for {count} ({}{} times as slow: {row}, {times}): \
                 another index may serve better.",
                if slowed.len() == 1 { "" } else { "up to " },
                digits(factor)
            ),
            false => format!(
                "Whether {engine}'s own steps make it slower for {count} is undecided ({row}: {times})."
            ),
        })
    }

    /// The statements for which a gain of the first engine is as `shown`, and whose last step takes longer
    /// than the first by more than the share `above`.
    fn slowdowns(&self, shown: Shown, above: f64) -> Vec<Slowdown> {
        let Some(of) = self.steps.engines.first() else { return Vec::new() };
        let mut slowed: Vec<Slowdown> = Vec::new();
        let gains = self.steps.gains.iter().filter(|gain| {
            let RowKey::Statement(_) = gain.place.row else { return false };
            gain.place.engine == 0 && gain.compared.shown() == shown
        });
        for row in gains.map(|gain| gain.place.row) {
            let Some(step) = of.steps.iter().rposition(|step| step.row(row).is_some()) else {
                continue;
            };
            let time = |step: usize| Some(of.steps.get(step)?.row(row)?.estimate.value);
            let (Some(now), Some(before)) = (time(step), time(0)) else { continue };
            let is_known = slowed.iter().any(|known| known.row == row);
            if !is_known && now > before * (1.0 + above) {
                slowed.push(Slowdown { factor: now / before, row, step, before });
            }
        }
        slowed
    }

    /// Gains and losses of a step; none where nothing was compared.
    fn brought(&self, gains: &[&StepGain]) -> Option<String> {
        let (totals, statements): (Vec<&StepGain>, Vec<&StepGain>) =
            gains.iter().partition(|gain| gain.place.row == RowKey::Total);
        let with = |shown| -> Vec<&StepGain> {
            statements.iter().copied().filter(|gain| gain.compared.shown() == shown).collect()
        };
        let within = self.wording.plan.equivalent_within;
        let faster: Vec<(RowKey, f64)> = with(Shown::Faster)
            .iter()
            .map(|gain| (gain.place.row, times(gain.compared.ratio, true)))
            .collect();
        let slower: Vec<String> =
            with(Shown::Slower).into_iter().map(|gain| self.slower(gain)).collect();
        let (equal, undecided) = (with(Shown::Equal).len(), with(Shown::Undecided).len());
        let mut said: Vec<String> = Vec::new();
        said.extend(self.most(&faster, statements.len()).map(|of| format!("faster for {of}")));
        if !slower.is_empty() {
            let count = of_statements(slower.len(), statements.len());
            said.push(format!("slower for {count} ({})", shortened(&slower)));
        }
        said.extend(match equal {
            0 => None,
            all if all == statements.len() => {
                Some(format!("without effect (equal within {within})"))
            }
            count => Some(format!("without effect on {count} (equal within {within})")),
        });
        said.extend((undecided > 0).then(|| format!("undecided for {undecided}")));
        let totals = totals.iter().map(|gain| self.of_total(gain));
        let parts: Vec<String> =
            totals.chain((!said.is_empty()).then(|| said.join(", "))).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// `"x" 1.40 times as slow, 12.1 ms after 8.64 ms`.
    fn slower(&self, gain: &StepGain) -> String {
        let factor = digits(times(gain.compared.ratio, false));
        let times = self.before_and_after(gain);
        format!("{} {factor} times as slow{times}", self.name(gain.place.row))
    }

    fn of_total(&self, gain: &StepGain) -> String {
        let (ratio, times_ms) = (gain.compared.ratio, self.before_and_after(gain));
        match gain.compared.shown() {
            Shown::Faster => {
                format!("the log {} times as fast{times_ms}", digits(times(ratio, true)))
            }
            Shown::Slower => {
                format!("the log {} times as slow{times_ms}", digits(times(ratio, false)))
            }
            Shown::Equal => format!("the log equal within {}", self.wording.plan.equivalent_within),
            Shown::Undecided => "the log undecided".to_owned(),
        }
    }

    /// `, 12.1 ms after 8.64 ms`.
    fn before_and_after(&self, gain: &StepGain) -> String {
        let place = gain.place;
        let time = |step: usize| {
            let of = self.steps.engines.get(place.engine)?;
            Some(size::time(of.steps.get(step)?.row(place.row)?.estimate.value))
        };
        match (time(place.step), time(place.before)) {
            (Some(now), Some(before)) => format!(", {now} after {before}"),
            _ => String::new(),
        }
    }
}
