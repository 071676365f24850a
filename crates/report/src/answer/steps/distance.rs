//! Distances in the answer of a plan with steps: where a sentence holds, up to where the other engine is
//! faster, what distance costs.

use std::collections::BTreeMap;

use notation::digits;
use plan::{DELAY_MS, Level, STEP};

use super::{NAMES_MAX, Teller};
use crate::analysis::{RowCrossing, StepAnalysis, Treatment, level_label, row_crossings};
use crate::answer::distance;

impl Teller<'_> {
    /// `At 5 ms of distance, unchanged SQLite is enough ...`; of a plan without distances the sentence
    /// itself.
    pub(super) fn placed(&self, sentence: String) -> String {
        let Some(ms) = self.steps.delay_ms else { return sentence };
        let mut engines = self.steps.engines.iter();
        let is_name = engines.any(|one| sentence.starts_with(self.wording.names.get(&one.engine)));
        let mut letters = sentence.chars();
        let said = match letters.next().filter(|_| !is_name) {
            Some(first) => format!("{}{}", first.to_lowercase(), letters.as_str()),
            None => sentence,
        };
        format!("At {}, {said}", level_label(self.wording.plan, DELAY_MS, &Level::Number(ms)))
    }

    /// `PostgreSQL 18 at its best is faster up to about 2.8 ms of distance for "q" (between 1 and 5 ms)`.
    pub(super) fn crossings(&self, distances: &[StepAnalysis]) -> Vec<String> {
        let mut of_engines: BTreeMap<usize, Vec<RowCrossing>> = BTreeMap::new();
        for one in row_crossings(distances) {
            of_engines.entry(one.other).or_default().push(one);
        }
        let sentence = |(other, mut rows): (usize, Vec<RowCrossing>)| {
            rows.sort_by(|a, b| b.about_ms.total_cmp(&a.about_ms));
            let up_to: Vec<String> =
                rows.iter().take(NAMES_MAX).map(|one| self.up_to(one)).collect();
            let more = match rows.len().saturating_sub(NAMES_MAX) {
                0 => String::new(),
                more => format!(" and likewise for {more} more"),
            };
            let (engine, up_to) = (self.engine(other), up_to.join(", "));
            format!("{engine} at its best is faster than {} {up_to}{more}.", self.engine(0))
        };
        of_engines.into_iter().map(sentence).collect()
    }

    fn up_to(&self, one: &RowCrossing) -> String {
        let (last, first) = one.between_ms;
        let (about, row) = (digits(one.about_ms), self.name(one.row));
        format!("up to about {about} ms of distance for {row} (between {last} and {first} ms)")
    }

    /// The slope of each server at its best.
    pub(super) fn costs_of_distance(&self) -> Vec<String> {
        let is_best = |one: &Treatment| {
            let of = self.steps.engines.iter().find(|of| of.engine == one.engine);
            let best = of.and_then(|of| of.at_best()).map(|best| best.step.as_str());
            match one.levels.get(STEP) {
                Some(Level::Text(step)) => best == Some(step),
                Some(Level::Number(_)) | None => false,
            }
        };
        distance::sentences(self.wording, is_best)
    }
}
