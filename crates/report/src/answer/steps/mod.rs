//! The answer of a plan with steps: the smallest step that is enough, by how much the engines differ at
//! their best, and what each step brings. It says what the verdicts show and nothing else.

mod alone;
mod at_best;
mod bound;
mod conclusion;
mod distance;
mod gains;
#[cfg(test)]
mod tests;
mod verdict;

use notation::{counted, digits, thousands};
use stats::{Estimate, INTERVAL_MIN_REPLICATES};

use super::place::listed;
use super::wording::Wording;
use crate::analysis::{EngineSteps, NOT_FELT_MS, RowKey, StepAnalysis};
use conclusion::settles;
pub use conclusion::{Conclusion, StepConclusion, conclusions, needed_steps};

/// The answer in sentences.
#[derive(Default)]
pub(super) struct StepAnswer {
    pub headline: Vec<String>,
    pub sentences: Vec<String>,
    pub undecided: bool,
    /// No step of any engine keeps to the user's bound, at no distance.
    pub bound_missed: bool,
}

/// The longest name of a statement in a sentence.
const NAME_MAX: usize = 48;
/// The most names in a list.
const NAMES_MAX: usize = 3;

/// The answer at each distance, of which there is at least one; `to_compare` is the command that compares
/// PostgreSQL, where a try did not.
pub(super) fn answer(
    wording: &Wording<'_>,
    distances: &[StepAnalysis],
    to_compare: Option<&str>,
) -> StepAnswer {
    let Some(nearest) = distances.first() else { return StepAnswer::default() };
    let nearest = Teller { wording, steps: nearest, to_compare };
    let mut answer = nearest.answer(distances);
    if nearest.is_alone() {
        answer.headline.insert(answer.headline.len().min(1), nearest.not_compared());
    }
    answer
}
struct Teller<'a> {
    wording: &'a Wording<'a>,
    steps: &'a StepAnalysis,
    to_compare: Option<&'a str>,
}

/// The most blocks of any time; none where nothing was measured.
fn most_blocks(steps: &StepAnalysis) -> Option<usize> {
    let times = steps.engines.iter().flat_map(|of| &of.steps).flat_map(|step| &step.statements);
    times.flatten().map(|time| time.blocks.len()).max()
}

impl Teller<'_> {
    /// The headline is that of the nearest distance, this one, at which the first engine needs most.
    fn answer(&self, distances: &[StepAnalysis]) -> StepAnswer {
        let blocks = most_blocks(self.steps);
        if let Some(blocks) = blocks.filter(|most| *most < INTERVAL_MIN_REPLICATES) {
            return StepAnswer {
                headline: vec![format!(
                    "Undecided: {} cannot show a difference, {INTERVAL_MIN_REPLICATES} are needed. The \
                     table has the means so far; more time or fewer statements give more blocks.",
                    counted(blocks, "block")
                )],
                undecided: true,
                ..StepAnswer::default()
            };
        }
        let bound_missed = distances.iter().all(conclusion::is_bound_missed);
        let mut answer = StepAnswer { bound_missed, ..StepAnswer::default() };
        for (place, steps) in distances.iter().enumerate() {
            let teller = Teller { steps, ..*self };
            let concluded = conclusions(steps);
            let verdicts = teller.verdicts(&concluded);
            match place {
                0 => answer.headline = verdicts,
                _ => answer.sentences.push(verdicts.join(" ")),
            }
            let at_best = steps.against.iter().filter_map(|against| teller.at_best(against));
            answer.sentences.extend(at_best.map(|said| teller.placed(said)));
            // One step of one engine asks for times only.
            let asks = !concluded.is_empty() || most_blocks(steps).is_none();
            answer.undecided |= !settles(&concluded) && asks;
        }
        let place = answer.headline.len().min(1);
        self.slowed().into_iter().for_each(|said| answer.headline.insert(place, said));
        answer.headline.extend(self.crossings(distances));
        answer.sentences.extend(self.costs_of_distance());
        answer.sentences.extend(self.gains());
        answer
    }

    /// The conclusions in words; the first sentence says the distance.
    fn verdicts(&self, concluded: &[StepConclusion]) -> Vec<String> {
        let mut said: Vec<String> = match self.wording.plan.enough {
            Some(bound) => concluded.iter().map(|one| self.of_bound(bound, one)).collect(),
            None if self.is_alone() => self.alone(concluded.first().map(|one| one.conclusion)),
            None => {
                let pairs = self.steps.against.iter().zip(concluded);
                pairs.flat_map(|(against, one)| self.verdict(against, one.conclusion)).collect()
            }
        };
        if let Some(first) = said.first_mut() {
            *first = self.placed(std::mem::take(first));
        }
        said
    }

    fn is_alone(&self) -> bool {
        self.steps.engines.len() == 1
    }

    fn engine(&self, index: usize) -> &str {
        self.steps.engines.get(index).map_or("", |one| self.wording.names.get(&one.engine))
    }

    /// `SQLite with ANALYZE and 2 indexes`, `unchanged SQLite`.
    fn engine_at(&self, engine: usize, step: usize) -> String {
        let name = self.engine(engine);
        match self.steps.engines.get(engine).map(|of| changes(of, 0, step)).unwrap_or_default() {
            changes if changes.is_empty() => format!("unchanged {name}"),
            changes => format!("{name} with {changes}"),
        }
    }

    /// The same at the start of a sentence.
    fn begun(&self, engine: usize, step: usize) -> String {
        let name = self.engine_at(engine, step);
        name.strip_prefix('u')
            .filter(|_| name.starts_with("unchanged "))
            .map_or_else(|| name.clone(), |rest| format!("U{rest}"))
    }

    fn name(&self, row: RowKey) -> String {
        self.steps.statement(row).map_or_else(|| self.log(), quoted)
    }

    fn names(&self, rows: &[RowKey]) -> String {
        shortened(&rows.iter().map(|row| self.name(*row)).collect::<Vec<_>>())
    }

    /// `676 of the log's executions`: of the statements that were measured.
    fn log(&self) -> String {
        let executions: u64 = self.steps.executions.iter().flatten().sum();
        format!("{} of the log's executions", thousands(executions))
    }

    fn is_log(&self) -> bool {
        self.steps.deciding_rows() == [RowKey::Total]
    }

    /// `margin 5%, or 1 ms where that is more`.
    fn margin(&self) -> String {
        let share = self.wording.plan.equivalent_within;
        match self.is_log() {
            true => format!("margin {share}"),
            false => format!("margin {share}, or {NOT_FELT_MS} ms where that is more"),
        }
    }

    /// `3 of 8 statements (up to 12 times as fast: "x")`; none of none.
    fn most(&self, of: &[(RowKey, f64)], all: usize) -> Option<String> {
        let (row, factor) = of.iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let up_to = if of.len() == 1 { "" } else { "up to " };
        let (count, factor, name) =
            (of_statements(of.len(), all), digits(*factor), self.name(*row));
        Some(format!("{count} ({up_to}{factor} times as fast: {name})"))
    }
}

/// `3 of 8 statements`.
fn of_statements(count: usize, all: usize) -> String {
    match (count, all) {
        (1, 1) => "the statement".to_owned(),
        (2, 2) => "both statements".to_owned(),
        _ if count == all => format!("all {all} statements"),
        _ => format!("{count} of {all} statements"),
    }
}

/// The changes of the steps after `from` up to `step`: `ANALYZE and 2 indexes`; empty where nothing is
/// changed.
pub(crate) fn changes(engine: &EngineSteps, from: usize, step: usize) -> String {
    let changes = engine.steps.iter().take(step + 1).skip(from + 1);
    listed(&changes.map(|step| step.step.clone()).collect::<Vec<_>>())
}

/// How many times as fast a ratio of times below 1 is, or how many times as slow one above.
fn times(ratio: Estimate, faster: bool) -> f64 {
    if faster { 1.0 / ratio.value } else { ratio.value }
}

pub(super) fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The name in quotation marks, cut where it is long.
pub(crate) fn quoted(name: &str) -> String {
    match name.chars().count() > NAME_MAX {
        true => format!("\"{}...\"", name.chars().take(NAME_MAX).collect::<String>().trim_end()),
        false => format!("\"{name}\""),
    }
}
