//! One round: blocks, and in each every engine once, alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use engine::EngineSpec;

use super::data_folder::{DataPlace, DataPlaces, started};
use super::effects::difference;
use super::trial::{TrialBench, measure, void};
use super::warmed::Warmed;
use super::world::Laboratory;
use crate::error::RunError;
use crate::options::RunOptions;
use crate::workload::{Answers, SLOW, Subject, Workload};
use host::Datasets;
use host::OneOff;
use host::Site;
use host::file;
use host::observe::Quiet;
use host::prewarm;
use load::TrialSample;
use load::resource::{MemoryGroup, ServerSide};
use plan::Levels;
use plan::{Design, PlannedTrial};
use plan::{LoadOptions, Mode};
use plan::{OnError, Plan, clients};
use record::Outcome;
use record::{CapturedPlan, Trial, describe};
use record::{Finished, RunFolder};

/// PostgreSQL plans a prepared statement again for each of its first five executions.
pub(super) const WARM_WINDOWS_MIN: u32 = 6;
const WARM_WINDOWS_MAX: u32 = 20;
/// Two windows whose means differ by less are steady.
const WARM_DIFFERENCE: f64 = 0.05;

/// One failure in this number of requests of the whole warm-up, or more, prevents a measurement.
const FAILURES_SHARE_MIN: u64 = 10;
/// A failure among few requests, or in the first windows, is a large share of them.
const WINDOWS_BEFORE_REFUSAL: u32 = 3;

pub(super) struct TurnSetting<'a> {
    lab: Laboratory<'a>,
    pub(super) options: &'a RunOptions<'a>,
    scratch: &'a Path,
    places: DataPlaces,
    datasets: &'a Datasets,
    program: PathBuf,
    secret: String,
    quiet: Quiet,
    one_off: OneOff,
}

impl<'a> TurnSetting<'a> {
    pub(super) fn new(
        lab: Laboratory<'a>,
        scratch: &'a Path,
        datasets: &'a Datasets,
        plan: &Plan,
    ) -> Result<Self, RunError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| RunError::Random(error.to_string()))?;
        let secret = hex::encode(bytes);
        let program = file::program()?;
        let (quiet, one_off) =
            (Quiet::new(plan.wait_for_quiet, lab.wait_allowance()), OneOff::default());
        let (options, places) = (lab.options, DataPlaces::create(plan, lab.options.locations)?);
        Ok(Self { lab, options, scratch, places, datasets, program, secret, quiet, one_off })
    }

    pub(super) fn site<'s>(
        &'s self,
        plan: &'s Plan,
        levels: &Levels,
        logs: &'s Path,
        memory: Option<&'s MemoryGroup>,
    ) -> Site<'s> {
        let place = self.places.at(levels);
        Site {
            plan,
            datasets: self.datasets,
            scratch: place.map_or(self.scratch, DataPlace::scratch),
            logs,
            secret: &self.secret,
            program: &self.program,
            locations: place.map_or(self.options.locations, |place| &place.locations),
            runtime: self.options.runtime,
            progress: self.options.progress,
            say: self.options.say,
            interrupted: self.options.interrupted,
            one_off: &self.one_off,
            memory,
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.lab.world.now()
    }

    pub(super) fn is_over(&self) -> bool {
        self.lab.is_over()
    }

    pub(super) fn workload<'p>(&'p self, plan: &'p Plan) -> Box<dyn Workload + 'p> {
        self.lab.world.workload(plan)
    }

    /// Work that blocks after this one do not repeat.
    pub(super) fn one_off(&self) -> &OneOff {
        &self.one_off
    }

    pub(super) fn check_interrupted(&self, run: &RunFolder) -> Result<(), RunError> {
        match self.options.interrupted.load(Ordering::Relaxed) {
            true => Err(RunError::Interrupted { run: run.as_argument() }),
            false => Ok(()),
        }
    }
}

/// Runs the trials of one block that are not recorded yet; how many there were.
pub(super) fn carry_out_block(
    design: &Design<'_>,
    finished: &mut Finished,
    index: usize,
    block: usize,
    setting: &TurnSetting<'_>,
) -> Result<usize, RunError> {
    let mut open = design.trials(finished.run.seed, &finished.run.rounds, index);
    let recorded: BTreeSet<usize> = finished.trials.iter().map(|trial| trial.number).collect();
    open.retain(|planned| planned.block == block && !recorded.contains(&planned.number));
    let start = |one: &PlannedTrial| (one.engine, design.deployment_levels(&one.levels));
    for turn in open.chunk_by(|a, b| start(a) == start(b)) {
        if setting.is_over() {
            break;
        }
        setting.options.progress.set_position(finished.trials.len() as u64);
        take_turn(design, finished, turn, setting).map_err(|error| {
            // Whatever broke first when the user asked to stop, stopping was the reason.
            match setting.check_interrupted(&finished.folder) {
                Err(interrupted) => interrupted,
                Ok(()) => error,
            }
        })?;
    }
    Ok(open.len())
}

/// One engine's turn in a block, at one set of its deployment's levels.
fn take_turn(
    design: &Design<'_>,
    finished: &mut Finished,
    planned: &[PlannedTrial],
    setting: &TurnSetting<'_>,
) -> Result<(), RunError> {
    let Some(first) = planned.first() else { return Ok(()) };
    let plan = design.plan();
    let levels = design.deployment_levels(&first.levels);
    let spec = plan.engine_at(first.engine, &levels)?;
    let logs = finished.logs()?;
    let group = plan.server_memory_at(&levels)?.map(|limit| MemoryGroup::create(limit.0));
    let group = group.transpose()?;
    let site = setting.site(plan, &levels, &logs, group.as_ref());
    let place = setting.places.at(&levels);
    let workload = setting.workload(plan);
    let name = spec.label();
    let ready = |finished: &mut Finished| {
        // Processes started and pages read while we are inside belong to the group.
        let inside = group.as_ref().map(MemoryGroup::enter).transpose()?;
        place.map_or(Ok(()), |place| place.check_room(site.dataset(&levels)))?;
        let mut subject = workload.deploy(&site, &spec, &levels)?;
        setting.options.progress.set_message(format!("warming {name}"));
        prewarm::read_data(subject.data_paths(), group.is_some(), setting.options.interrupted)?;
        // An engine that is part of this program stays there, and we with it.
        let inside = inside.filter(|_| is_this_program(subject.side()));
        let record = started(subject.as_ref(), &spec, place);
        finished.run.engines.insert(design.start_name(&name, &levels), record);
        let warmed = warm(finished, planned, subject.as_mut(), setting.one_off())?;
        finished.folder.write_run(&finished.run)?;
        Ok::<_, RunError>((subject, warmed, inside))
    };
    let out_of_memory = |what: &str| group.as_ref().and_then(|group| group.explain(what));
    let ready = |finished: &mut Finished| {
        ready(finished)
            .map_err(|error| out_of_memory(&error.to_string()).map_or(error, RunError::from))
    };
    let (mut subject, mut warmed, mut inside) = ready(finished)?;
    for (index, trial) in planned.iter().enumerate().take_while(|_| !setting.is_over()) {
        setting.check_interrupted(&finished.folder)?;
        let bench = TrialBench {
            finished,
            engine: &name,
            group: group.as_ref(),
            quiet: &setting.quiet,
            warmed: &warmed,
            lab: &setting.lab,
        };
        let mut measured = measure(&bench, subject.as_mut(), trial)?;
        let ended = subject.check_alive().err().map(|error| error.to_string());
        let ended = ended.map(|why| out_of_memory(&why).map_or(why, |full| full.to_string()));
        let wrong = wrong_data(finished, ended.as_deref(), subject.as_mut(), &measured);
        if index + 1 == planned.len() && ended.is_none() {
            measured.counters.extend(subject.after_turn(&trial.levels));
        }
        let measured = match (&ended, &wrong) {
            (None, None) => measured,
            (Some(why), _) => void(measured, why.clone()),
            (None, Some(error)) => void(measured, error.to_string()),
        };
        note(finished, measured)?;
        if let Some(error) = wrong {
            return Err(error);
        }
        setting.options.progress.set_position(finished.trials.len() as u64);
        if let Some(why) = ended {
            if plan.on_error == OnError::Stop {
                let run = finished.folder.as_argument();
                return Err(RunError::EngineEnded { engine: name, run, why });
            }
            setting.options.progress.set_message(format!("{name} ended; starting it again"));
            subject.retire()?;
            drop(inside);
            (subject, warmed, inside) = ready(finished)?;
        }
    }
    subject.retire()
}

/// Data that are otherwise than they must be after a trial, by themselves or beside another engine's.
/// Those of an engine that has `ended` are not looked at.
fn wrong_data(
    finished: &Finished,
    ended: Option<&str>,
    subject: &mut dyn Subject,
    measured: &Trial,
) -> Option<RunError> {
    if ended.is_some() {
        return None;
    }
    subject.check_data().err().or_else(|| difference(finished, measured))
}

fn is_this_program(side: Option<&ServerSide>) -> bool {
    side.is_some_and(|side| side.roots.contains(&std::process::id()))
}

/// Writes a trial. A plan's text is kept once, in run.json, however many trials saw it.
fn note(finished: &mut Finished, mut trial: Trial) -> Result<(), RunError> {
    let known = finished.run.plans.len();
    for one in &mut trial.plans {
        if let CapturedPlan::Observed { hash, text } = &mut one.plan {
            finished.run.plans.entry(hash.clone()).or_insert_with(|| std::mem::take(text));
            text.clear();
        }
    }
    if finished.run.plans.len() > known {
        finished.folder.write_run(&finished.run)?;
    }
    finished.folder.write_trial(&trial)?;
    finished.trials.push(trial);
    Ok(())
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
fn warm(
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
