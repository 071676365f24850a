//! Work before the first trial of a turn: answers compared, plans looked up, load until it is steady.

use std::collections::BTreeMap;

use engine::EngineSpec;

use crate::error::RunError;
use crate::workload::{Answers, SLOW, Subject};
use host::OneOff;
use load::TrialSample;
use plan::{Levels, LoadOptions, Mode, PlannedTrial, clients};
use record::{Finished, OperationPlan, Outcome, Trial, describe};

/// PostgreSQL plans a prepared statement again for each of its first five executions.
pub(super) const WARM_WINDOWS_MIN: u32 = 6;
const WARM_WINDOWS_MAX: u32 = 20;
/// Two windows whose means differ by less are steady.
const WARM_DIFFERENCE: f64 = 0.05;

/// One failure in this number of requests of the whole warm-up, or more, prevents a measurement.
const FAILURES_SHARE_MIN: u64 = 10;
/// A failure among few requests, or in the first windows, is a large share of them.
const WINDOWS_BEFORE_REFUSAL: u32 = 3;

/// Observations before the first trial of a turn.
pub(super) struct Warmed {
    /// Plans by the number of the trial that they belong to.
    pub plans: BTreeMap<usize, Vec<OperationPlan>>,
    /// Whether the warm-up ended because times stood still; none where trials warm themselves.
    pub steady: Option<bool>,
    /// Requests of the warm-up that failed.
    pub failures: u64,
}

/// Answers are compared between engines that hold the same data: the levels that say which data
/// it is stand before the text of each operation in the record.
pub(super) fn check_answers(
    finished: &mut Finished,
    cells: &[Levels],
    subject: &mut dyn Subject,
) -> Result<(), RunError> {
    let scope = cells.first().map(|levels| finished.plan.data_scope(levels)).unwrap_or_default();
    let known = finished.run.answers.iter();
    let known = known.filter_map(|(key, answer)| Some((key.strip_prefix(&scope)?, answer)));
    let mut answers: Answers = known.map(|(key, answer)| (key.to_owned(), *answer)).collect();
    subject.check_answers(cells, &mut answers)?;
    let answers = answers.into_iter().map(|(key, answer)| (format!("{scope}{key}"), answer));
    finished.run.answers.extend(answers);
    Ok(())
}

/// Does every distinct operation once and compares the answers, looks plans up, then offers load
/// at the lowest swept level, or in the plan's first cell, until two windows agree.
pub(super) fn warm(
    finished: &mut Finished,
    planned: &[PlannedTrial],
    subject: &mut dyn Subject,
    one_off: &OneOff,
) -> Result<Warmed, RunError> {
    let cells: Vec<Levels> = planned.iter().map(|trial| trial.levels.clone()).collect();
    check_answers(finished, &cells, subject)?;
    let mut plans = BTreeMap::new();
    for trial in planned.iter().filter(|trial| plans_are_wanted(finished, trial)) {
        plans.insert(trial.number, one_off.time(|| subject.plans(&trial.levels)));
    }
    let (steady, failures) = match subject.includes_warm_up() {
        true => (None, 0),
        false => {
            let (steady, failures) = warm_until_steady(finished, planned, subject)?;
            (Some(steady), failures)
        }
    };
    Ok(Warmed { plans, steady, failures })
}

/// In a treatment's first block, and in its third to see whether they are still the same.
fn plans_are_wanted(finished: &Finished, planned: &PlannedTrial) -> bool {
    let engine = finished.plan.engines.get(planned.engine).map(EngineSpec::label);
    let same =
        |trial: &&Trial| trial.levels == planned.levels && Some(&trial.engine) == engine.as_ref();
    matches!(finished.trials.iter().filter(same).count(), 0 | 2)
}

fn warm_until_steady(
    finished: &Finished,
    planned: &[PlannedTrial],
    subject: &mut dyn Subject,
) -> Result<(bool, u64), RunError> {
    let plan = &finished.plan;
    let swept = plan.swept().map(|(name, _)| name);
    // The same cell in every block, whose order is random: a slow one takes minutes to warm.
    let cells = finished.cells();
    let lowest = planned.iter().min_by_key(|trial| {
        let level = swept.and_then(|name| trial.levels.get(name));
        (level, cells.iter().position(|cell| *cell == trial.levels))
    });
    let Some(lowest) = lowest else { return Ok((true, 0)) };
    let most_clients = planned.iter().map(|trial| clients(&trial.levels)).max().unwrap_or(1);
    let (mut last, mut failures, mut requests): (Option<f64>, u64, u64) = (None, 0, 0);
    let mut left_out: Vec<bool> = plan
        .operations_at(&lowest.levels)
        .iter()
        .enumerate()
        .map(|(index, one)| one.weight == 0 || subject.is_slow(index, &lowest.levels))
        .collect();
    for window in 1..=WARM_WINDOWS_MAX {
        if left_out.iter().all(|out| *out) {
            return Ok((true, failures));
        }
        let options = LoadOptions {
            clients: most_clients,
            mode: Mode::EachOnce,
            left_out: left_out.clone(),
            ..plan.load_at(&lowest.levels, u64::from(window))?
        };
        let sample = subject.load(&lowest.levels, &options)?;
        if sample.observations.is_empty() {
            subject.check_alive()?;
        }
        failures += sample.failures();
        requests += sample.observations.len() as u64;
        let too_many = failures * FAILURES_SHARE_MIN >= requests && requests >= FAILURES_SHARE_MIN;
        if window >= WINDOWS_BEFORE_REFUSAL && (too_many || failures == requests) {
            return Err(failing(finished, subject, &sample, (failures, requests)));
        }
        let total: u64 = sample.observations.iter().map(|one| one.response_time_ns).sum();
        let now = total as f64 / sample.observations.len().max(1) as f64;
        let slow = sample
            .operations
            .iter()
            .map(|one| one.mean_response_time_ns() > Some(SLOW.as_secs_f64() * 1e9));
        let newly_slow = left_out.iter_mut().zip(slow).filter(|(out, slow)| *slow && !**out);
        // The next window is of other operations.
        let changed = newly_slow.map(|(out, _)| *out = true).count() > 0;
        let steady = last.is_some_and(|last| (now / last - 1.0).abs() < WARM_DIFFERENCE);
        if steady && window >= WARM_WINDOWS_MIN {
            return Ok((true, failures));
        }
        last = Some(now).filter(|_| !changed);
    }
    Ok((false, failures))
}

/// Why a run ends whose application fails so often that its times mean nothing; fewer failures are
/// counted and measured on.
fn failing(
    finished: &Finished,
    subject: &dyn Subject,
    sample: &TrialSample,
    (failures, requests): (u64, u64),
) -> RunError {
    let (rules, operations) = (finished.plan.rules(), finished.plan.operations());
    let mut remedy = "repair it first".to_owned();
    let first = sample.first_failure.map_or_else(String::new, |(index, outcome)| {
        let index = usize::from(index);
        if outcome == Outcome::WrongAnswer {
            remedy = rules.remedy_of_wrong_answer(index).unwrap_or(std::mem::take(&mut remedy));
        }
        let name = operations.get(index).map_or("", |one| one.name.as_str());
        format!("{name}: {}", describe(outcome))
    });
    let engine = subject.engine().name.clone();
    RunError::Failing { engine, failures, requests, first, remedy }
}
