//! Preview of a plan: its trials, their order and duration, without measuring anything.

mod library;
mod percentile;
mod power;

use std::path::Path;
use std::time::Duration;

use notation::counted;
use serde::Serialize;

pub use self::library::{PreviewLibrary, library_version};
pub use self::power::ExpectedPower;
use crate::forecast::Forecast;
use crate::workload::{self, DataTime};
use plan::Levels;
use plan::{Design, Plan, PlanError, Seconds, TrialSettings};
use record::{Finished, RunFolder};
use stats::crossing::MOST_LEVELS_MORE;

/// An experiment as it would be carried out.
#[derive(Clone, Debug, Serialize)]
pub struct Preview {
    pub title: String,
    /// The order below is drawn from it.
    pub seed: u64,
    /// The plan names no seed, so a run will draw its own.
    #[serde(skip)]
    seed_is_drawn: bool,
    /// Blocks of the first round.
    pub blocks: usize,
    /// A precision or a bisection may add blocks.
    pub blocks_may_grow: bool,
    #[serde(skip)]
    seeks_precision: bool,
    /// Trials that a bisection may add.
    #[serde(skip)]
    trials_more: usize,
    /// Starts of engines in each block.
    pub starts_per_block: usize,
    /// Time of a start beside its trials, on average.
    #[serde(skip)]
    seconds_per_start: u64,
    /// Time of the workload's own data beside it.
    #[serde(skip)]
    data_time: Option<DataTime>,
    /// Trials of the first round.
    pub trials: usize,
    /// Time of the first round's trials by themselves; none where they end with their passes.
    pub at_least_seconds: Option<u64>,
    /// Time that an earlier run of the same plan took for as many trials, starts and warm-ups
    /// included.
    pub expected_seconds: Option<u64>,
    pub expected_by_run: Option<String>,
    /// Trials, starts and tables by what such things took elsewhere; for budgets.
    #[serde(skip)]
    pub assumed_seconds: Option<u64>,
    /// Time after which no block beyond the fifth, and no bisection, would end.
    pub budget: Option<Seconds>,
    /// The difference that the run can be expected to show; none of one engine, or under 5 blocks.
    pub power: Option<ExpectedPower>,
    /// The trial that each threshold on a percentile needs, in sentences.
    pub percentiles: Vec<String>,
    /// Libraries of SQLite, where they were loaded ([`Preview::load_libraries`]).
    pub libraries: Vec<PreviewLibrary>,
    pub treatments: Vec<PreviewTreatment>,
    /// The blocks of the first round.
    pub order: Vec<Block>,
}

/// One engine at one level of each factor that changes something for it.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewTreatment {
    pub engine: String,
    pub levels: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct Block {
    /// Counts from 1.
    pub block: usize,
    /// In the order in which they run.
    pub starts: Vec<PreviewStart>,
}

/// One start of an engine and what is measured then.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewStart {
    /// The engine as started.
    pub engine: String,
    /// The levels of its treatments in words, in their order.
    pub treatments: Vec<String>,
}

impl Preview {
    /// Works the schedule of `plan` out.
    pub fn of(plan: &Plan) -> Result<Self, PlanError> {
        let design = Design::of(plan);
        let round = plan.first_round();
        let seed = plan.seed.unwrap_or(1);
        let blocks = round.blocks;
        let treatments = design.treatments();
        for (index, levels) in treatments {
            plan.engine_at(*index, levels)?;
        }
        let trials = design.trials(seed, &[round], 0);
        let mut order = Vec::new();
        for block in trials.chunk_by(|a, b| a.block == b.block) {
            let start =
                |one: &plan::PlannedTrial| (one.engine, design.deployment_levels(&one.levels));
            let turns = block.chunk_by(|a, b| start(a) == start(b)).filter_map(|turn| {
                let first = turn.first()?;
                let engine = plan.engines.get(first.engine)?;
                let at = design.deployment_levels(&first.levels);
                let inside = |one: &plan::PlannedTrial| {
                    let mut levels = design.distinguishing_levels(engine, &one.levels);
                    levels.retain(|name, _| !at.contains_key(name));
                    in_words(plan, &levels)
                };
                Some(PreviewStart {
                    engine: design.start_name(&engine.label(), &at),
                    treatments: turn.iter().map(inside).collect(),
                })
            });
            order.push(Block { block: order.len() + 1, starts: turns.collect() });
        }
        let starts_per_block = order.first().map_or(0, |block| block.starts.len());
        let starts = starts_per_block * blocks;
        let workload = workload::of(plan);
        let seconds_per_start = workload.seconds_per_start(&trials, starts);
        let data_time = workload.data_time(&trials)?;
        let data_seconds = data_time.as_ref().map_or(0, |time| time.seconds);
        let at_least_seconds = seconds_of_trials(plan, workload.warm_up(), trials.len());
        let power = ExpectedPower::of(&design, blocks, None);
        Ok(Self {
            title: plan.title.clone(),
            seed,
            seed_is_drawn: plan.seed.is_none(),
            blocks,
            blocks_may_grow: plan.precision.is_some() || trials_more(plan, trials.len()) > 0,
            seeks_precision: plan.precision.is_some(),
            trials_more: trials_more(plan, trials.len()),
            starts_per_block,
            seconds_per_start,
            data_time,
            trials: trials.len(),
            at_least_seconds,
            expected_seconds: None,
            expected_by_run: None,
            assumed_seconds: at_least_seconds
                .map(|seconds| seconds + seconds_per_start * starts as u64 + data_seconds),
            budget: plan.budget,
            power,
            percentiles: percentile::sentences(plan, None),
            libraries: Vec::new(),
            treatments: treatments
                .iter()
                .filter_map(|(index, levels)| {
                    let engine = plan.engines.get(*index)?;
                    let levels = in_words(plan, &design.distinguishing_levels(engine, levels));
                    Some(PreviewTreatment { engine: engine.label(), levels })
                })
                .collect(),
            order,
        })
    }

    /// Takes duration and noise from the newest run of the same plan below `runs`: the duration by
    /// its time per trial, starts included.
    pub fn learn(&mut self, plan: &Plan, runs: &Path) {
        let folders = RunFolder::all(runs).unwrap_or_default().into_iter();
        let earlier = folders.filter_map(|folder| Finished::read(folder).ok());
        let alike = earlier.filter(|run| is_alike(&run.plan, plan));
        let Some((seconds, run)) =
            alike.filter_map(|run| Some((run.working_seconds()?, run))).next()
        else {
            return;
        };
        let total = seconds / run.trials.len() as f64 * self.trials as f64;
        self.expected_seconds = Duration::try_from_secs_f64(total).ok().map(|all| all.as_secs());
        self.power = ExpectedPower::of(&Design::of(plan), self.blocks, Some(&run));
        self.percentiles = percentile::sentences(plan, Some(&run));
        self.expected_by_run = Some(run.run.id);
    }

    /// The duration of a run, by an earlier one of the same plan or by what such things took elsewhere;
    /// none where trials end with their passes and none was run yet.
    fn forecast(&self) -> Option<Forecast> {
        let expected = Duration::from_secs(self.expected_seconds.or(self.assumed_seconds)?);
        let forecast = Forecast::of(expected);
        Some(match self.trials_more {
            0 => forecast,
            more => forecast.with_more(expected.mul_f64(more as f64 / self.trials.max(1) as f64)),
        })
    }

    /// The duration in a sentence, with what it rests on.
    pub fn duration_in_words(&self) -> String {
        let more = match self.seeks_precision {
            true => "; more blocks follow until the precision is reached",
            false => "",
        };
        let starts = counted(self.starts_per_block * self.blocks, "start");
        let each = self.seconds_per_start;
        let Some(forecast) = self.forecast() else {
            return format!(
                "Duration: not known before the first block is over, since a pass ends by itself: \
                 {starts}, often of about {each} s, and the passes{more}."
            );
        };
        if let Some(run) = &self.expected_by_run {
            return format!("Duration: {forecast}, by what a trial took in run {run}{more}.");
        }
        let data = self.data_time.iter().map(|time| format!("; {}", time.sentence));
        let data = data.collect::<String>();
        format!(
            "Duration: {forecast}, if each of {starts} takes about {each} s beside its trials (assumed; \
             longer with large data and slow requests){data}{more}."
        )
    }

    /// A note on the seed.
    pub fn seed_note(&self) -> &'static str {
        if self.seed_is_drawn { " (a run draws its own unless --seed names one)" } else { "" }
    }
}

/// The trials that bisection may add to `trials` at the plan's own levels.
pub(crate) fn trials_more(plan: &Plan, trials: usize) -> usize {
    let swept = plan.swept().filter(|(_, factor)| factor.bisect);
    swept.map_or(0, |(_, factor)| trials * MOST_LEVELS_MORE / factor.levels.len().max(1))
}

/// The same but for its name and for how often and how long it is carried out.
fn is_alike(earlier: &Plan, plan: &Plan) -> bool {
    let mut earlier = earlier.clone();
    (earlier.replicates, earlier.seed, earlier.budget) = (plan.replicates, plan.seed, plan.budget);
    (earlier.precision, earlier.on_error) = (plan.precision, plan.on_error);
    earlier.title.clone_from(&plan.title);
    let mut plan = plan.clone();
    plan.take_sample_of(&earlier);
    earlier.conditions.clone_from(&plan.conditions);
    earlier.first_difference(&plan).is_ok_and(|difference| difference.is_none())
}

fn seconds_of_trials(plan: &Plan, warm_up: Duration, trials: usize) -> Option<u64> {
    let TrialSettings::Steady { time } = plan.trial else { return None };
    let total = (time.duration() + warm_up).as_secs_f64() * trials as f64;
    Duration::try_from_secs_f64(total).ok().map(|total| total.as_secs())
}

fn in_words(plan: &Plan, levels: &Levels) -> String {
    let words: Vec<String> = levels
        .iter()
        .map(|(name, level)| report::analysis::level_label(plan, name, level))
        .collect();
    if words.is_empty() { "unchanged".to_owned() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twist_has_the_variations_that_were_asked_for() {
        let plan =
            plan::read(include_str!("../../../../experiments/twist.toml"), "twist.toml").unwrap();
        let preview = Preview::of(&plan).unwrap();
        let of =
            |engine: &str| preview.treatments.iter().filter(|one| one.engine == engine).count();
        // SQLite: as it is, one core, without ANALYZE; PostgreSQL: as it is and six variations.
        assert_eq!((of("SQLite"), of("PostgreSQL")), (3 * 6, 7 * 6));
        assert_eq!(preview.starts_per_block, 3 + 7);
    }

    #[test]
    fn totals_are_compared_with_facts_on_both_engines() {
        let plan =
            plan::read(include_str!("../../../../experiments/rollup.toml"), "rollup.toml").unwrap();
        let preview = Preview::of(&plan).unwrap();
        let of =
            |engine: &str| preview.treatments.iter().filter(|one| one.engine == engine).count();
        assert_eq!(plan.engines.len(), 4, "two designs on two engines");
        for engine in &plan.engines {
            // Seven periods, one and four clients.
            assert_eq!(of(&engine.label()), 7 * 2, "{engine}");
        }
        assert_eq!(preview.starts_per_block, 4);
    }
}
