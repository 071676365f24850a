//! Gains and costs of each step of each engine.

use super::{Teller, times};
use crate::analysis::{RowKey, Shown, StepGain};

impl Teller<'_> {
    /// A sentence for each step of each engine that brought or cost something.
    pub(super) fn gains(&self) -> Vec<String> {
        let mut said = Vec::new();
        for (engine, of) in self.steps.engines.iter().enumerate() {
            for step in 1..of.steps.len() {
                said.extend(self.gain(engine, step));
            }
        }
        said
    }

    pub(super) fn gain(&self, engine: usize, step: usize) -> Option<String> {
        let of_step = |gain: &&StepGain| {
            gain.engine == engine && gain.step == step && gain.row != RowKey::Total
        };
        let gains: Vec<&StepGain> = self.steps.gains.iter().filter(of_step).collect();
        let parts = |shown, faster: bool| {
            let of = gains.iter().filter(|gain| gain.compared.shown() == shown);
            let of: Vec<(RowKey, f64)> =
                of.map(|gain| (gain.row, times(gain.compared.ratio, faster))).collect();
            (self.most_of(&of, if faster { "fast" } else { "slow" }), of.len())
        };
        let (faster, _) = parts(Shown::Faster, true);
        let (slower, _) = parts(Shown::Slower, false);
        let count = |shown| gains.iter().filter(|gain| gain.compared.shown() == shown).count();
        let mut said: Vec<String> = Vec::new();
        said.extend(faster.map(|of| format!("faster for {of}")));
        said.extend(slower.map(|of| format!("slower for {of}")));
        let within = self.wording.plan.equivalent_within;
        said.extend(match count(Shown::Equal) {
            0 => None,
            all if all == gains.len() => Some(format!("without effect (equal within {within})")),
            count => Some(format!("without effect on {count} (equal within {within})")),
        });
        said.extend(match count(Shown::Undecided) {
            0 => None,
            count => Some(format!("undecided for {count}")),
        });
        let name = &self.steps.engines.get(engine)?.steps.get(step)?.step;
        (!said.is_empty()).then(|| format!("{}, {name}: {}.", self.engine(engine), said.join(", ")))
    }
}
