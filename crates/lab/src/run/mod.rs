//! Run of a plan: rounds of blocks, every engine once per block and alone, its treatments in random
//! order. Each trial is on disk before the next begins, so that a run can be resumed.

mod clients;
mod data_folder;
mod distance;
mod effects;
mod fixed_work;
mod interleave;
mod machine;
mod pilot;
mod progress;
mod round;
mod scratch;
mod stopping;
#[cfg(test)]
mod tests;
mod trial;
mod warmed;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use connect::{sqlite, system_sqlite};
use engine::EngineSource;
use jiff::Timestamp;

use crate::error::RunError;
use crate::options::RunOptions;
use crate::preview::{self, Preview};
use crate::workload::library;
use host::{Datasets, file};
use plan::{Data, Plan, PlanError};
use plan::{Design, Round};
use record::environment::{Environment, SqliteLibraries};
use record::{DECLARED_DATA, Finished, RecordError, Run, RunFolder, SCHEMA_VERSION};
use report::analysis;

pub use distance::measure_relay;
pub use interleave::interleave;
pub use machine::check_processor;
use progress::Clock;
use scratch::Scratch;
use world::{Laboratory, ThisMachine};

/// Begins a run of `plan` and carries it out.
///
/// # Errors
/// [`RunError`]; what was recorded by then stays and can be resumed.
pub fn start(plan: Plan, options: &RunOptions<'_>) -> Result<Finished, RunError> {
    start_in(&Laboratory { options, world: &ThisMachine }, plan)
}

fn start_in(lab: &Laboratory<'_>, plan: Plan) -> Result<Finished, RunError> {
    let options = lab.options;
    let round = plan.first_round();
    let scratch = Scratch::create(&options.locations.data)?;
    let (finished, datasets) = begin(lab, plan, round, &scratch)?;
    let (path, id) = (finished.folder.path().to_owned(), finished.folder.as_argument());
    let _claimed = finished.folder.claim()?;
    carry_out(lab, finished, datasets, &scratch).map_err(|error| {
        if !has_no_trial(&path) && !matches!(error, RunError::BlocksDoNotFit { .. }) {
            return error.with_resume_command(&id);
        }
        // There is nothing to resume or to report.
        let _ = std::fs::remove_dir_all(&path);
        match error {
            RunError::Interrupted { .. } => RunError::InterruptedBeforeTrials,
            error => error,
        }
    })
}

/// Checks everything, makes the data, and writes the record of a run without trials.
fn begin(
    lab: &Laboratory<'_>,
    mut plan: Plan,
    round: Round,
    scratch: &Scratch,
) -> Result<(Finished, Datasets), RunError> {
    let options = lab.options;
    let seed = match plan.seed {
        Some(seed) => seed,
        None => random_seed()?,
    };
    plan.seed = Some(seed);
    let text = plan.to_toml()?;
    check_in(lab, &plan)?;
    let program = file::program()?;
    let relay = distance::measure_relay_of(&plan, options.say)?;
    let mut preview = Preview::of(&plan)?;
    preview.learn(&plan, options.runs);
    // What runs until a limit lasts as long as that says.
    if options.time_limit.is_none() {
        (options.say)(&preview.duration_in_words());
    }
    preview.percentiles.iter().for_each(|sentence| (options.say)(sentence));
    let started = Timestamp::now();
    let mut datasets = Datasets::new(&scratch.path);
    datasets.provide(&plan, &round.cells, &options.host(), &program)?;
    let data_digest = data_digest(&plan, &datasets);
    let program_digest = file::program_digest()?;
    let folder = RunFolder::create(options.runs, plan.workload.name(), started)?;
    folder.write_plan(&text)?;
    let run = Run {
        schema_version: SCHEMA_VERSION,
        id: folder.id(),
        started,
        finished: None,
        complete: false,
        seed,
        command_line: options.command_line.clone(),
        crossover_version: env!("CARGO_PKG_VERSION").to_owned(),
        program_digest,
        data_digest,
        environment: Environment::observe(&options.locations.data, sqlite_libraries()),
        engines: BTreeMap::new(),
        rounds: vec![round],
        fixed_work: Vec::new(),
        resumed: Vec::new(),
        answers: BTreeMap::new(),
        plans: BTreeMap::new(),
        interleaved_with: None,
        relay,
        assessment: None,
    };
    folder.write_run(&run)?;
    Ok((Finished { folder, plan, run, trials: Vec::new() }, datasets))
}

fn sqlite_libraries() -> SqliteLibraries {
    SqliteLibraries {
        version: sqlite::version().to_owned(),
        compile_options: sqlite::compile_options().unwrap_or_default(),
        system: system_sqlite::libraries(),
    }
}

/// Refuses what this machine cannot do, and engines that cannot be had or set as asked for: before
/// any data is made.
pub fn check(plan: &Plan, options: &RunOptions<'_>) -> Result<(), RunError> {
    check_in(&Laboratory { options, world: &ThisMachine }, plan)
}

fn check_in(lab: &Laboratory<'_>, plan: &Plan) -> Result<(), RunError> {
    let design = Design::of(plan);
    machine::check(plan, design.cells())?;
    data_folder::check(plan, lab.options.say)?;
    let copies = plan.engines.iter().any(|engine| engine.source == EngineSource::Sqlite);
    if plan.workload.properties().copies_data && copies && plan.data == Data::Present {
        let message = "is missing: `sqlite` is a copy of a file; name one, or write sqlite:PATH";
        return Err(PlanError::impossible("data", message).into());
    }
    let (workload, host) = (lab.world.workload(plan), lab.options.host());
    let mut seen = BTreeSet::new();
    for (index, levels) in design.treatments() {
        let engine = plan.engine_at(*index, levels)?;
        if seen.insert(engine.clone()) {
            workload.check(&engine, &host).map_err(|error| error.of_engine(*index))?;
        }
    }
    Ok(())
}

fn has_no_trial(run: &Path) -> bool {
    std::fs::read_dir(run.join("trials")).is_ok_and(|mut entries| entries.next().is_none())
}

/// Takes an interrupted run up again. A `plan` named with it must be the run's own.
pub fn resume(
    name: &str,
    plan: Option<Plan>,
    options: &RunOptions<'_>,
) -> Result<Finished, RunError> {
    resume_in(&Laboratory { options, world: &ThisMachine }, name, plan)
}

fn resume_in(lab: &Laboratory<'_>, name: &str, plan: Option<Plan>) -> Result<Finished, RunError> {
    let options = lab.options;
    let folder = RunFolder::find(options.runs, name)?;
    let _claimed = folder.claim()?;
    let mut finished = Finished::read(folder)?;
    let changed = |what: String| RecordError::Changed { run: finished.run.id.clone(), what };
    if let Some(mut plan) = plan {
        plan.seed = plan.seed.or(finished.plan.seed);
        plan.take_sample_of(&finished.plan);
        if let Some(key) = finished.plan.first_difference(&plan)? {
            return Err(changed(format!("the plan's key `{key}`")).into());
        }
    }
    if let Some(with) = finished.run.interleaved_with.clone().filter(|_| !finished.run.complete) {
        return Err(RecordError::Interleaved { run: finished.run.id.clone(), with }.into());
    }
    if file::program_digest()? != finished.run.program_digest {
        return Err(changed("the program".to_owned()).into());
    }
    let scratch = Scratch::create(&options.locations.data)?;
    let mut datasets = Datasets::new(&scratch.path);
    let cells = finished.plan.cells();
    datasets.provide(&finished.plan, &cells, &options.host(), &file::program()?)?;
    if data_digest(&finished.plan, &datasets) != finished.run.data_digest {
        return Err(changed("the data".to_owned()).into());
    }
    if finished.run.complete {
        return Ok(finished);
    }
    machine::check(&finished.plan, &cells)?;
    data_folder::check(&finished.plan, &|said| (options.say)(said))?;
    if let Some(what) = data_folder::difference(&finished.plan, &finished.run) {
        return Err(changed(what).into());
    }
    let cache = &options.locations.cache;
    if let Some(what) = library::changed(&finished.plan, &finished.run, cache)? {
        return Err(changed(what).into());
    }
    finished.run.resumed.push(Timestamp::now());
    finished.folder.write_run(&finished.run)?;
    let id = finished.folder.as_argument();
    carry_out(lab, finished, datasets, &scratch).map_err(|error| error.with_resume_command(&id))
}

fn carry_out(
    lab: &Laboratory<'_>,
    mut finished: Finished,
    mut datasets: Datasets,
    scratch: &Scratch,
) -> Result<Finished, RunError> {
    let options = lab.options;
    let expected = take_pilot(lab, &mut finished, &mut datasets, scratch)?;
    let plan = finished.plan.clone();
    let design = Design::of(&plan);
    let mut clock = Clock::start(lab.world.now(), expected);
    let left = design.planned(&finished.run.rounds).saturating_sub(finished.trials.len());
    if let Some(left) = clock.forecast(left, trials_to_add(&design, &finished, 0)) {
        (options.say)(&format!("{left} from here, judged by one look at every answer"));
        options.expected_end.set(left);
    }
    let mut index = 0;
    while let Some(round) = finished.run.rounds.get(index) {
        datasets.provide(&plan, &round.cells, &options.host(), &file::program()?)?;
        let setting = round::TurnSetting::new(*lab, &scratch.path, &datasets, &plan)?;
        carry_out_round(&design, &mut finished, index, &setting, &mut clock)?;
        index += 1;
        if index == finished.run.rounds.len()
            && let Some(round) =
                next_round(&design, &finished, |trials| clock.after(lab.world.now(), trials))
        {
            finished.run.rounds.push(round);
            finished.folder.write_run(&finished.run)?;
        }
    }
    finished.run.complete = true;
    finished.run.finished = Some(Timestamp::now());
    finished.folder.write_run(&finished.run)?;
    Ok(finished)
}

/// One look at every answer before the first block; the time that a trial is expected to take by it.
fn take_pilot(
    lab: &Laboratory<'_>,
    finished: &mut Finished,
    datasets: &mut Datasets,
    scratch: &Scratch,
) -> Result<Option<Duration>, RunError> {
    let Some(round) = finished.run.rounds.first() else { return Ok(None) };
    datasets.provide(&finished.plan, &round.cells, &lab.options.host(), &file::program()?)?;
    let setting = round::TurnSetting::new(*lab, &scratch.path, datasets, &finished.plan)?;
    pilot::carry_out(finished, &setting)
}

/// Block by block, as many as the plan asks for or its precision needs.
fn carry_out_round(
    design: &Design<'_>,
    finished: &mut Finished,
    index: usize,
    setting: &round::TurnSetting<'_>,
    clock: &mut Clock,
) -> Result<(), RunError> {
    let before = finished.run.rounds.iter().take(index).map(|round| round.blocks).sum::<usize>();
    let mut done = 0;
    clock.begin_round(index);
    while finished.run.rounds.get(index).is_some_and(|round| done < round.blocks) {
        setting.options.progress.set_length(design.planned(&finished.run.rounds) as u64);
        clock.begin(setting.now(), setting.one_off());
        let trials = round::carry_out_block(design, finished, index, before + done + 1, setting)?;
        clock.end(setting.now(), trials, setting.one_off());
        done += 1;
        if index == 0 && done == 1 {
            clock.check_limit(setting.now(), trials, setting.options.time_limit)?;
        }
        let blocks = match setting.is_over() {
            // A block that the end cut before its first trial was none.
            true => done - usize::from(finished.trials.iter().all(|one| one.block < before + done)),
            false => stopping::blocks(design, finished, index, done, |trials| {
                clock.after(setting.now(), trials)
            }),
        };
        if let Some(round) = finished.run.rounds.get_mut(index).filter(|one| one.blocks != blocks) {
            round.blocks = blocks;
            finished.folder.write_run(&finished.run)?;
        }
        let left = design.planned(&finished.run.rounds).saturating_sub(finished.trials.len());
        clock.tell(left, trials_to_add(design, finished, index), setting.options.expected_end);
    }
    Ok(())
}

/// The trials that bisection may still add after the round `index`.
fn trials_to_add(design: &Design<'_>, finished: &Finished, index: usize) -> usize {
    let Some(first) = finished.run.rounds.first().filter(|_| index == 0) else { return 0 };
    let trials = design.treatments_at(&first.cells).len() * first.blocks;
    preview::trials_more(design, trials)
}

/// The round that bisection asks for, unless it would end after the plan's budget.
fn next_round(
    design: &Design<'_>,
    finished: &Finished,
    after: impl Fn(usize) -> Duration,
) -> Option<Round> {
    let analysis = analysis::analyse(design, &finished.cells(), &finished.trials);
    let mut cells = analysis::next_cells(design, &analysis);
    distance::leave_out_short_delays(&mut cells, finished.run.relay.as_ref());
    if cells.is_empty() {
        return None;
    }
    let blocks = design.first_blocks();
    let trials = design.treatments_at(&cells).len() * blocks;
    let fits = design.budget.is_none_or(|budget| after(trials) <= budget.duration());
    fits.then_some(Round { cells, blocks })
}

/// Digest of the data, or of the commands that prepare it where there is none.
fn data_digest(plan: &Plan, datasets: &Datasets) -> String {
    datasets.digest().unwrap_or_else(|| {
        let declared = xxhash_rust::xxh3::xxh3_128(plan.declared_data().as_bytes());
        format!("{DECLARED_DATA}{declared:032x}")
    })
}

/// 32 bits: enough to tell runs apart, short enough to type.
pub fn random_seed() -> Result<u64, RunError> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(|error| RunError::Random(error.to_string()))?;
    Ok(u32::from_le_bytes(bytes).into())
}
