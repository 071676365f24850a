//! One round: blocks, and in each every engine once, alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::data_folder::{DataPlace, DataPlaces, started};
use super::effects::difference;
use super::trial::{TrialBench, measure, void, without_load};
use super::warmed::warm;
use super::world::Laboratory;
use crate::error::RunError;
use crate::options::RunOptions;
use crate::workload::{Subject, Workload, library};
use host::Datasets;
use host::OneOff;
use host::Site;
use host::file;
use host::observe::Quiet;
use host::prewarm;
use load::resource::{MemoryGroup, ServerSide};
use plan::{Design, Levels, PlannedTrial};
use plan::{OnError, Plan};
use record::{CapturedPlan, Trial};
use record::{EngineRecord, Finished, RecordError, RunFolder};

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

/// One engine's turn in a block. Where the engine crashes and there are others, what is left of the turn
/// is void, and the run goes on.
fn take_turn(
    design: &Design<'_>,
    finished: &mut Finished,
    planned: &[PlannedTrial],
    setting: &TurnSetting<'_>,
) -> Result<(), RunError> {
    let mut left = planned;
    let error = match measure_turn(design, finished, planned, &mut left, setting) {
        Err(error) if error.is_crash() && finished.plan.goes_on_without_an_engine() => error,
        done => return done,
    };
    setting.check_interrupted(&finished.folder)?;
    for trial in left {
        let levels = design.deployment_levels(&trial.levels);
        let engine = design.plan().engine_at(trial.engine, &levels)?.label();
        let void = without_load(finished, &engine, trial, error.to_string())?;
        note(finished, void)?;
    }
    Ok(())
}

/// Measures a turn at one set of its deployment's levels; `left` are the trials that are not recorded.
fn measure_turn<'p>(
    design: &Design<'_>,
    finished: &mut Finished,
    planned: &'p [PlannedTrial],
    left: &mut &'p [PlannedTrial],
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
        record_engine(finished, design.start_name(&name, &levels), &name, record)?;
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
        *left = planned.get(index + 1..).unwrap_or_default();
        wrong.map_or(Ok(()), Err)?;
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

/// Records a started engine; one whose library is another than before is refused.
fn record_engine(
    finished: &mut Finished,
    start: String,
    label: &str,
    record: EngineRecord,
) -> Result<(), RunError> {
    let before = finished.run.engines.get(&start).map(|before| &before.settings);
    let changed = before.and_then(|before| library::difference(label, before, &record.settings));
    if let Some(what) = changed {
        return Err(RecordError::Changed { run: finished.run.id.clone(), what }.into());
    }
    finished.run.engines.insert(start, record);
    Ok(())
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
